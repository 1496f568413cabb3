"""Quaternion of a rotation matrix: all four cases, ties, derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from rotation_strategies import EPS, largest_gap, matrices, property_test, unit_quaternions, writable
from scipy.spatial.transform import Rotation

from poinsot import rotation as rn
from quickly import quickly

from_matrix = quickly(rn.from_matrix)


gradient = quickly(jax.grad(lambda rot: jnp.sum(rn.from_matrix(rot))))


@quickly
def round_trip_rate(quat, rate):
    return jax.jvp(lambda p: rn.from_matrix(rn.to_matrix(p)), (quat,), (rate,))[1]


def spurrier_klumpp(rot: np.ndarray) -> np.ndarray:
    """The four cases written out one by one."""
    trace = np.trace(rot)
    case = int(np.argmax([trace, *np.diag(rot)]))
    quat = np.zeros(4)
    if case == 0:
        quat[0] = np.sqrt(1.0 + trace) / 2.0
        differences = [rot[2, 1] - rot[1, 2], rot[0, 2] - rot[2, 0], rot[1, 0] - rot[0, 1]]
        quat[1:] = np.array(differences) / (4.0 * quat[0])
        return quat
    i = case - 1
    j, k = (i + 1) % 3, (i + 2) % 3
    pivot = np.sqrt(rot[i, i] / 2.0 + (1.0 - trace) / 4.0)
    quat[1 + i] = pivot
    quat[0] = (rot[k, j] - rot[j, k]) / (4.0 * pivot)
    quat[1 + j] = (rot[j, i] + rot[i, j]) / (4.0 * pivot)
    quat[1 + k] = (rot[k, i] + rot[i, k]) / (4.0 * pivot)
    return quat


def dominant(component: int) -> np.ndarray:
    """Unit quaternions whose largest component is the given one, of either sign of the others."""
    quat = np.random.default_rng(component).uniform(-0.8, 0.8, (8, 4))
    quat[:, component] = 1.0
    return quat / np.linalg.norm(quat, axis=-1, keepdims=True)


@pytest.mark.parametrize("component", range(4))
def test_each_case_against_the_formulas_and_scipy(component):
    quat = dominant(component)
    rot = rn.to_matrix(jnp.asarray(quat))
    extracted = np.asarray(from_matrix(rot))
    np.testing.assert_allclose(extracted, quat, atol=4 * EPS)
    np.testing.assert_allclose(extracted, [spurrier_klumpp(r) for r in np.asarray(rot)], atol=4 * EPS)
    independent = Rotation.from_matrix(writable(rot)).as_quat(scalar_first=True)
    sign = np.sign(np.sum(extracted * independent, axis=-1, keepdims=True))
    np.testing.assert_allclose(sign * extracted, independent, atol=4 * EPS)


@pytest.mark.parametrize("component", range(4))
def test_derivative_in_each_case(component):
    quat = jnp.asarray(dominant(component))
    rate = rn.quat_rate(quat, jnp.asarray(np.random.default_rng(9).normal(size=(8, 3))))
    np.testing.assert_allclose(round_trip_rate(quat, rate), rate, atol=1e-14)
    assert np.all(np.isfinite(gradient(rn.to_matrix(quat))))


@property_test
@given(unit_quaternions)
def test_round_trip_including_ties_and_half_turns(quat):
    back = from_matrix(rn.to_matrix(quat))
    sign = jnp.sign(jnp.sum(back * quat, axis=-1, keepdims=True))
    assert largest_gap(sign * back, quat) < 8 * EPS


def test_identity_and_four_equal_components():
    np.testing.assert_array_equal(from_matrix(jnp.eye(3)), [1.0, 0.0, 0.0, 0.0])
    cyclic = jnp.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    np.testing.assert_array_equal(from_matrix(cyclic), [0.5, 0.5, 0.5, 0.5])
    assert np.all(np.isfinite(quickly(jax.jacrev(rn.from_matrix))(cyclic)))
    assert np.all(np.isfinite(quickly(jax.hessian(rn.from_matrix))(jnp.eye(3))))


@property_test
@given(matrices, unit_quaternions)
def test_davenport_matrix_is_the_overlap_with_a_rotation(matrix, quat):
    form = jnp.einsum("ni,nij,nj->n", quat, rn.davenport_matrix(matrix), quat)
    overlap = jnp.einsum("nij,nij->n", matrix, rn.to_matrix(quat))
    assert largest_gap(form, overlap) < 100 * EPS
