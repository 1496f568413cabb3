"""What people hold after a run: attributes that completion finds, one-line reprs, pickle and deepcopy."""

import copy
import pickle
import subprocess
import sys

import jax
import numpy as np
import pytest

import poinsot as pt

TOP = pt.library.heavy_top(inertia=(50, 42, 10), mgl=100.0)
START = TOP.state(rotation=pt.rotation.about_x(1.0), angular_velocity=(0, 0, 20))


def decay(y):
    return -y


@pytest.fixture(scope="module")
def run():
    return pt.simulate(TOP, START, t1=0.1, dt=0.01, integrator=pt.integrators.LieSplitting())


@pytest.fixture(scope="module")
def adaptive():
    start = pt.State(y=[1.0, 2.0])
    return pt.simulate(pt.ODE(decay), start, t1=1.0, integrator=pt.integrators.DormandPrince5())


@pytest.fixture(scope="module")
def solution():
    return pt.solve(TOP, pt.integrators.LieSplitting(), START, dt=0.01, steps=10)


def again(thing):
    return pickle.loads(pickle.dumps(thing))


COPIES = pytest.mark.parametrize("copied", [again, copy.deepcopy], ids=["pickle", "deepcopy"])


def equal(one, other):
    return jax.tree.all(jax.tree.map(np.array_equal, one, other))


@COPIES
def test_states_systems_and_solutions_survive(copied, solution):
    chain = pt.library.particle_chain(
        body=pt.shapes.tetrahedron(), count=3, potential=pt.potentials.LennardJones(epsilon=5.0, sigma=1.0)
    )
    for thing in (START, TOP, chain, solution, pt.ODE(decay, params={"a": 1.0})):
        assert equal(thing, copied(thing))
    assert copied(START).names == START.names


@COPIES
def test_runs_survive(copied, run):
    twin = copied(run)
    assert twin.report().rows == run.report().rows
    for name in ("t", "position", "rotation", "energy", "g", "m"):
        np.testing.assert_array_equal(getattr(twin, name), getattr(run, name))
    # The problem came along, and runs.
    further = pt.simulate(
        twin.formulation.bodies.system, twin.final, t1=0.1, dt=0.01, integrator=pt.integrators.LieSplitting()
    )
    assert further.result.ok


def test_adaptive_runs_survive(adaptive):
    twin = copy.deepcopy(adaptive)
    np.testing.assert_array_equal(twin.at(0.5).y, adaptive.at(0.5).y)
    stored = again(adaptive)
    np.testing.assert_array_equal(stored.steps.h, adaptive.steps.h)
    assert stored.counts == adaptive.counts
    with pytest.raises(pt.InputError, match="pickle keeps the numbers"):
        stored.at(0.5)


@COPIES
def test_failures_survive_with_their_trajectory(copied):
    with pytest.raises(pt.SimulationError) as caught:
        pt.simulate(
            pt.ODE(lambda y: y * y) if copied is copy.deepcopy else pt.ODE(blow_up),
            pt.State(y=[1.0]),
            t1=100.0,
            dt=1.0,
            integrator=pt.integrators.RK4(),
        )
    twin = copied(caught.value)
    assert str(twin) == str(caught.value)
    np.testing.assert_array_equal(twin.trajectory.y, caught.value.trajectory.y)


def blow_up(y):
    return y * y


def test_a_lambda_fails_with_the_error_of_pickle():
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(pt.ODE(lambda y: -y))


def test_completion_finds_what_a_run_has(run, solution):
    assert {"position", "rotation", "angular_velocity", "quaternion", "g", "m", "report"} <= set(dir(run))
    assert {"position", "angular_velocity", "t", "result"} <= set(dir(solution))
    assert {"position", "quaternion", "items"} <= set(dir(START))
    for name in dir(run):
        # What is listed is there, but for what a run with fixed steps refuses in words.
        if name not in ("steps", "counts", "plot", "dataset"):
            getattr(run, name)


def test_reprs_are_short(run, solution):
    batch = jax.vmap(lambda w: TOP.state(angular_velocity=w))(np.ones((500, 3)))
    for thing in (run, solution, run.report(), batch, run.final, run.formulation):
        assert "\n" not in repr(thing) and len(repr(thing)) < 500
    assert repr(run.report()).startswith("Report(energy ")
    assert "11 states" in repr(solution)


def test_every_public_folder_is_reachable():
    """In a process of its own: here other tests have imported the folders already."""
    program = (
        "import sys, pathlib, poinsot as pt\n"
        "assert 'jax' not in sys.modules\n"
        "root = pathlib.Path(pt.__file__).parent\n"
        "folders = [p.parent.name for p in root.glob('*/__init__.py') if p.parent.name != 'cli']\n"
        "assert len(folders) > 10\n"
        "for name in folders: getattr(pt, name); assert name in dir(pt) and name in pt.__all__\n"
        "assert callable(pt.io.load_scenario)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
