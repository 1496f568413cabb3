"""A run continued from `run.final` is the run that would have gone on: nothing is projected in between."""

import copy
import pickle

import jax
import numpy as np
import pytest

import poinsot as pt
from long_suite import of_the_long_suite
from poinsot.coordinates import Directors, EulerAngles, Group, Quaternions
from poinsot.integrators import RK4, EnergyMomentum, LieSplitting, StormerVerlet

TOP = pt.library.heavy_top((1.0, 1.3, 1.7), mgl=1.4)
START = TOP.state(rotation=pt.rotation.euler("zxz", (0.4, 1.1, -0.7)), angular_velocity=(0.7, -0.5, 1.1))
STEPS, DT = 10, 0.2
RUNS = {
    "Verlet, quaternions": (StormerVerlet(), Quaternions(), "hamiltonian"),
    "RK4, directors": (RK4(), Directors(), "null_space"),
    "RK4, index 1": (RK4(), Quaternions(), "index1"),
    "energy-momentum, multipliers": (EnergyMomentum(), Directors(), "index3"),
    "splitting": (LieSplitting(), Group(), "group"),
}


def run(name, start, steps, system=TOP, t0=0.0, **options):
    integrator, coordinates, form = RUNS[name]
    options = {"coordinates": coordinates, "form": form, "integrator": integrator} | options
    return pt.simulate(system, start, t0=t0, t1=t0 + steps * DT, dt=DT, progress=False, **options)


@pytest.fixture(scope="module")
def halves():
    """The first half of a run, once for each method."""
    made = {}

    def get(name):
        if name not in made:
            made[name] = run(name, START, STEPS)
        return made[name]

    return get


@pytest.mark.parametrize(
    "name", of_the_long_suite(list(RUNS), RUNS.keys() - {"energy-momentum, multipliers"})
)
def test_two_halves_are_the_whole(name, halves):
    first, whole = halves(name), run(name, START, 2 * STEPS)
    second = run(name, first.final, STEPS, t0=STEPS * DT)
    for label, values in whole.components.items():
        np.testing.assert_array_equal(second.components[label][0], first.components[label][-1])
        np.testing.assert_allclose(second.components[label], values[STEPS:], rtol=0.0, atol=1e-13)


def test_these_runs_have_something_to_lose(halves):
    assert np.max(np.abs(halves("Verlet, quaternions").constraint[-1])) > 1e-6
    assert np.max(np.abs(halves("RK4, directors").constraint[-1])) > 1e-6
    assert np.max(np.abs(halves("energy-momentum, multipliers").constraint_rate[-1])) > 1e-6


def test_other_coordinates_start_from_what_is_seen(halves):
    first = halves("Verlet, quaternions")
    other = run("Verlet, quaternions", first.final, 1, coordinates=EulerAngles(), integrator=RK4())
    np.testing.assert_allclose(other.rotation[0], pt.rotation.to_matrix(first.final.quaternion), atol=1e-14)
    np.testing.assert_allclose(other.angular_velocity[0], first.angular_velocity[-1], atol=1e-13)


def test_another_inertia_keeps_the_angular_velocity_not_the_momentum():
    light, heavy = pt.library.free_body((1.0, 1.3, 1.7)), pt.library.free_body((2.0, 2.6, 3.4))
    options = {"form": "hamiltonian", "integrator": RK4()}
    start = light.state(angular_velocity=(0.7, -0.5, 1.1))
    first = run("RK4, index 1", start, STEPS, system=light, **options)
    other = run("RK4, index 1", first.final, STEPS, system=heavy, **options)
    np.testing.assert_allclose(other.angular_velocity[0], first.angular_velocity[-1], atol=1e-13)


def test_a_final_state_is_stored_copied_and_traced_whole(halves, tmp_path):
    first = halves("Verlet, quaternions")
    first.save(tmp_path / "run.zarr")
    copies = [copy.deepcopy(first.final), pickle.loads(pickle.dumps(first.final))]
    formulation = pt.formulate(TOP, Quaternions(), "hamiltonian")
    start_of = jax.jit(lambda state: formulation.start(state))
    for final in (*copies, pt.load(tmp_path / "run.zarr").final):
        assert final.names == ("position", "quaternion", "velocity", "angular_velocity")
        start = start_of(final)
        np.testing.assert_array_equal(start.q, first.q[-1])
        np.testing.assert_array_equal(start.p, first.p[-1])


def test_solve_goes_on_too(halves):
    first = halves("RK4, directors")
    solution = pt.solve(
        TOP, RK4(), first.final, dt=DT, steps=STEPS, coordinates=Directors(), form="null_space"
    )
    whole = run("RK4, directors", START, 2 * STEPS)
    np.testing.assert_allclose(solution.rotation, whole.rotation[STEPS:], rtol=0.0, atol=1e-13)
