"""Directors: constraint Jacobians as printed, both mass matrices, flat bodies, ways back to a rotation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from coordinate_cases import (
    DIRECTORS,
    FLAT,
    J,
    director_null_space,
    hat,
    matrix,
    off_surface,
    on_surface,
    unit_quaternion,
    vec,
    vector,
)
from scipy.linalg import polar

from poinsot import coordinates as co
from quickly import quickly

EPS = np.finfo(float).eps
ROWS, COLUMNS = co.Directors(constraints="rows"), co.Directors()
PLANAR = 0.5 * J.sum() - J


def test_jacobian_of_the_rows():
    facts = off_surface(ROWS)
    blocks = []
    for a, b, c in facts["q"].reshape(3, 3):
        blocks.append([[a, 0, 0], [0, b, 0], [0, 0, c], [b, a, 0], [c, 0, a], [0, c, b]])
    np.testing.assert_allclose(facts["G"], np.concatenate(blocks, axis=1), atol=EPS)


def test_jacobian_of_the_columns():
    facts = off_surface(COLUMNS)
    d1, d2, d3 = facts["q"].reshape(3, 3)
    zero = np.zeros(3)
    rows = [
        (d1, zero, zero),
        (zero, d2, zero),
        (zero, zero, d3),
        (d2, d1, zero),
        (d3, zero, d1),
        (zero, d3, d2),
    ]
    np.testing.assert_allclose(facts["G"], [np.concatenate(row) for row in rows], atol=EPS)


def test_rows_are_orthogonal_to_the_null_space_for_every_matrix():
    rows, columns = off_surface(ROWS), off_surface(COLUMNS)
    np.testing.assert_allclose(rows["G"] @ rows["T"], 0.0, atol=4 * EPS)
    assert np.max(np.abs(columns["G"] @ columns["T"])) > 1e-2


@pytest.mark.parametrize(("coordinates", "sigma"), [(DIRECTORS[2], 0.0), (DIRECTORS[3], J.mean())])
def test_scaled_mass_matrix(coordinates, sigma):
    facts = off_surface(coordinates)
    L = 0.5 * director_null_space(facts["q"])
    np.testing.assert_allclose(facts["T"], 2.0 * L, atol=EPS)
    expected = 0.5 * sigma * np.eye(9) + L @ np.diag(J - sigma) @ L.T
    np.testing.assert_allclose(facts["M"], expected, atol=20 * EPS)


def test_constant_mass_matrix_and_its_gyroscopic_moment():
    facts = on_surface(ROWS)
    np.testing.assert_allclose(facts["M"], np.diag(np.repeat(PLANAR, 3)), atol=EPS)
    np.testing.assert_array_equal(facts["velocity_force"], 0.0)
    Omega = facts["Omega"]
    bent = vec(facts["R"] @ hat(Omega) @ hat(Omega))
    moment = facts["T"].T @ facts["M"] @ bent
    np.testing.assert_allclose(moment, np.cross(Omega, J * Omega), atol=20 * EPS)


def test_multipliers_of_the_columns_in_closed_form():
    """Entry by entry, with the weights d_i d_j / (d_i + d_j) of the planar moments."""
    facts = on_surface(COLUMNS)
    R, F = facts["R"], facts["force"].reshape(3, 3).T
    P = facts["momentum"].reshape(3, 3).T
    inverse = np.diag(1.0 / PLANAR)
    weights = np.outer(PLANAR, PLANAR) / (PLANAR[:, None] + PLANAR[None])
    S = 2.0 * inverse @ P.T @ P @ inverse + R.T @ F @ inverse + inverse @ F.T @ R
    Lambda = weights * S
    expected = [Lambda[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (2, 0), (1, 2))]
    np.testing.assert_allclose(facts["multipliers"], expected, atol=50 * EPS)


def test_multipliers_of_the_rows_are_those_of_the_columns_turned():
    rows, columns = on_surface(ROWS), on_surface(COLUMNS)
    np.testing.assert_allclose(rows["a"], columns["a"], atol=50 * EPS)
    forces = [facts["G"].T @ facts["multipliers"] for facts in (rows, columns)]
    np.testing.assert_allclose(forces[0], forces[1], atol=50 * EPS)
    assert np.max(np.abs(rows["multipliers"] - columns["multipliers"])) > 0.1


@quickly
def flat_motion(quat, Omega, force, moments):
    results = []
    for coordinates in (ROWS, co.Directors(sigma="mean")):
        q = coordinates.from_quaternion(quat)
        v = coordinates.velocity(q, Omega)
        a, multipliers = coordinates.acceleration(q, v, moments, force)
        kkt = coordinates.kkt_acceleration(q, v, moments, force)
        M, T = coordinates.mass_matrix(q, moments), coordinates.null_space(q)
        Omega_rate = jax.jvp(coordinates.omega, (q, v), (v, a))[1]
        results.append((a, multipliers, kkt, M, T, Omega_rate))
    return results


def test_flat_body_moves_with_either_mass_matrix_but_only_one_can_be_inverted():
    Omega, force = vector(3, 1), vector(9, 2)
    results = flat_motion(*map(jnp.asarray, (unit_quaternion(), Omega, force, FLAT)))
    for a, multipliers, kkt, _, T, Omega_rate in results:
        euler = np.asarray(T).T @ force - np.cross(Omega, FLAT * Omega)
        np.testing.assert_allclose(FLAT * Omega_rate, euler, atol=100 * EPS)
        np.testing.assert_allclose(a, kkt[0], atol=200 * EPS)
        np.testing.assert_allclose(multipliers, kkt[1], atol=200 * EPS)
    constant, scaled = (np.linalg.eigvalsh(result[3]) for result in results)
    assert abs(constant[0]) < 1e-15 and scaled[0] > 0.2


def test_a_flat_body_is_refused_with_a_remedy():
    for form in ("regular", "index3", "index2"):
        line = ROWS.refusal(form, jnp.asarray(FLAT))
        assert line is not None and "d3" in line and "Directors(sigma='mean')" in line and "LieRattle" in line
        assert ROWS.refusal(form, jnp.asarray(J)) is None
        assert co.Directors(sigma="mean").refusal(form, jnp.asarray(FLAT)) is None
    assert ROWS.refusal("null_space", jnp.asarray(FLAT)) is None


nearest = quickly(ROWS.project_position)
extracted = quickly(co.Directors(projection="spurrier_klumpp").project_position)


def drifted(size: float) -> np.ndarray:
    return matrix(unit_quaternion()) + size * vector(9, 8).reshape(3, 3)


@pytest.mark.parametrize("size", [0.0, 1e-8, 1e-3, 0.2])
def test_nearest_rotation(size):
    A = drifted(size)
    np.testing.assert_allclose(nearest(jnp.asarray(vec(A))), vec(polar(A)[0]), atol=20 * EPS)


def test_nearest_rotation_reaches_as_far_as_it_says():
    stretch = np.diag([10.0, 1.0, 0.1])
    R = matrix(unit_quaternion())
    np.testing.assert_allclose(nearest(jnp.asarray(vec(R @ stretch))), vec(R), atol=50 * EPS)
    assert np.max(np.abs(nearest(jnp.asarray(vec(R @ np.diag([1.0, 1.0, 1e-4])))) - vec(R))) > 1e-3


def test_extraction_of_a_quaternion_is_a_rotation_but_not_the_nearest():
    gaps = []
    for size in (1e-3, 1e-4):
        q = np.asarray(extracted(jnp.asarray(vec(drifted(size)))))
        R = q.reshape(3, 3).T
        np.testing.assert_allclose(R.T @ R, np.eye(3), atol=8 * EPS)
        gaps.append(np.max(np.abs(R - polar(drifted(size))[0])) / size)
    assert min(gaps) > 0.05
    np.testing.assert_allclose(gaps[0], gaps[1], rtol=0.05)


def test_projected_velocity_is_the_orthogonal_projection():
    facts, v = on_surface(ROWS), vector(9, 9)
    G = facts["G"]
    expected = v - G.T @ np.linalg.solve(G @ G.T, G @ v)
    projected = quickly(ROWS.project_velocity)(jnp.asarray(facts["q"]), jnp.asarray(v))
    np.testing.assert_allclose(projected, expected, atol=20 * EPS)


def test_gradient_passes_through_the_nearest_rotation():
    weight, direction = vector(9, 10), vector(9, 11)
    q = jnp.asarray(vec(drifted(0.05)))
    value = quickly(lambda q: jnp.sum(weight * ROWS.project_position(q)))
    slope = quickly(jax.grad(lambda q: jnp.sum(weight * ROWS.project_position(q))))(q) @ direction
    step = 1e-5
    difference = (value(q + step * direction) - value(q - step * direction)) / (2.0 * step)
    np.testing.assert_allclose(slope, difference, rtol=1e-7)
