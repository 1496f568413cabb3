"""Programs of XLA kept between processes, in the folder of native code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, sys
from poinsot import kernels
import jax, jax.numpy as jnp

events = []
jax.monitoring.register_event_listener(lambda event, **_: events.append(event))
LATER
value = jax.jit(lambda x: jnp.sin(x) @ x)(jnp.arange(5.0))
hits = sum(event.endswith("cache_hits") for event in events)
names = "jax_persistent_cache_min_compile_time_secs", "jax_persistent_cache_min_entry_size_bytes"
options = [getattr(jax.config, name) for name in names]
print(json.dumps([float(value).hex(), hits, options]))
"""


def process(folder: Path | str, later: str = "", **environment: str) -> list:
    """Bits of a result, programs that were found, and JAX's options, of a process of its own."""
    left = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM.replace("LATER", later)],
        env=left | {"POINSOT_CACHE_DIR": str(folder)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_second_process_finds_what_the_first_compiled(tmp_path):
    value, hits, _ = process(tmp_path)
    assert hits == 0
    kept = entries(tmp_path)
    assert kept and all(path.parent == tmp_path / "xla" and path.stat().st_mode & 0o077 == 0 for path in kept)
    again, found, _ = process(tmp_path)
    assert found == len(kept) and again == value
    assert entries(tmp_path) == kept


def test_half_an_entry_counts_for_nothing(tmp_path):
    value, _, _ = process(tmp_path)
    for path in entries(tmp_path):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert process(tmp_path)[:2] == [value, 0]


def test_entries_of_another_processor_are_not_found(tmp_path):
    process(tmp_path)
    assert process(tmp_path, POINSOT_NATIVE_CPU="x86-64")[1] == 0


def test_without_a_folder_nothing_is_kept(tmp_path):
    assert process("", HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "cache"))[1] == 0
    assert not entries(tmp_path)


@pytest.mark.parametrize("how", ["environment", "later"])
def test_a_folder_chosen_for_jax_stays(tmp_path, how):
    """Set before JAX begins, or after Poinsot was imported: JAX keeps there what takes long enough for it."""
    own, chosen = tmp_path / "own", tmp_path / "chosen"
    if how == "environment":
        _, _, options = process(own, JAX_COMPILATION_CACHE_DIR=str(chosen))
    else:
        later = f"jax.config.update('jax_compilation_cache_dir', {str(chosen)!r})"
        _, _, options = process(own, later)
        later += "; jax.config.update('jax_persistent_cache_min_compile_time_secs', 0.001)"
        assert process(own, later)[1] == 0
        assert entries(chosen)
    assert options == [1.0, 0]
    assert not entries(own)
