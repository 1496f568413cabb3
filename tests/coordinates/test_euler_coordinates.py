"""Euler angles of all twelve sequences: rates against the rate matrix, distance from gimbal lock."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from coordinate_cases import J, kinetic_energy, matrix, unit_quaternion, vector

from poinsot import coordinates as co
from poinsot import rotation as rn

EPS = np.finfo(float).eps
every_sequence = pytest.mark.parametrize("sequence", rn.EULER_SEQUENCES)


@every_sequence
def test_rates_and_momenta(sequence):
    angles = co.EulerAngles(sequence)
    q = angles.from_quaternion(jnp.asarray(unit_quaternion()))
    np.testing.assert_allclose(angles.rotation(q), matrix(unit_quaternion()), atol=8 * EPS)
    B = np.asarray(rn.euler_rate_matrix(sequence, q))
    first, second = jnp.asarray(vector(3, 1)), jnp.asarray(vector(3, 2))
    np.testing.assert_allclose(angles.omega(q, first), B @ first, atol=8 * EPS)
    np.testing.assert_allclose(angles.velocity(q, first), np.linalg.solve(B, first), atol=50 * EPS)
    np.testing.assert_allclose(angles.free_momentum(q, second), np.linalg.solve(B.T, second), atol=50 * EPS)
    momentum = angles.momentum(q, first, jnp.asarray(J))
    np.testing.assert_allclose(momentum, B.T @ (J * (B @ first)), atol=20 * EPS)


@every_sequence
def test_distance_from_gimbal_lock(sequence):
    angles = co.EulerAngles(sequence, margin=0.2)
    locked = 0.0 if sequence[0] == sequence[2] else 0.5 * math.pi
    for turns in (-1, 0, 3):
        for away in (0.0, 0.15, -0.15, 0.6, -1.5):
            q = jnp.array([0.3, locked + turns * math.pi + away, 1.0])
            assert abs(angles.gimbal_distance(q) - abs(away)) < 1e-14
            assert abs(angles.clearance(q) - (abs(away) - 0.2)) < 1e-14
            assert abs(rn.euler_singularity(sequence, q) - math.sin(abs(away))) < 1e-14


def test_rates_grow_like_one_over_the_distance():
    angles = co.EulerAngles("zxz")
    rates = [
        angles.velocity(jnp.array([0.3, d, 0.7]), jnp.array([1.0, 0.5, 0.2]))[0] * d for d in (1e-2, 1e-4)
    ]
    np.testing.assert_allclose(rates[0], rates[1], rtol=1e-4)


def test_other_coordinates_have_no_place_to_avoid():
    for coordinates in (co.Quaternions(), co.Directors(), co.Group()):
        q = coordinates.from_quaternion(jnp.asarray(unit_quaternion()))
        assert coordinates.clearance(q) == jnp.inf


@pytest.mark.parametrize("sequence", ["zxz", "xyz"])
def test_symmetric_top_in_textbook_form(sequence):
    """Kinetic energy of a symmetric body in 3-1-3 angles; other angles give other numbers."""
    angles = co.EulerAngles(sequence)
    q, v = jnp.array([0.4, 0.9, -0.3]), jnp.array([0.7, -0.2, 1.3])
    A, C = 1.5, 0.8
    sine, cosine = math.sin(0.9), math.cos(0.9)
    textbook = 0.5 * A * (0.2**2 + (0.7 * sine) ** 2) + 0.5 * C * (1.3 + 0.7 * cosine) ** 2
    energy = float(kinetic_energy(angles, q, v, jnp.array([A, A, C])))
    assert (abs(energy - textbook) < 1e-14) == (sequence == "zxz")
