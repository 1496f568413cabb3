"""Whole programs are found by structure, in this process and in others, before anything is traced."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import equinox as eqx
import jax
import numpy as np
import pytest

import poinsot as pt
from poinsot.kernels import Kernel, _canonical, _found, _programs
from poinsot.kernels._apart import Apart
from poinsot.kernels._canonical import NoForm, digest
from poinsot.kernels.native import NativeProgram, kept
from poinsot.kernels.native._cache import CodeCache

PROGRAM = """
import sys
import jax.numpy as jnp
import poinsot as pt
from poinsot.kernels import programs_made

k = float(sys.argv[1])
top = pt.library.heavy_top(inertia=(50.0, 42.0, 10.0), mgl=k)
start = top.state(rotation=pt.rotation.about_x(0.5), angular_velocity=(0.0, 0.0, 20.0))
methods = {"dt": 0.01, "coordinates": "group", "integrator": "lie-rattle"}
run = pt.simulate(top, start, t1=0.05, progress=False, **methods)
problem = pt.ODE(lambda t, y: -k * y, invariants={"scaled": lambda t, y: y[0] * jnp.exp(k * t)})
decay = pt.simulate(problem, pt.State(y=[1.0]), t1=0.1, dt=0.05, integrator="rk4", progress=False)
print(run.report()["energy"].verdict, decay.report()["scaled"].verdict)
for array in (run.rotation, decay.y, decay.conserved["scaled"]):
    print(array[-1].tobytes().hex())
print("made", programs_made())
"""


def in_a_process(folder: Path, k: float) -> tuple[str, int]:
    """What a process prints, and how many native programs it has traced and written."""
    environment = os.environ | {"POINSOT_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(k)], env=environment, capture_output=True, text=True, check=True
    )
    text, _, count = done.stdout.rpartition("made ")
    return text, int(count)


def test_another_process_traces_nothing(tmp_path):
    """Also with other numbers; what it computes has the same bits as without what was kept."""
    first, made = in_a_process(tmp_path / "kept", 3.0)
    assert made > 5
    assert in_a_process(tmp_path / "kept", 3.0) == (first, 0)
    other, made = in_a_process(tmp_path / "kept", 2.5)
    assert made == 0 and other != first
    assert in_a_process(tmp_path / "empty", 2.5)[0] == other


# What a program is found by ---------------------------------------------------------------------------------


class Model(eqx.Module):
    """A model with numbers, and with what is no number."""

    matrix: Any
    scale: Any
    power: int = eqx.field(static=True, default=1)


def forms_of(model, function=pt.rotation.about_x, **options):
    """The name of the program of a function of this package for a model."""
    given = {"width": 1, "fast": False, "effort": 2, "rows": False, "grid": np.zeros(2)} | options
    grid = given.pop("grid")
    zeros = [leaf == 0.0 for leaf in Apart.of(model).arrays]
    return _found.Given([model, grid], function, tuple(given.values()), zeros).place


def changed() -> dict[str, Any]:
    """Names of programs, each with one thing changed."""
    top = pt.library.heavy_top(inertia=(5.0, 4.0, 1.0), mgl=2.0)
    full = np.ones((3, 3))
    sparse = np.array(full)
    sparse[0, 1] = 0.0
    user = pt.ODE(lambda y: -y).f
    rk4 = pt.integrators.RK4
    return {
        "as it is": forms_of((top, full)),
        "another function": forms_of((top, full), pt.rotation.about_y),
        "another grid": forms_of((top, full), grid=np.zeros(3)),
        "another width": forms_of((top, full), width=2),
        "contraction": forms_of((top, full), fast=True),
        "another effort": forms_of((top, full), effort=0),
        "rows": forms_of((top, full), rows=True),
        "a known zero": forms_of((top, sparse)),
        "another shape": forms_of((top, np.ones((3, 2)))),
        "whole numbers": forms_of((top, np.ones((3, 3), dtype=np.int64))),
        "another system": forms_of((pt.library.kepler(), full)),
        "another integrator": forms_of((top, full, rk4())),
        "a flag of it": forms_of((top, full, rk4(compensated=True))),
        "another order": forms_of((full, top)),
        "a function of a user": forms_of((top, full, user)),
    }


def test_each_part_of_a_key_tells_programs_apart():
    names = changed()
    assert None not in names.values()
    assert len(set(names.values())) == len(names)
    assert changed() == names


def test_numbers_are_no_part_of_a_key():
    for mgl, entry in ((3.0, 2.0), (1.0, 1.0), (2.0, -7.0)):
        top = pt.library.heavy_top(inertia=(50.0, 42.0, 20.0 + mgl), mgl=mgl)
        assert forms_of((top, np.full((3, 3), entry))) == changed()["as it is"]


def test_sources_and_versions_are_part_of_a_key(monkeypatch):
    before = changed()["as it is"]
    monkeypatch.setattr(_found, "sources", lambda: "others")
    assert changed()["as it is"] != before
    monkeypatch.undo()
    monkeypatch.setattr(_canonical, "_version", lambda name: "99.9")
    _canonical.sources.cache_clear()
    assert changed()["as it is"] != before
    monkeypatch.undo()
    _canonical.sources.cache_clear()
    assert changed()["as it is"] == before


def test_the_processor_is_part_of_a_key(monkeypatch):
    made: list[str] = []
    monkeypatch.setattr(kept, "put", lambda key, entry: made.append(key))
    for cpu in ("x86-64", "x86-64-v3"):
        monkeypatch.setenv("POINSOT_NATIVE_CPU", cpu)
        monkeypatch.setattr(_programs, "_native", _programs.Remembered())
        problem = pt.ODE(lambda y: -y)
        pt.simulate(problem, pt.State(y=[1.0]), t1=0.1, dt=0.1, integrator="explicit-euler", progress=False)
    assert len(made) == len(set(made)) and len(made) % 2 == 0


def test_what_users_functions_do_is_part_of_a_key(monkeypatch):
    """Operations, shapes, whole numbers and exponents, but not the numbers in them."""
    made: list[str] = []
    monkeypatch.setattr(kept, "put", lambda key, entry: made.append(key))

    def names(f, **options):
        made.clear()
        monkeypatch.setattr(_programs, "_native", _programs.Remembered())
        start = pt.State(y=np.arange(1.0, 3.0))
        pt.simulate(pt.ODE(f, **options), start, t1=0.1, dt=0.1, integrator="explicit-euler", progress=False)
        return tuple(made)

    one = names(lambda y: -2.0 * y)
    assert len(one) > 1 and names(lambda y: -3.0 * y) == one
    index, power = SimpleNamespace(k=0), 2.5
    others = [
        names(lambda y: -2.0 + y),
        names(lambda y: -2.0 * y * y),
        names(lambda y: -2.0 * y[np.array([0, index.k])]),
        names(lambda y: -2.0 * y[np.array([0, index.k + 1])]),
        names(lambda y: y**power),
        names(lambda y: y ** (power + 1.0)),
        names(lambda y, p: -p * y, params=2.0),
    ]
    assert len({one, *others}) == 1 + len(others)


class OfOnesOwn(pt.integrators.AbstractIntegrator):
    """A method from outside, whose step refers to a global."""

    @property
    def traits(self):
        return pt.integrators.Traits(name="own", order=1)

    def init(self, problem, t, h, y):
        return None

    def step(self, problem, t, h, y, carry):
        return y + FACTOR * h * problem.vector_field(t, y), None, pt.integrators.StepInfo()


FACTOR = 1.0


def test_what_has_no_form_is_traced_and_found_by_its_trace(monkeypatch):
    """A user's integrator: nothing is written again, and what it refers to is seen."""
    with pytest.raises(NoForm, match="OfOnesOwn"):
        digest(jax.tree.structure(OfOnesOwn()))
    assert Apart.of(OfOnesOwn()).form is None
    written: list[Any] = []
    compiled = NativeProgram._compile
    monkeypatch.setattr(
        NativeProgram, "_compile", lambda self, effort: written.append(compiled(self, effort))
    )

    def end():
        problem = pt.ODE(lambda y: -y)
        options = {"t1": 0.2, "dt": 0.1, "integrator": OfOnesOwn(), "progress": False}
        return pt.simulate(problem, pt.State(y=[1.0]), **options).y[-1, 0]

    np.testing.assert_allclose(end(), 0.81, rtol=1e-15)
    count = len(written)
    assert count > 0
    np.testing.assert_allclose(end(), 0.81, rtol=1e-15)
    assert len(written) == count
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    np.testing.assert_allclose(end(), 0.64, rtol=1e-15)


# What is kept -----------------------------------------------------------------------------------------------


def doubled(model, grid, run):
    """A function that has a name of no package here; it is found by its trace."""
    return {"twice": 2.0 * model * run, "pair": (grid, None)}


def test_an_entry_that_is_damaged_counts_as_none(keeping, monkeypatch):
    def found():
        monkeypatch.setattr(_programs, "_native", _programs.Remembered())
        program = Kernel("native").program(doubled, np.float64(3.0), np.float64(1.0), np.ones(2))
        assert program is not None
        return program.bound()(np.float64(5.0), np.array([1.0, 2.0]))

    written: list[Any] = []
    compiled = NativeProgram._compile
    monkeypatch.setattr(
        NativeProgram, "_compile", lambda self, effort: written.append(compiled(self, effort))
    )
    damages = (b"", b"[", b'["dict"]', b'["dict", ["result", ["node", "os:system", null]]]', b"7")
    for count, damage in enumerate(damages):
        result = found()
        assert len(written) == count + 1
        assert result["pair"] == (5.0, None)
        np.testing.assert_array_equal(result["twice"], [6.0, 12.0])
        folder = Path(os.environ["POINSOT_CACHE_DIR"])
        keys = [path.stem for path in folder.glob("program-*.o")]
        assert keys
        for key in keys:
            CodeCache().put(key, damage)
    # The last entry was damaged as well; what is whole then is read, and nothing is written.
    found()
    count = len(written)
    assert found()["pair"] == (5.0, None)
    assert len(written) == count


@pytest.mark.parametrize(
    "thing",
    [
        {"a": (1, 2.5, None, True), "b": [b"\x00", "text", np.dtype("float64")]},
        jax.tree.structure({"state": pt.State(q=1.0, p=2.0), "more": (1, [2, None])}),
        jax.tree.structure(pt.integrators.StepInfo()),
        float("nan"),
    ],
)
def test_plain_data_comes_back(keeping, thing):
    kept.put("key", {"thing": thing})
    found = kept.get("key")
    assert found is not None
    assert repr(found["thing"]) == repr(thing)


def test_what_is_not_plain_is_not_kept(keeping):
    kept.put("key", {"thing": lambda: 1})
    assert kept.get("key") is None
