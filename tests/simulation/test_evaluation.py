"""What follows from the states of a run is computed when it is asked for, once, in blocks."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import poinsot as pt
from poinsot.equations import Formulation, Motion
from poinsot.kernels._programs import Remembered
from poinsot.simulation._evaluation import Evaluated, components_of

TOP = pt.library.heavy_top(inertia=(50, 42, 10), mgl=100.0)
START = TOP.state(rotation=pt.rotation.about_x(1.0), angular_velocity=(0, 0, 20))


def simulated() -> Any:
    return pt.simulate(TOP, START, t1=0.2, dt=0.01, integrator=pt.integrators.LieSplitting())


@pytest.fixture
def looks(monkeypatch):
    """Names of what has been traced of the motion, one entry for each trace."""
    traced, parts, watched = [], Formulation.parts, Formulation.watched
    monkeypatch.setattr(
        Formulation,
        "parts",
        lambda self, t, y, names: traced.append(names) or parts(self, t, y, names),
    )
    monkeypatch.setattr(
        Formulation, "watched", lambda self, state, t: traced.append(("watched",)) or watched(self, state, t)
    )
    # Programs that other tests have made would not be traced again.
    monkeypatch.setattr("poinsot.kernels._programs._native", Remembered())
    return traced


def test_a_run_ends_with_its_steps(looks):
    run = simulated()
    assert "position" in dir(run) and "energy" in run.motion and len(run.motion) == len(fields(Motion))
    assert run.g.shape == (21, 9, 1) or run.g.shape == (21, 4, 1)
    assert repr(run) and run.message
    assert looks == [], "nothing is looked at before it is asked for"
    position = run.position
    assert looks == [("position", "rotation", "quaternion")]
    assert run.position is position and run.rotation is run.motion["rotation"]
    assert len(looks) == 1, "what is known is not computed again"
    assert run.energy.shape == (21,)
    assert looks[1:] == [("energy",)]
    values = dict(run.motion.items())
    assert len(looks) == 3, "the rest is computed in one go"
    assert {*looks[0], *looks[1]} & {*looks[2]} == set()
    assert values["position"] is position
    report = run.report()
    assert looks[3:] == [("watched",)] and report["energy"].largest_deviation > 0.0


def test_in_parts_or_at_once_the_numbers_are_the_same():
    piecewise, whole = simulated(), simulated()
    at_once = dict(whole.motion.items())
    for name in reversed(list(piecewise.motion)):
        np.testing.assert_array_equal(piecewise.motion[name], at_once[name], err_msg=name)


def test_components_lie_in_the_states_themselves():
    problem = pt.Hamiltonian(lambda q, p: 0.5 * (p @ p + q @ q))
    packed = np.arange(24.0).reshape(4, 6)
    parts = components_of(problem, packed)
    np.testing.assert_array_equal(parts["q"], packed[:, :3])
    np.testing.assert_array_equal(parts["p"], packed[:, 3:])
    assert np.shares_memory(parts["q"], packed) and np.shares_memory(parts["p"], packed)


def test_an_interrupted_evaluation_is_made_up_for():
    calls = []

    def compute(names):
        calls.append(names)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return {name: np.ones(3) for name in names}

    seconds = {}
    mapping = Evaluated(compute, [("a", "b"), ("c",)], seconds)
    with pytest.raises(KeyboardInterrupt):
        mapping["a"]
    np.testing.assert_array_equal(mapping["a"], np.ones(3))
    assert calls == [("a", "b")] * 2 and seconds["evaluation"] > 0.0
    mapping["d"] = np.zeros(2)
    del mapping["b"]
    assert list(mapping) == ["a", "c", "d"] and set(dict(mapping.items())) == {"a", "c", "d"}
    with pytest.raises(KeyError):
        mapping["b"]
