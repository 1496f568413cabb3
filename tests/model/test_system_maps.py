"""From live coordinates to poses, rates, energies and forces, for bodies of every freedom at once."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from poinsot.model import RigidBody, System, freedom, potentials
from poinsot.rotation import about_y, about_z, exp, to_matrix

RNG = np.random.default_rng(11)
PARTICLES = [(RNG.uniform(0.5, 1.5, 5), RNG.standard_normal((5, 3))) for _ in range(6)]
BODIES = [RigidBody.from_particles(*cloud) for cloud in PARTICLES]
PIVOT, AT = np.array([0.4, -0.3, 1.1]), np.array([1.0, 2.0, -0.5])
STILL = np.asarray(about_y(0.4))
FORCE, TORQUE = RNG.standard_normal((2, 6, 3))


def motion(t):
    return jnp.stack([jnp.cos(t), jnp.sin(t), 0.3 * t]), about_z(2.0 * t) @ jnp.asarray(STILL)


MIXED = System(
    BODIES,
    freedom=[
        freedom.FixedPoint(PIVOT, AT),
        freedom.Free(),
        freedom.Clamped((3.0, 0.0, 1.0), STILL),
        freedom.Prescribed(motion),
        freedom.Free(),
        freedom.Translation(STILL),
    ],
    potentials=[
        potentials.UniformGravity(),
        potentials.Spring(potentials.Marker(0, (0.1, 0.2, 0.3)), potentials.Marker(1), stiffness=2.0),
    ],
    loads=[lambda t, x, R, v, Omega: (jnp.asarray(FORCE), jnp.asarray(TORQUE))],
)
T = 0.3
POSITION, VELOCITY, SPIN = RNG.standard_normal((3, 6, 3))
TURN = np.asarray(exp(jnp.asarray(RNG.standard_normal((6, 3)))))

poses, rates = eqx.filter_jit(MIXED.poses), eqx.filter_jit(MIXED.rates)


@pytest.fixture(scope="module")
def state():
    """A state with everything given that is free; None where the freedom decides."""
    return MIXED.state(
        position=[None, POSITION[1], None, None, POSITION[4], POSITION[5]],
        rotation=[TURN[0], TURN[1], None, None, TURN[4], None],
        velocity=[None, VELOCITY[1], None, None, VELOCITY[4], VELOCITY[5]],
        angular_velocity=[SPIN[0], SPIN[1], None, None, SPIN[4], None],
        t=T,
    )


@pytest.fixture(scope="module")
def live(state):
    """Live coordinates of that state, with rotation matrices."""
    x, quat, v, Omega = MIXED.live(T, state)
    return x, jnp.moveaxis(to_matrix(quat.T), 0, -1), v, Omega


def particles_of(state):
    """Masses, places and velocities of all particles of all bodies, in space."""
    rotations = np.asarray(to_matrix(state.quaternion))
    masses, places, speeds = [], [], []
    for body, (weights, _), x, R, v, Omega in zip(
        BODIES,
        PARTICLES,
        *map(np.asarray, (state.position, rotations, state.velocity, state.angular_velocity)),
        strict=True,
    ):
        assert body.particles is not None
        rho = np.asarray(body.particles.points)
        masses.append(weights)
        places.append(x + rho @ R.T)
        speeds.append(v + np.cross(Omega, rho) @ R.T)
    return np.concatenate(masses), np.concatenate(places), np.concatenate(speeds)


def test_shapes_of_what_is_live():
    assert MIXED.translating == (1, 4, 5)
    assert MIXED.rotating == (0, 1, 4)
    assert MIXED.masses.shape == (3,)
    assert MIXED.inertia.shape == (3, 3)
    assert not MIXED.autonomous


def test_state_fills_in_what_freedom_decides(state):
    np.testing.assert_allclose(state.position[0], AT - TURN[0] @ PIVOT, atol=1e-14)
    np.testing.assert_allclose(state.velocity[0], -TURN[0] @ np.cross(SPIN[0], PIVOT), atol=1e-14)
    np.testing.assert_array_equal(state.position[2], [3.0, 0.0, 1.0])
    np.testing.assert_allclose(state.position[3], [np.cos(T), np.sin(T), 0.3 * T], rtol=1e-15)
    np.testing.assert_allclose(state.velocity[3], [-np.sin(T), np.cos(T), 0.3], rtol=1e-15)
    np.testing.assert_allclose(state.angular_velocity[3], STILL.T @ [0.0, 0.0, 2.0], atol=1e-15)
    np.testing.assert_allclose(to_matrix(state.quaternion)[5], STILL, atol=1e-15)
    np.testing.assert_array_equal(state.angular_velocity[4], SPIN[4])
    np.testing.assert_array_equal(state.angular_velocity[5], np.zeros(3))


def test_poses_and_rates_return_the_state(state, live):
    x, R, v, Omega = live
    positions, rotations = poses(T, x, R)
    velocities, spins = rates(T, x, R, v, Omega)
    np.testing.assert_allclose(positions, state.position, atol=1e-14)
    np.testing.assert_allclose(rotations, to_matrix(state.quaternion), atol=1e-14)
    np.testing.assert_allclose(velocities, state.velocity, atol=1e-14)
    np.testing.assert_allclose(spins, state.angular_velocity, atol=1e-14)


def test_rates_are_the_derivative_of_poses(live):
    """Central differences along a motion of the live coordinates."""
    x, R, v, Omega = live
    h = 1e-5

    def moved(s):
        turn = jnp.moveaxis(exp(s * Omega.T), 0, -1)
        return poses(T + s, x + s * v, jnp.einsum("ikb,kjb->ijb", R, turn))

    (x1, R1), (x0, R0) = moved(h), moved(-h)
    velocities, spins = rates(T, x, R, v, Omega)
    np.testing.assert_allclose((x1 - x0) / (2 * h), velocities, atol=1e-8)
    skew = np.swapaxes(poses(T, x, R)[1], -1, -2) @ np.asarray((R1 - R0) / (2 * h))
    np.testing.assert_allclose(np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], -1), spins, atol=1e-8)


def test_live_inertia_gives_the_kinetic_energy_of_the_particles(state, live):
    """Principal moments about mass centre or fixed point, in live axes, against a sum over particles."""
    masses, _, speeds = particles_of(state)
    of_all = 0.5 * np.sum(masses * np.sum(speeds**2, axis=1))
    rotations = to_matrix(state.quaternion)
    total = MIXED.kinetic(state.position, rotations, state.velocity, state.angular_velocity)
    assert float(total) == pytest.approx(of_all, rel=1e-13)
    _, _, v, Omega = live
    coordinates = 0.5 * np.sum(MIXED.masses * jnp.sum(v * v, axis=0)) + 0.5 * np.sum(MIXED.inertia * Omega**2)
    driven = slice(15, 20)
    of_driven = 0.5 * np.sum(masses[driven] * np.sum(speeds[driven] ** 2, axis=1))
    assert float(coordinates) == pytest.approx(of_all - of_driven, rel=1e-13)


def test_inertia_about_the_mass_centre_would_not_do(live):
    """Negative control: without the shift to the fixed point the energy is off."""
    _, _, _, Omega = live
    shifted, unshifted = MIXED.inertia[:, 0], BODIES[0].moments
    assert not np.allclose(
        np.sum(shifted * Omega[:, 0] ** 2), np.sum(unshifted * Omega[:, 0] ** 2), rtol=1e-2
    )


def test_momenta_are_those_of_the_particles(state):
    masses, places, speeds = particles_of(state)
    rotations = to_matrix(state.quaternion)
    arguments = (state.position, rotations, state.velocity, state.angular_velocity)
    np.testing.assert_allclose(MIXED.linear_momentum(*arguments), masses @ speeds, atol=1e-12)
    np.testing.assert_allclose(
        MIXED.angular_momentum(*arguments), masses @ np.cross(places, speeds), atol=1e-12
    )


def test_load_has_the_power_of_the_forces(live):
    """Generalised forces times any change of live rates equal forces times the change of body rates."""
    x, R, v, Omega = live
    dv, dOmega = RNG.standard_normal(v.shape), RNG.standard_normal(Omega.shape)
    generalised = eqx.filter_jit(MIXED.load)(T, x, R, v, Omega)
    assert generalised is not None
    before, after = rates(T, x, R, v, Omega), rates(T, x, R, v + dv, Omega + dOmega)
    moved, turned = (np.asarray(b) - np.asarray(a) for a, b in zip(before, after, strict=True))
    power = float(np.sum(FORCE * moved) + np.sum(TORQUE * turned))
    got = float(jnp.sum(generalised[0] * dv) + jnp.sum(generalised[1] * dOmega))
    assert got == pytest.approx(power, rel=1e-12)
    # The force on the pinned body acts at its mass centre: it has a moment about the fixed point.
    assert np.linalg.norm(generalised[1][:, 0]) != pytest.approx(np.linalg.norm(TORQUE[0]), rel=1e-2)


def test_potential_at_live_coordinates(state, live):
    x, R, _, _ = live
    positions, rotations = np.asarray(state.position), np.asarray(to_matrix(state.quaternion))
    span = positions[0] + rotations[0] @ [0.1, 0.2, 0.3] - positions[1]
    masses = np.array([weights.sum() for weights, _ in PARTICLES])
    expected = 9.81 * masses @ positions[:, 2] + np.sum(span**2)
    assert float(MIXED.potential(T, x, R)) == pytest.approx(expected, rel=1e-13)


def test_invariants_of_live_coordinates(live):
    """Without the prescribed body they are declared, of degree two, and give the energy."""
    system = System(BODIES[:2], freedom=[MIXED.freedom[0], MIXED.freedom[1]], potentials=MIXED.potentials[1:])
    x, R = live[0][:, :1], live[1][:, :, :2]
    c = system.potential_invariants(x, R)
    assert c is not None and c.shape == (1,)
    assert float(system.energy_of(c)) == pytest.approx(float(system.potential(T, x, R)), rel=1e-14)
    dx, dR = RNG.standard_normal(x.shape), RNG.standard_normal(R.shape)
    values = np.array([system.potential_invariants(x + s * dx, R + s * dR) for s in (0.0, 1.0, 2.0, 3.0)])
    assert abs(np.array([-1.0, 3.0, -3.0, 1.0]) @ values[:, 0]) < 1e-12 * np.max(np.abs(values))
    assert MIXED.potential_invariants(*live[:2]) is None


def test_several_terms_share_the_invariants():
    bushing = potentials.LinearBushing((0, 0, 0), potentials.Marker(0), stiffness=(1, 2, 3))
    system = System(BODIES[0], potentials=[potentials.HeavyTop(2.0), bushing])
    x, R = jnp.asarray(POSITION[:1].T), jnp.asarray(TURN[:1].transpose(1, 2, 0))
    c = system.potential_invariants(x, R)
    assert c is not None and c.shape == (4,)
    assert float(system.energy_of(c)) == pytest.approx(float(system.potential(0.0, x, R)), rel=1e-14)
    opaque = System(BODIES[0], potentials=[potentials.HeavyTop(2.0), lambda x, R: R[0, 0, 0]])
    assert opaque.potential_invariants(x, R) is None
    empty = System(BODIES[0])
    assert float(empty.energy_of(empty.potential_invariants(x, R))) == 0.0  # type: ignore[arg-type]


def test_gradient_in_the_distance_of_a_symmetric_top():
    """Written component by component, the fixed point is known to be on the axis: no eigenproblem."""

    def moments(distance):
        body = RigidBody(2.0, (1.0, 1.0, 0.5))
        return System(body, freedom=freedom.FixedPoint((0, 0, -distance))).inertia[:, 0]

    np.testing.assert_allclose(jax.jacfwd(moments)(0.7), [2.8, 2.8, 0.0], rtol=1e-14)
    np.testing.assert_allclose(moments(0.7), [1.98, 1.98, 0.5], rtol=1e-14)


def test_off_axis_fixed_point_is_diagonalised_anew():
    system = System(RigidBody(2.0, (1.0, 1.2, 0.5)), freedom=freedom.FixedPoint((0.3, 0.0, -0.7)))
    matrix = np.diag([1.0, 1.2, 0.5]) + 2.0 * (0.58 * np.eye(3) - np.outer([0.3, 0, -0.7], [0.3, 0, -0.7]))
    assert system.placement.axes is not None
    axes = np.asarray(system.placement.axes[:, :, 0])
    np.testing.assert_allclose((axes * np.asarray(system.inertia[:, 0])) @ axes.T, matrix, atol=1e-14)
    assert np.linalg.det(axes) == pytest.approx(1.0)


def test_systems_map_over_their_numbers():
    """A batch of systems is built by vmap, and a system passes through jit."""

    def top(J):
        return System(RigidBody(1.0, J), potentials=[potentials.HeavyTop(3.0)])

    inertias = jnp.array([[1.0, 2.0, 2.5], [3.0, 4.0, 5.0]])
    assert eqx.filter_vmap(top)(inertias).inertia.shape == (2, 3, 1)
    x, R = jnp.zeros((3, 1)), jnp.asarray(TURN[:1].transpose(1, 2, 0))
    value = jax.jit(lambda system: system.potential(0.0, x, R))(top(inertias[0]))
    assert float(value) == pytest.approx(3.0 * TURN[0, 2, 2], rel=1e-15)
