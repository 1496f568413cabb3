"""The Euler map, its differential and the closed form of the pseudo-inverse."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from rotation_strategies import EPS, largest_gap, property_test, unit_quaternions, writable
from scipy.spatial.transform import Rotation

from poinsot import rotation as rn
from quickly import quickly


@quickly
def euler_map(quat):
    return {
        "map": rn.to_matrix(quat),
        "vec": rn.vec(rn.to_matrix(quat)),
        "differential": rn.euler_map_differential(quat),
        "autodiff": jax.vmap(jax.jacfwd(lambda p: rn.vec(rn.to_matrix(p))))(quat),
        "inverse": rn.euler_map_pseudo_inverse(quat),
    }


def test_vec_stacks_columns():
    matrix = jnp.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(rn.vec(matrix), [0.0, 3.0, 6.0, 1.0, 4.0, 7.0, 2.0, 5.0, 8.0])
    np.testing.assert_array_equal(rn.unvec(rn.vec(matrix)), matrix)


@property_test
@given(unit_quaternions)
def test_map_and_differential(quat):
    result = euler_map(quat)
    oracle = Rotation.from_quat(writable(quat), scalar_first=True)
    assert largest_gap(result["map"], oracle.as_matrix()) < 10 * EPS
    assert largest_gap(result["differential"], result["autodiff"]) == 0.0
    along = jnp.einsum("nij,nj->ni", result["differential"], quat)
    assert largest_gap(along, 2.0 * result["vec"]) < 20 * EPS
    scaled = euler_map(3.0 * quat)
    assert largest_gap(scaled["map"], 9.0 * result["map"]) < 100 * EPS


@property_test
@given(unit_quaternions)
def test_pseudo_inverse_on_and_off_the_sphere(quat):
    for scale in (1.0, 0.3, 2.5):
        result = {name: np.asarray(value) for name, value in euler_map(scale * quat).items()}
        expected = np.linalg.pinv(result["differential"])
        np.testing.assert_allclose(result["inverse"], expected, atol=20 * EPS / scale)
        recovered = 2.0 * np.einsum("nij,nj->ni", result["inverse"], result["vec"])
        np.testing.assert_allclose(recovered, scale * np.asarray(quat), atol=20 * EPS * scale)


def test_the_radial_correction_is_needed():
    differential = rn.euler_map_differential(rn.normalise(jnp.array([1.0, 2.0, 3.0, 4.0])))
    assert largest_gap(differential.T / 8.0, np.linalg.pinv(np.asarray(differential))) > 0.01
