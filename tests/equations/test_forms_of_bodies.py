"""Every coordinates and form against Newton's and Euler's equations written down by hand."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from equation_cases import FORMULATIONS, newton_euler, start, system

import poinsot as pt
from poinsot.coordinates import Directors, EulerAngles, Group, Quaternions
from poinsot.equations import FORMS, Motion, preferences, refusal
from poinsot.integrators import GaussLegendre
from poinsot.kernels import once

MOVES = (
    "position",
    "rotation",
    "velocity",
    "angular_velocity",
    "energy",
    "linear_momentum",
    "angular_momentum",
)
"""Parts of a motion whose rates are looked at."""
QUICK = (
    "quaternions, hamiltonian",
    "quaternions, index0",
    "directors, index3",
    "group",
)
"""One of each kind; the others are as slow to compile."""
each = pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in FORMULATIONS]
)


@once
def moving(formulation, state):
    """The motion at a physical state and its rate of change by the form's equations."""
    y = formulation.problem.pack(formulation.start(state))
    t = jnp.zeros(())
    rate = formulation.problem.vector_field(t, y)

    def moves(t, y):
        motion = formulation.motion(t, y)
        return {part: getattr(motion, part) for part in MOVES}

    return formulation.motion(t, y), jax.jvp(moves, (t, y), (jnp.ones(()), rate))[1]


@cache
def seen(name) -> tuple[Motion, dict]:
    return moving(pt.formulate(system(), *FORMULATIONS[name]), start())


@each
def test_the_start_is_seen_again(name):
    motion, _ = seen(name)
    for part in ("position", "velocity", "angular_velocity"):
        np.testing.assert_allclose(getattr(motion, part), start()[part], rtol=0.0, atol=1e-14)
    same = np.abs(np.sum(np.asarray(motion.quaternion) * np.asarray(start().quaternion), axis=1))
    np.testing.assert_allclose(same, 1.0, rtol=0.0, atol=1e-14)
    assert np.max(np.abs(motion.constraint), initial=0.0) < 1e-15
    assert np.max(np.abs(motion.constraint_rate), initial=0.0) < 1e-15


@each
def test_accelerations_are_those_of_newton_and_euler(name):
    motion, rate = seen(name)
    poses = (motion.position, motion.rotation, motion.velocity, motion.angular_velocity)
    exact = newton_euler(*(np.asarray(part) for part in poses))
    np.testing.assert_allclose(rate["position"], motion.velocity, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(rate["velocity"][0], exact.flyer, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(rate["velocity"][1], exact.slider, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(rate["angular_velocity"][0], exact.flyer_spin, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(rate["angular_velocity"][2], exact.top_spin, rtol=0.0, atol=1e-13)
    for still in (rate["velocity"][3], rate["angular_velocity"][1], rate["angular_velocity"][3]):
        np.testing.assert_array_equal(still, np.zeros(3))
    turned = np.asarray(motion.rotation) @ np.cross(
        np.eye(3)[None], np.asarray(motion.angular_velocity)[:, None]
    )
    np.testing.assert_allclose(rate["rotation"], turned, rtol=0.0, atol=1e-13)


@each
def test_energy_and_momentum_are_those_of_the_bodies(name):
    """The same numbers whatever the coordinates, and the rates that forces give them."""
    motion, rate = seen(name)
    other, other_rate = seen("group")
    for part in ("energy", "linear_momentum", "angular_momentum"):
        np.testing.assert_allclose(getattr(motion, part), getattr(other, part), rtol=0.0, atol=1e-13)
        np.testing.assert_allclose(rate[part], other_rate[part], rtol=0.0, atol=1e-12)


@pytest.mark.slow
def test_multipliers_do_not_depend_on_the_form():
    for kind in ("quaternions", "directors"):
        expected = seen(f"{kind}, index1")[0].multipliers
        assert np.max(np.abs(expected)) > 0.1
        np.testing.assert_array_equal(expected[1], np.zeros(expected.shape[1]))
        for form in ("hamiltonian", "index3", "index0", "null_space"):
            found = seen(f"{kind}, {form}")[0].multipliers
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12)
    assert seen("group")[0].multipliers.shape == (4, 0)


def test_what_a_motion_conserves_is_watched():
    top = pt.library.gyro_top()
    free = pt.library.tumbling_body()
    watched = pt.formulate(top, Quaternions(), "index3").watched(top.start)
    assert set(watched.problem.invariants) == {"L_z", "constraint", "constraint rate"}
    watched = pt.formulate(free, EulerAngles("xyz"), "null_space").watched(free.start)
    assert set(watched.problem.invariants) == {"p_x", "p_y", "p_z", "L_x", "L_y", "L_z"}
    watched = pt.formulate(system(), Group(), "group").watched(start())
    assert set(watched.problem.invariants) == {"constraint"}


def test_every_form_that_is_preferred_exists_and_fits():
    for coordinates in (Quaternions(), Directors(), EulerAngles(), Group()):
        names = preferences(coordinates)
        assert set(names) <= set(FORMS)
        fitting = {form for form in names if refusal(system(), coordinates, form) is None}
        # Angles have no constraints of their own: forms with multipliers are for joints between bodies.
        unfit = {"index3", "index2", "index1"} if isinstance(coordinates, EulerAngles) else set()
        assert fitting == set(names) - unfit
        others = set(FORMS) - set(names)
        assert all(refusal(system(), coordinates, form) for form in others)


@cache
def run(name) -> pt.BodyTrajectory:
    coordinates, form = FORMULATIONS[name]
    trajectory = pt.simulate(
        system(),
        start(),
        t1=1.0,
        dt=0.05,
        coordinates=coordinates,
        form=form,
        integrator=GaussLegendre(4),
        progress=False,
    )
    assert isinstance(trajectory, pt.BodyTrajectory)
    return trajectory


def check_agreement(name):
    one, other = run(name), run("group")
    for part in ("position", "rotation", "velocity", "angular_velocity"):
        np.testing.assert_allclose(one.motion[part][-1], other.motion[part][-1], rtol=0.0, atol=1e-9)


@pytest.mark.slow
def test_what_can_move_does_and_the_clamped_body_stays():
    assert np.ptp(run("group").rotation[:, 2], axis=0).max() > 0.5
    np.testing.assert_array_equal(run("group").position[:, 3], np.tile([1.0, 0.0, 0.0], (21, 1)))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FORMULATIONS if "index3" not in name])
def test_the_four_bodies_move_alike_in_every_form(name):
    check_agreement(name)


@pytest.mark.slow
def test_energy_less_the_work_of_loads_is_conserved():
    moved = run("group")
    balance = moved.conserved["energy less work done"]
    assert np.max(np.abs(balance - balance[0])) < 1e-6
    assert np.ptp(moved.energy) > 0.1
    np.testing.assert_allclose(moved.energy - moved.motion["work"], balance, rtol=0.0, atol=1e-12)
    assert "energy less work done" in str(moved.report())
