"""What all coordinates promise, measured on a body in motion against particles and Euler's equations."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from coordinate_cases import ALL, TURN, J, hat, matrix, off_surface, on_surface, unit_quaternion, vec, vector
from scipy.linalg import expm

from long_suite import of_the_long_suite
from poinsot import coordinates as co
from poinsot import rotation as rn
from quickly import quickly

EPS = np.finfo(float).eps
FIRST = {repr(ALL[k]) for k in (0, 2, 6, 8)}
every_one = pytest.mark.parametrize(
    "coordinates", of_the_long_suite({repr(one): (one,) for one in ALL}, FIRST)
)


@every_one
def test_pose_and_its_rate(coordinates):
    facts = on_surface(coordinates)
    R = matrix(unit_quaternion())
    np.testing.assert_allclose(facts["R"], R, atol=8 * EPS)
    np.testing.assert_allclose(facts["R_free"], R, atol=8 * EPS)
    np.testing.assert_allclose(facts["R_rate"], R @ hat(facts["Omega"]), atol=20 * EPS)
    np.testing.assert_allclose(facts["omega"], facts["Omega"], atol=20 * EPS)
    assert np.all(np.abs(facts["constraint"]) < 4 * EPS)


@every_one
def test_null_space_annihilates_the_constraints_and_recovers_the_moments(coordinates):
    facts = on_surface(coordinates)
    T, G, M = facts["T"], facts["G"], facts["M"]
    assert G.shape == (coordinates.constraints, coordinates.size)
    assert np.linalg.matrix_rank(T) == 3 == coordinates.size - np.linalg.matrix_rank(G)
    np.testing.assert_allclose(G @ T, 0.0, atol=4 * EPS)
    np.testing.assert_allclose(M, M.T, atol=20 * EPS)
    np.testing.assert_allclose(T.T @ M @ T, np.diag(J), atol=20 * EPS)
    np.testing.assert_allclose(facts["free_momentum"], T.T @ facts["p"], atol=20 * EPS)


@every_one
def test_kinetic_energy_is_that_of_the_particles(coordinates):
    """Six particles on the principal axes carry the Euler tensor; their speeds come from the rate of R."""
    facts = on_surface(coordinates)
    planar = 0.5 * J.sum() - J
    particles = np.sqrt(planar)[:, None] * np.eye(3)
    speeds = np.linalg.norm(matrix(unit_quaternion()) @ hat(facts["Omega"]) @ particles.T, axis=0)
    np.testing.assert_allclose(facts["kinetic"], 0.5 * np.sum(speeds**2), rtol=20 * EPS)
    np.testing.assert_allclose(facts["v"] @ facts["momentum"], 2.0 * facts["kinetic"], rtol=20 * EPS)
    np.testing.assert_allclose(facts["back"], facts["v"], atol=20 * EPS)


@every_one
def test_quasi_momenta_give_the_energy_of_any_momentum(coordinates):
    facts = on_surface(coordinates)
    if coordinates.refusal("regular", J) is not None:
        assert np.linalg.matrix_rank(facts["M"]) < coordinates.size
        return
    expected = 0.5 * facts["p"] @ np.linalg.solve(facts["M"], facts["p"])
    np.testing.assert_allclose(facts["quasi_energy"], expected, rtol=1e-13)


@every_one
def test_acceleration_is_eulers(coordinates):
    facts = on_surface(coordinates)
    Omega = facts["Omega"]
    torque = facts["T"].T @ facts["force"]
    gyroscopic = np.cross(Omega, J * Omega)
    np.testing.assert_allclose(J * facts["Omega_rate"], torque - gyroscopic, atol=100 * EPS)
    assert np.linalg.norm(gyroscopic) > 0.1


@every_one
def test_closed_form_is_the_solution_of_the_saddle_point_system(coordinates):
    facts = on_surface(coordinates)
    np.testing.assert_allclose(facts["a"], facts["kkt"][0], atol=100 * EPS)
    np.testing.assert_allclose(facts["multipliers"], facts["kkt"][1], atol=100 * EPS)
    balance = facts["M"] @ facts["a"] + facts["G"].T @ facts["multipliers"]
    np.testing.assert_allclose(balance, facts["force"] + facts["velocity_force"], atol=100 * EPS)


@every_one
def test_closed_form_off_the_surface(coordinates):
    """Were it exact on rotations only, the drift of directors would grow exponentially.

    In quaternions it differs along q, so that a length that is off turns back to one.
    """
    facts = off_surface(coordinates)
    a, multipliers = facts["acceleration"]
    scale = max(1.0, *np.abs(facts["kkt"][0]), *np.abs(facts["kkt"][1]))
    balance = facts["M"] @ a + facts["G"].T @ multipliers
    np.testing.assert_allclose(balance, facts["force"] + facts["velocity_force"], atol=1000 * EPS * scale)
    if isinstance(coordinates, co.Quaternions):
        q, v = facts["q"], facts["v"]
        back = -(v @ v) * (1.0 - 1.0 / (q @ q)) * q
        np.testing.assert_allclose(a, facts["kkt"][0] + back, atol=100 * EPS * scale)
        assert np.max(np.abs(back)) > 1e-3
        return
    np.testing.assert_allclose(a, facts["kkt"][0], atol=100 * EPS * scale)
    np.testing.assert_allclose(multipliers, facts["kkt"][1], atol=100 * EPS * scale)
    np.testing.assert_allclose(facts["G"] @ a, -facts["bend"], atol=100 * EPS * scale)


@every_one
def test_acceleration_is_the_second_difference_of_a_curve_of_rotations(coordinates):
    """A curve of quaternions with Euler's angular acceleration, then with the wrong sign of one term."""
    facts = on_surface(coordinates)
    np.testing.assert_allclose(facts["a"], facts["curves"][1], atol=2e-6)
    assert np.max(np.abs(facts["a"] - facts["curves"][-1])) > 1e-2


@every_one
def test_closed_forms_against_autodiff_off_the_surface(coordinates):
    facts = off_surface(coordinates)
    np.testing.assert_allclose(facts["G"], facts["G_auto"], atol=8 * EPS)
    multipliers = np.arange(1.0, 1.0 + coordinates.constraints)
    np.testing.assert_allclose(facts["G_force"], facts["G_auto"].T @ multipliers, atol=100 * EPS)
    np.testing.assert_allclose(facts["bend"], facts["bend_auto"], atol=100 * EPS)
    np.testing.assert_allclose(facts["velocity_force"], facts["velocity_force_auto"], atol=200 * EPS)


@every_one
def test_projection_leaves_the_surface_alone(coordinates):
    facts = on_surface(coordinates)
    np.testing.assert_allclose(facts["projected"][0], facts["q"], atol=8 * EPS)
    np.testing.assert_allclose(facts["projected"][1], facts["v"], atol=8 * EPS)


@every_one
def test_a_turn_multiplies_from_the_right(coordinates):
    R, turned, turn = matrix(unit_quaternion()), on_surface(coordinates)["turned"], expm(hat(TURN))
    np.testing.assert_allclose(turned, R @ turn, atol=20 * EPS)
    assert np.max(np.abs(turned - turn @ R)) > 0.1


@pytest.mark.parametrize("coordinates", [ALL[0], ALL[6], ALL[8]], ids=repr)
def test_bodies_along_the_last_axis_and_derivatives(coordinates):
    """Closed-form and general acceleration for three bodies at once, and a gradient in the moments."""
    quats = jnp.asarray(np.stack([unit_quaternion(seed) for seed in (1, 2, 3)], axis=-1))
    Omegas = jnp.asarray(np.stack([vector(3, seed) for seed in (1, 2, 3)], axis=-1))
    moments = jnp.asarray(J[:, None] * np.array([1.0, 1.1, 1.2]))
    force = jnp.asarray(vector(coordinates.size, 2))

    def both(quat, Omega, J):
        q = coordinates.from_quaternion(quat)
        v = coordinates.velocity(q, Omega)
        closed = coordinates.acceleration(q, v, J, force)
        energy = lambda J: jnp.sum(coordinates.acceleration(q, v, J, force)[0] ** 2)  # noqa: E731
        return closed, coordinates.kkt_acceleration(q, v, J, force), energy(J), jax.grad(energy)(J)

    together = quickly(jax.vmap(both, in_axes=-1, out_axes=-1))
    (a, multipliers), (a_kkt, multipliers_kkt), energy, slope = together(quats, Omegas, moments)
    assert a.shape == (coordinates.size, 3) and multipliers.shape == (coordinates.constraints, 3)
    np.testing.assert_allclose(a[:, 0], on_surface(coordinates)["a"], atol=100 * EPS)
    np.testing.assert_allclose(a, a_kkt, atol=200 * EPS)
    np.testing.assert_allclose(multipliers, multipliers_kkt, atol=200 * EPS)
    step = 1e-6
    for k in range(3):
        shift = jnp.zeros((3, 3)).at[k].set(step)
        ahead, behind = (together(quats, Omegas, moments + sign * shift)[2] for sign in (1.0, -1.0))
        np.testing.assert_allclose(slope[k], (ahead - behind) / (2.0 * step), rtol=1e-6, atol=1e-6)
    assert energy.shape == (3,)


def test_quaternions_are_the_pull_back_of_directors():
    """The default radial inertia, half the trace of J, is what the Euler map makes of the Euler tensor."""
    facts = off_surface(co.Quaternions())
    U = np.asarray(rn.euler_map_differential(jnp.asarray(facts["q"])))
    planar = np.repeat(0.5 * J.sum() - J, 3)
    np.testing.assert_allclose(facts["M"], U.T @ (planar[:, None] * U), atol=50 * EPS)
    other = off_surface(co.Quaternions(sigma="mean"))["M"]
    assert np.max(np.abs(other - U.T @ (planar[:, None] * U))) > 0.1


def test_the_euler_map_takes_one_null_space_to_the_other():
    facts, directors = on_surface(co.Quaternions()), on_surface(co.Directors())
    U = np.asarray(rn.euler_map_differential(jnp.asarray(facts["q"])))
    np.testing.assert_allclose(U @ facts["T"], directors["T"], atol=8 * EPS)
    np.testing.assert_allclose(vec(facts["R"]), directors["q"], atol=8 * EPS)


def operations(jaxpr) -> set[str]:
    """Names of all operations of a traced function, those inside loops and calls included."""
    names = {equation.primitive.name for equation in jaxpr.eqns}
    for equation in jaxpr.eqns:
        for value in equation.params.values():
            for part in value if isinstance(value, (tuple, list)) else (value,):
                part = getattr(part, "jaxpr", part)
                names |= operations(part) if hasattr(part, "eqns") else set()
    return names


@every_one
def test_nothing_but_elementwise_arithmetic_in_what_is_called_at_every_step(coordinates):
    """Matrix products and LAPACK do not fuse; only the general solution of index 1 may use them."""
    q, v, moments = jnp.zeros(coordinates.size), jnp.ones(coordinates.size), jnp.asarray(J)

    def everything(q, v, J):
        Omega = coordinates.omega(q, v)
        p = coordinates.momentum(q, v, J)
        return (
            coordinates.rotation(q),
            coordinates.velocity(q, Omega),
            coordinates.tangent_velocity(q, p, J),
            coordinates.quasi_momentum(q, p),
            coordinates.acceleration(q, v, J, v),
            coordinates.constraint(q),
            coordinates.project_position(q),
            coordinates.project_velocity(q, v),
        )

    def heavy(function) -> set[str]:
        return operations(jax.make_jaxpr(function)(q, v, moments).jaxpr) & {
            "dot_general",
            "lu",
            "eigh",
            "triangular_solve",
        }

    assert heavy(everything) == set()
    assert "lu" in heavy(lambda q, v, J: coordinates.kkt_acceleration(q, v, J, v))


@every_one
def test_what_is_said_of_the_maps_is_true(coordinates):
    """Linear null space, constant mass matrix, places to avoid: each measured, not looked up."""
    on, off = on_surface(coordinates), off_surface(coordinates)
    ratio = 1.7
    T = quickly(coordinates.null_space)
    combined = T(jnp.asarray(on["q"] + ratio * off["q"]))
    linear = np.max(np.abs(combined - on["T"] - ratio * off["T"])) < 1e-13
    assert coordinates.bilinear == linear
    assert coordinates.constant_mass == (np.max(np.abs(on["M"] - off["M"])) < 1e-13)
    assert coordinates.singular == np.isfinite(coordinates.clearance(jnp.asarray(on["q"])))


@pytest.mark.parametrize("coordinates", [co.Quaternions(), co.Directors()], ids=repr)
def test_slope_of_a_potential_in_the_free_form(coordinates):
    weight, q = jnp.asarray(vector(9, 12).reshape(3, 3)), jnp.asarray(on_surface(coordinates)["q"])

    @quickly
    def slopes(q):
        plain = jax.grad(lambda q: jnp.sum(weight * coordinates.rotation(q)))(q)
        free = jax.grad(lambda q: jnp.sum(weight * coordinates.free_rotation(q)))(q)
        return plain, free, coordinates.free_slope(q, plain)

    plain, free, left = slopes(q)
    np.testing.assert_allclose(left, free, atol=20 * EPS)
    # Less than the plain slope, by what acts across the constraints and turns nothing.
    assert np.max(np.abs(plain - free)) > 0.1
    torque = quickly(coordinates.free_momentum)
    np.testing.assert_allclose(torque(q, free), torque(q, plain), atol=20 * EPS)
