"""Strictness for every test: float64, no silent promotion of dtype or rank, warnings are errors."""

import gc
import os
from pathlib import Path

import jax
import pytest

import poinsot  # noqa: F401  (switches float64 on)
from poinsot.kernels.native import kept

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")
# Compiling is most of the suite's time, and the same programs occur in many modules. Each process has a cache
# of its own: one that reads what another has not finished writing would be warned.
CACHE = Path(__file__).parents[1] / ".pytest_cache" / "jax" / os.environ.get("PYTEST_XDIST_WORKER", "alone")
jax.config.update("jax_compilation_cache_dir", str(CACHE))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
# Native code may be shared: entries appear whole. What make set up stays.
os.environ.setdefault("POINSOT_CACHE_DIR", str(CACHE.parents[1] / "native"))

# Whole programs are found by structure, which does not see constants of the package that a test replaces.
KEEPING = kept.get, kept.put
kept.get, kept.put = lambda key: None, lambda key, entry: None

gc.set_threshold(50_000, 20, 20)  # Traces are many small objects, few of which are garbage.

GROWTH = 512 * 2**20
"""Bytes by which the memory of the process may grow before compiled programs are dropped."""


@pytest.fixture
def keeping(monkeypatch, tmp_path):
    """Keep whole programs in a folder of the test's own."""
    monkeypatch.setenv("POINSOT_CACHE_DIR", str(tmp_path / "programs"))
    monkeypatch.setattr(kept, "get", KEEPING[0])
    monkeypatch.setattr(kept, "put", KEEPING[1])


def pytest_collection_finish():
    """Leave what has been imported to no further collection of garbage, each of which would look at it."""
    gc.collect()
    gc.freeze()


def memory() -> int:
    """Bytes of this process in memory; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


@pytest.fixture(autouse=True, scope="session")
def _memory_after_clearing():
    """What the last clearing of the caches left, as an entry that `_fresh_caches` changes."""
    return [memory()]


def _drop_programs(after_clearing: list[int], growth: int) -> None:
    if memory() > after_clearing[0] + growth:
        jax.clear_caches()
        gc.collect()
        after_clearing[0] = memory()


@pytest.fixture(autouse=True, scope="module")
def _fresh_caches(_memory_after_clearing):
    """Drop the compiled programs of modules that are done when they fill the memory.

    Not after every module: operations of arrays that stand alone are the same in most, and each of them would
    be traced and read from the disk anew.
    """
    yield
    _drop_programs(_memory_after_clearing, GROWTH)


@pytest.fixture(autouse=True)
def _bounded_caches(_memory_after_clearing):
    """Drop them within a module too, before the process runs out of places in memory for them."""
    yield
    _drop_programs(_memory_after_clearing, 6 * GROWTH)
