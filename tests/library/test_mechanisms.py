"""Mechanisms of the library beside equations in minimal coordinates, formulas and published numbers."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from long_suite import of_the_long_suite
from minimal_coordinates import Minimal, about
from poinsot.kernels import once
from squeezer_in_the_plane import PUBLISHED, body_angles, motion

G = 9.81


@once
def _rates(problem, t, y):
    return problem.vector_field(t, y)


def accelerations(system, state, t=0.0):
    """Accelerations of the mass centres and angular ones in the bodies, with what the joints add."""
    system.check_state(t, state)
    formulation = pt.formulate(system, "group", "group")
    problem: Any = formulation.problem
    _, force, _, torque = problem.split(_rates(problem, t, problem.pack(formulation.start(state))))
    return np.asarray(problem.velocity(force)).T, np.asarray(problem.omega(torque)).T


def gravity(direction):
    return lambda masses: lambda x, R: -G * jnp.array(masses, dtype=float) @ (x @ jnp.array(direction))


def turned_bars(ends):
    """Poses of bars in the plane from their ends."""
    x = jnp.stack([jnp.concatenate([0.5 * (a + b), jnp.zeros(1)]) for a, b in ends])
    return x, jnp.stack([about(2, jnp.arctan2(b[1] - a[1], b[0] - a[0])) for a, b in ends])


def arm(length, angle):
    return length * jnp.stack([jnp.cos(angle), jnp.sin(angle)])


def of_bars(masses, lengths):
    return [
        m * length**2 * np.array([1e-3, 1 / 12, 1 / 12]) for m, length in zip(masses, lengths, strict=True)
    ]


def rods(q):
    tips = jnp.concatenate([jnp.zeros((1, 2)), jnp.cumsum(arm(1.0, q).T, axis=0)])
    return turned_bars(list(zip(tips[:-1], tips[1:], strict=True)))


def crank_rocker(q):
    """By the angle of the diagonal BD and the law of cosines, which the library does not use."""
    B, D = arm(1.0, q[0]), jnp.array([2.0, 0.0])
    span = jnp.linalg.norm(D - B)
    bend = jnp.arccos(span / 4.0)
    C = B + arm(2.0, jnp.arctan2(D[1] - B[1], D[0] - B[0]) + bend)
    return turned_bars([(jnp.zeros(2), B), (B, C), (D, C)])


def parallel(q):
    feet = [jnp.array([float(i), 0.0]) for i in range(3)]
    tips = [foot + arm(1.0, q[0]) for foot in feet]
    return turned_bars([*zip(feet, tips, strict=True), *zip(tips[:-1], tips[1:], strict=True)])


def slider_in_space(q):
    s, c = jnp.sin(q[0]), jnp.cos(q[0])
    axle = jnp.array([0.0, 0.1, 0.12])
    pin = axle + 0.08 * jnp.stack([0.0 * s, -s, c])
    slider = jnp.stack([jnp.sqrt(0.09 - pin[1] ** 2 - pin[2] ** 2), 0.0 * s, 0.0 * s])
    along = (pin - slider) / 0.3
    side = jnp.cross(along, jnp.array([0.0, 1.0, 0.0]))
    side = side / jnp.linalg.norm(side)
    rod = jnp.stack([along, jnp.cross(side, along), side], axis=1)
    x = jnp.stack([0.5 * (axle + pin), 0.5 * (pin + slider), slider])
    return x, jnp.stack([about(0, q[0]), rod, jnp.eye(3)])


def three_rings(q):
    outer = about(2, q[0])
    inner = outer @ about(0, q[1])
    return jnp.zeros((3, 3)), jnp.stack([outer, inner, inner @ about(2, q[2])])


def flyballs(q):
    """Spindle, sleeve, arms and links; the arms are rods of which the mass centre is 11/24 m from the top."""
    spindle = about(2, q[0])
    places, turns = [jnp.zeros(3), jnp.stack([0.0 * q[1], 0.0 * q[1], -jnp.cos(q[1])])], 2 * [jnp.eye(3)]
    for sign in (-1.0, 1.0):
        along = jnp.stack([sign * jnp.sin(q[1]), 0.0 * q[1], -jnp.cos(q[1])])
        places.append(11 / 24 * along)
        turns.append(frame(along))
    for sign in (-1.0, 1.0):
        along = jnp.stack([-sign * jnp.sin(q[1]), 0.0 * q[1], -jnp.cos(q[1])])
        places.append(places[1] - 0.25 * along)
        turns.append(frame(along))
    return jnp.stack(places) @ spindle.T, jnp.einsum("ij,bjk->bik", spindle, jnp.stack(turns))


def frame(along):
    """The first axis along a direction across y, the second along y."""
    y = jnp.array([0.0, 1.0, 0.0])
    return jnp.stack([along, y, jnp.cross(along, y)], axis=1)


def hexagon(q):
    """Bars of Bricard's loop by turns at its corners: equal at every other one, with cosines as published."""
    theta = q[0]
    phi = jnp.arccos(-jnp.cos(theta) / (1.0 + jnp.cos(theta)))
    # The third axis is that of the hinge; at each corner it goes to that of the next one, to and fro.
    place, turn = jnp.zeros(3), jnp.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    fro = jnp.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    places, turns = [], []
    for k in range(5):
        turn = turn @ (fro if k % 2 == 0 else fro.T) @ about(2, theta if k % 2 == 0 else phi)
        places.append(place + 0.5 * turn[:, 0])
        turns.append(turn @ fro)
        place = place + turn[:, 0]
    return jnp.stack(places), jnp.stack(turns)


RING, DISC = np.array([0.5, 1.0, 0.5]), 0.0064 * np.array([0.25, 0.25, 0.5])
ROD = np.array([1e-3 * 0.05, 0.2 * 0.25 / 12, 0.2 * 0.25 / 12])
ARM = ROD + np.array([0.0, 1.0, 1.0]) * (0.2 * (11 / 24 - 0.25) ** 2 + (0.5 - 11 / 24) ** 2)
"""Moments of a rod of the governor, and of one with its ball."""
ROUND = np.array([0.05**2 / 2, (1 + 3 * 0.05**2) / 12, (1 + 3 * 0.05**2) / 12])
DOWN_Y, DOWN_Z = gravity([0.0, -1.0, 0.0]), gravity([0.0, 0.0, -1.0])

CASES = {
    "hinge-pendulum": (
        {}, rods, [1.0] * 3, [ROUND] * 3, DOWN_Y,
        [0.0] * 3, [0.0] * 3, [0.3, -0.2, 1.0], [1.0, -2.0, 0.5],
    ),
    "four-bar": (
        {}, crank_rocker, [1, 2, 2], of_bars([1, 2, 2], [1, 2, 2]), DOWN_Y,
        [np.pi / 2], [3.0], [4.0], [-2.0],
    ),
    "slider-crank": (
        {}, slider_in_space, [0.12, 0.5, 2.0], [[1e-4, 1e-4, 1e-5], [4e-4, 4e-3, 4e-3], [1e-4] * 3], DOWN_Z,
        [0.0], [6.0], [2.0], [-4.0],
    ),
    "gimbals": (
        {}, three_rings, [0.2, 0.2, 1.0], [0.2 * 0.0144 * RING, 0.2 * 0.01 * RING, DISC], DOWN_Y,
        [0.0, np.pi / 3, 0.0], [0.0, 3.0, 60.0], [0.4, 1.2, 2.0], [2.0, -1.0, 30.0],
    ),
    "governor": (
        {}, flyballs, [1, 2, 1.2, 1.2, 0.2, 0.2], [[0.02, 0.02, 1e-3], [2e-3] * 3, ARM, ARM, ROD, ROD],
        DOWN_Z,
        [0.0, np.pi / 4], [10.0, 0.0], [0.3, 0.6], [7.0, 2.0],
    ),
    "parallelogram": (
        {"loops": 2}, parallel, [1] * 5, of_bars([1] * 5, [1] * 5), DOWN_Y,
        [np.pi / 2], [-1.0], [0.2], [3.0],
    ),
    "bricard": (
        {}, hexagon, [1] * 5, of_bars([1] * 5, [1] * 5), DOWN_Y,
        [np.pi / 2], [0.0], [1.8], [2.0],
    ),
}  # fmt: skip


def built(name):
    parameters, poses, masses, moments, weight, *states = CASES[name]
    return pt.library.by_name(name, **parameters), Minimal(poses, masses, moments, weight(masses)), states


@pytest.mark.parametrize("name", of_the_long_suite(list(CASES), {"four-bar"}))
def test_accelerations_are_those_of_minimal_coordinates(name):
    """At the start, which is thereby that of the formulas, and at another state."""
    system, minimal, (q0, w0, q1, w1) = built(name)
    state, _ = minimal.state(system, q0, w0)
    for label in ("position", "velocity", "angular_velocity"):
        np.testing.assert_allclose(getattr(system.start, label), getattr(state, label), atol=1e-12)
    for q, w in ((q0, w0), (q1, w1)):
        state, right = minimal.state(system, q, w)
        for found, wanted in zip(accelerations(system, state), right, strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-8 * (1.0 + np.max(np.abs(wanted))))


@pytest.mark.slow
def test_four_bar_goes_round_as_its_crank_angle_does():
    """Two seconds of LieRattle, with the spring along the diagonal, beside one equation for the crank."""
    k, rest = 30.0, 2.0

    def potential(x, R):
        corner = x[2] + R[2][:, 0]
        return DOWN_Y([1, 2, 2])(x, R) + 0.5 * k * (jnp.linalg.norm(corner) - rest) ** 2

    _, poses, masses, moments, *_ = CASES["four-bar"]
    right, _ = Minimal(poses, masses, moments, potential).at(1.0, [np.pi / 2], [3.0])
    system = pt.library.four_bar(stiffness=k, rest_length=rest)
    errors = [np.max(np.abs(ran(system, 1.0, dt).position[-1] - right)) for dt in (1e-3, 5e-4)]
    assert errors[0] < 1e-4 and 3.6 < errors[0] / errors[1] < 4.4
    plain = ran(pt.library.four_bar(), 1.0, 1e-3)
    assert np.max(np.abs(plain.position[-1] - right)) > 100.0 * 1e-4, "the spring matters"


def ran(system, t1, dt, integrator: Any = "lie-rattle", **options):
    return pt.simulate(
        system,
        system.start,
        t1=t1,
        dt=dt,
        coordinates="group",
        integrator=integrator,
        progress=False,
        **options,
    )


@pytest.mark.slow
def test_driven_slider_crank_follows_the_closed_formula():
    run = ran(pt.library.slider_crank(driven=True), 1.0, 2e-3)
    angle = 6.0 * run.t
    across, up = 0.1 - 0.08 * np.sin(angle), 0.12 + 0.08 * np.cos(angle)
    np.testing.assert_allclose(run.position[:, 2, 0], np.sqrt(0.09 - across**2 - up**2), atol=1e-12)
    free = ran(pt.library.slider_crank(), 1.0, 2e-3)
    assert np.max(np.abs(free.position[:, 2, 0] - run.position[:, 2, 0])) > 1e-3, "the drive matters"


@pytest.mark.slow
def test_legs_move_the_platform_to_where_their_lengths_belong():
    run = ran(pt.library.stewart_platform(), 1.0, 1e-2)
    s = 1.0 - np.cos(2.0 * run.t)
    np.testing.assert_allclose(run.position[:, -1, 2], 1.0 + 0.1 * s, atol=1e-12)
    np.testing.assert_allclose(run.rotation[:, -1, 2, 1], np.sin(0.2 * s), atol=1e-12)
    assert np.max(np.abs(run.position[:, -1, :2])) < 1e-12


def steady_angle(speed):
    """At which the arms of the governor stay, by the formula of its documentation."""
    m, rod, sleeve = 1.0, 0.2, 2.0
    return np.arccos(G * (m + 2 * rod + sleeve) / (speed**2 * 0.5 * (m + 2 / 3 * rod - 2e-3 * rod)))


@pytest.mark.slow
def test_governor_stays_at_the_angle_of_steady_rotation():
    """Its arms are at rest in the spindle there, and leave it from elsewhere."""
    angle = steady_angle(10.0)
    steady = pt.library.governor(speed=10.0, angle=angle)
    linear, _ = accelerations(steady, steady.start)
    assert np.max(np.abs(linear[1])) < 1e-9, "the sleeve neither rises nor sinks"
    other = pt.library.governor(speed=10.0, angle=angle + 0.05)
    assert accelerations(other, other.start)[0][1, 2] < -0.1, "it sinks when the balls are too far out"


@pytest.mark.slow
def test_one_condition_of_bricards_loop_is_redundant():
    """Five bars and six hinges: 30 conditions of rank 29 on 30 freedoms, at the start and away from it."""
    _, minimal, (*_, q, w) = built("bricard")
    loop = pt.library.bricard()
    for state in (loop.start, minimal.state(loop, q, w)[0]):
        values = np.linalg.svd(jacobian(loop, state), compute_uv=False)
        assert values.shape == (30,) and values[28] > 0.05 and values[29] < 1e-14


def jacobian(system, state) -> np.ndarray:
    """Dense Jacobian of all conditions in velocities and angular velocities."""
    x, quat, v, Omega = system.live(0.0, state)
    return np.asarray(
        _slopes(system.linkage, x, pt.rotation.to_matrix(quat.T), jnp.zeros(v.size + Omega.size))
    )


@once
def _slopes(linkage, x, R, twist):
    return jax.jacfwd(lambda u: jnp.concatenate(linkage.rates(0.0, x, jnp.moveaxis(R, 0, -1), u)))(twist)


def test_squeezer_in_the_plane_is_the_published_one():
    """What the next test compares with: its angles to the digits that are printed."""
    np.testing.assert_allclose(motion(0.03)[:, 2], body_angles(PUBLISHED), atol=2e-8)


@pytest.mark.slow
def test_squeezer_in_space_moves_as_in_the_plane():
    right, squeezer = motion(0.03), pt.library.squeezer()
    run = ran(squeezer, 0.03, 5e-6, "rk4", save_every=6000)
    turned = np.exp(1j * right[:, 2])
    found = run.rotation[-1, :, 0, 0] + 1j * run.rotation[-1, :, 1, 0]
    assert np.max(np.abs(np.angle(found / turned))) < 1e-8
    assert np.max(np.abs(run.position[-1, :, :2] - right[:, :2])) < 1e-10
    values = np.linalg.svd(jacobian(squeezer, squeezer.start), compute_uv=False)
    assert np.sum(values > 1e-10) == 41, "50 conditions, of which 9 are redundant"
