"""Energy and angular velocity of bodies far from the constraints: those that the form carries, everywhere."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.coordinates import Directors, EulerAngles, Group, Quaternions

MOMENTS = np.array([1.0, 1.3, 1.7])
TOP = pt.library.heavy_top(MOMENTS, mgl=1.4)
START = TOP.state(rotation=pt.rotation.euler("zxz", (0.4, 1.1, -0.7)), angular_velocity=(0.7, -0.5, 1.1))
FORMULATIONS = {
    "directors, null space": (Directors(), "null_space"),
    "directors, Hamiltonian": (Directors(), "hamiltonian"),
    "directors, index 1": (Directors(), "index1"),
    "quaternions, null space": (Quaternions(), "null_space"),
    "quaternions, Hamiltonian": (Quaternions(), "hamiltonian"),
    "quaternions, index 3": (Quaternions(), "index3"),
    "quaternions, singular mass": (Quaternions(sigma=0), "index3"),
    "quaternions, radial inertia": (Quaternions(I0=1.0), "hamiltonian"),
    "angles": (EulerAngles(), "hamiltonian"),
    "group": (Group(), "group"),
}


def drifted(coordinates, form):
    """A formulation of the top, and a state of it whose coordinates are a tenth too long."""
    formulation = pt.formulate(TOP, coordinates, form)
    start = formulation.start(START)
    label = "g" if form == "group" else "q"
    scale = 1.0 if coordinates.constraints == 0 else 1.1
    return formulation, pt.State(
        **{name: value * (scale if name == label else 1.0) for name, value in start.items()}
    )


@pytest.mark.parametrize("name", FORMULATIONS)
def test_the_energy_of_the_bodies_is_that_of_the_report(name):
    formulation, state = drifted(*FORMULATIONS[name])
    problem = formulation.problem
    y = problem.pack(state)
    energy, reported = jax.jit(lambda y: (formulation.motion(0.0, y).energy, problem.conserved(0.0, y)))(y)
    assert float(energy) == pytest.approx(float(reported["energy"]), rel=1e-14)


@pytest.mark.slow
def test_the_null_space_carries_the_angular_velocity_itself():
    formulation, state = drifted(Directors(), "null_space")
    seen = formulation.motion(0.0, formulation.problem.pack(state))
    np.testing.assert_array_equal(seen.angular_velocity[0], state.v)
    height = TOP.potential(0.0, *TOP.live(0.0, START)[:1], jnp.moveaxis(seen.rotation, 0, -1))
    kinetic = 0.5 * MOMENTS @ np.asarray(state.v) ** 2
    assert float(seen.energy) == pytest.approx(kinetic + float(height), rel=1e-14)


def test_a_run_that_leaves_the_rotations_tells_one_energy():
    run = pt.simulate(
        TOP,
        START,
        t1=40.0,
        dt=0.5,
        coordinates=Directors(),
        form="null_space",
        integrator=pt.integrators.RK4(),
        progress=False,
    )
    assert np.max(np.abs(run.constraint)) > 0.05, "the test needs a drift"
    np.testing.assert_allclose(run.energy, run.conserved["energy"], rtol=1e-13)
    row = run.report()["energy"]
    assert np.max(np.abs(run.energy - run.energy[0])) == pytest.approx(row.largest_deviation, rel=1e-9)
    np.testing.assert_array_equal(run.angular_velocity[:, 0], run.v)


@pytest.mark.slow
def test_prescribed_motions_have_their_energy_too():
    """That of a body whose path is given is no part of the equations, and still shown."""
    pair = pt.System(
        [pt.RigidBody(2.0, MOMENTS), pt.RigidBody(3.0, MOMENTS)],
        freedom=[pt.freedom.Free(), pt.freedom.Guided(lambda t: np.array([4.0, 0.0, 0.0]) * t)],
    )
    start = pair.state(angular_velocity=[(1.0, 0.0, 0.0), (0.0, 2.0, 0.0)])
    formulation = pt.formulate(pair, Quaternions(), "hamiltonian")
    seen = formulation.motion(0.0, formulation.problem.pack(formulation.start(start)))
    assert float(seen.energy) == pytest.approx(0.5 * (1.0 * 1.0 + 1.3 * 4.0 + 3.0 * 16.0), rel=1e-14)
