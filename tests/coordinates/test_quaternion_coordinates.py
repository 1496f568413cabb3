"""Quaternions: both forms of the mass matrix, on and off the unit sphere, against NumPy formulas."""

import jax.numpy as jnp
import numpy as np
import pytest
from coordinate_cases import QUATERNIONS, J, left_matrix, matrix, off_surface, on_surface

from poinsot import coordinates as co
from quickly import quickly

EPS = np.finfo(float).eps
MEAN = J.mean()


def radial_form(q, I0):
    Q = left_matrix(q)
    return 4.0 * Q @ np.diag([I0, *J]) @ Q.T


def scaled_form(q, sigma):
    L = 2.0 * left_matrix(q)[:, 1:]
    return 4.0 * sigma * np.eye(4) + L @ np.diag(J - sigma) @ L.T


@pytest.mark.parametrize(
    ("coordinates", "form", "value"),
    [
        (co.Quaternions(), radial_form, 0.5 * J.sum()),
        (co.Quaternions(I0=2.5), radial_form, 2.5),
        (co.Quaternions(sigma=0), radial_form, 0.0),
        (co.Quaternions(sigma=0), scaled_form, 0.0),
        (co.Quaternions(sigma="mean"), scaled_form, MEAN),
    ],
)
def test_mass_matrix_off_the_sphere(coordinates, form, value):
    facts = off_surface(coordinates)
    np.testing.assert_allclose(facts["M"], form(facts["q"], value), atol=50 * EPS)
    np.testing.assert_allclose(coordinates.radial_inertia(jnp.asarray(J)), value, rtol=2 * EPS)


def test_the_two_forms_agree_on_the_sphere_only():
    q = on_surface(co.Quaternions())["q"]
    np.testing.assert_allclose(radial_form(q, 0.7), scaled_form(q, 0.7), atol=20 * EPS)
    assert np.max(np.abs(radial_form(1.1 * q, 0.7) - scaled_form(1.1 * q, 0.7))) > 0.1


@pytest.mark.parametrize(
    ("coordinates", "I0"), [(co.Quaternions(I0=2.5), 2.5), (co.Quaternions(sigma=0), 0.0)]
)
def test_velocity_force_in_quaternion_matrices(coordinates, I0):
    facts = off_surface(coordinates)
    p, v = facts["q"], facts["v"]
    P, V, inertia = left_matrix(p), left_matrix(v), np.diag([I0, *J])
    general = 4.0 * (V @ inertia @ V.T @ p - V @ inertia @ P.T @ v - P @ inertia @ V.T @ v)
    np.testing.assert_allclose(facts["velocity_force"], general, atol=200 * EPS)
    short = 8.0 * V @ inertia @ V.T @ p
    assert (np.max(np.abs(general - short)) < 1e-13) == (I0 == 0.0)


@pytest.mark.parametrize("coordinates", QUATERNIONS, ids=repr)
def test_gyroscopic_moment_is_in_the_velocity_force(coordinates):
    facts = on_surface(coordinates)
    moment = facts["T"].T @ facts["velocity_force"]
    np.testing.assert_allclose(moment, -np.cross(facts["Omega"], J * facts["Omega"]), atol=20 * EPS)


def test_closed_form_without_radial_inertia_is_the_published_one():
    facts = on_surface(co.Quaternions(sigma=0))
    p, v, psi = facts["q"], facts["v"], facts["force"] + facts["velocity_force"]
    Q = left_matrix(p)
    tangential_inverse = 0.25 * Q @ np.diag([0.0, *(1.0 / J)]) @ Q.T
    np.testing.assert_allclose(facts["a"], tangential_inverse @ psi - v @ v * p, atol=20 * EPS)
    np.testing.assert_allclose(facts["multipliers"], [p @ psi], atol=20 * EPS)


def test_the_length_does_not_count_in_the_free_form():
    facts = off_surface(co.Quaternions())
    q = facts["q"]
    np.testing.assert_allclose(facts["R_free"], matrix(q / np.linalg.norm(q)), atol=8 * EPS)
    np.testing.assert_allclose(facts["R"], (q @ q) * facts["R_free"], atol=8 * EPS)
    assert abs(q @ q - 1.0) > 0.1


def test_projection_is_radial():
    facts = off_surface(co.Quaternions())
    quaternions = co.Quaternions()

    @quickly
    def projected(q, v):
        unit = quaternions.project_position(q)
        return unit, quaternions.project_velocity(unit, v)

    q, v = projected(facts["q"], facts["v"])
    unit = facts["q"] / np.linalg.norm(facts["q"])
    np.testing.assert_allclose(q, unit, atol=2 * EPS)
    np.testing.assert_allclose(v, facts["v"] - (unit @ facts["v"]) * unit, atol=4 * EPS)
