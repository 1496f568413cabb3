"""Exponential and logarithm of SO(3) and of the unit quaternions, at all angles up to the half turn."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from rotation_strategies import (
    EPS,
    TINY_ANGLES,
    apply,
    largest_gap,
    property_test,
    rotation_vectors,
    writable,
)
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from poinsot import rotation as rn
from quickly import quickly

exp, log = quickly(rn.exp), quickly(rn.log)
quat_exp, quat_log = quickly(rn.quat_exp), quickly(rn.quat_log)
to_matrix = quickly(rn.to_matrix)
AXES = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.6, 0.0, 0.8], [2.0, -1.0, 2.0], [-1.0, 3.0, 0.5]])
AXES /= np.linalg.norm(AXES, axis=-1, keepdims=True)


def test_hat_is_the_cross_product_and_vee_its_inverse():
    a, b = jnp.asarray(np.random.default_rng(2).normal(size=(2, 8, 3)))
    np.testing.assert_allclose(apply(rn.hat(a), b), np.cross(np.asarray(a), np.asarray(b)), atol=8 * EPS)
    np.testing.assert_array_equal(rn.vee(rn.hat(a)), a)


@property_test
@given(rotation_vectors(3.0 * np.pi))
def test_exponential_agrees_with_scipy(xi):
    rot = exp(xi)
    assert largest_gap(rot, Rotation.from_rotvec(writable(xi)).as_matrix()) < 100 * EPS
    assert largest_gap(to_matrix(quat_exp(xi)), rot) < 20 * EPS
    assert largest_gap(rot @ jnp.swapaxes(rot, -1, -2), np.broadcast_to(np.eye(3), rot.shape)) < 20 * EPS


def test_exponential_is_that_of_the_matrix():
    xi = jnp.array([0.4, -1.1, 0.7])
    np.testing.assert_allclose(exp(xi), expm(np.asarray(rn.hat(xi))), atol=1e-14)


@property_test
@given(rotation_vectors(np.pi * (1.0 - 1e-6)))
def test_logarithm_inverts_the_exponential(xi):
    size = np.linalg.norm(np.asarray(xi), axis=-1, keepdims=True)
    for back in (log(exp(xi)), quat_log(quat_exp(xi)), quat_log(-3.0 * quat_exp(xi))):
        assert np.all(np.abs(np.asarray(back) - xi) <= 20 * EPS * size)


@property_test
@given(rotation_vectors(np.pi))
def test_exponential_inverts_the_logarithm_up_to_the_half_turn(xi):
    rot = exp(xi)
    back = log(rot)
    assert np.all(np.linalg.norm(np.asarray(back), axis=-1) <= np.pi * (1.0 + 4 * EPS))
    assert largest_gap(exp(back), rot) < 30 * EPS


@pytest.mark.parametrize("angle", TINY_ANGLES)
def test_logarithm_keeps_relative_accuracy_near_the_identity(angle):
    xi = jnp.asarray(AXES * angle)
    np.testing.assert_allclose(log(exp(xi)), xi, rtol=8 * EPS, atol=8 * EPS * angle)


def test_exact_half_turns():
    half_turns = 2.0 * AXES[:, :, None] * AXES[:, None, :] - np.eye(3)
    back = np.asarray(log(jnp.asarray(half_turns)))
    np.testing.assert_allclose(np.linalg.norm(back, axis=-1), np.pi, rtol=4 * EPS)
    np.testing.assert_allclose(np.abs(np.sum(back * AXES, axis=-1)), np.pi, rtol=4 * EPS)


def test_half_turn_has_a_finite_derivative():
    half_turn = jnp.asarray(np.diag([-1.0, 1.0, -1.0]))
    assert np.all(np.isfinite(quickly(jax.jacrev(rn.log))(half_turn)))
    assert np.all(np.isfinite(quickly(jax.jacrev(rn.quat_log))(jnp.array([0.0, 0.6, 0.0, 0.8]))))


def test_derivatives_of_the_exponential_at_zero():
    basis = np.asarray(rn.hat(jnp.eye(3)))
    zero = jnp.zeros(3)
    for mode in (jax.jacfwd, jax.jacrev):
        np.testing.assert_allclose(quickly(mode(rn.exp))(zero), np.moveaxis(basis, 0, -1), atol=EPS)
    second = np.asarray(quickly(jax.hessian(rn.exp))(zero))
    for i, j in itertools.product(range(3), repeat=2):
        expected = 0.5 * (basis[i] @ basis[j] + basis[j] @ basis[i])
        np.testing.assert_allclose(second[..., i, j], expected, atol=EPS)


def test_derivatives_of_the_quaternion_exponential_at_zero():
    zero = jnp.zeros(3)
    first = np.vstack([np.zeros(3), 0.5 * np.eye(3)])
    np.testing.assert_allclose(quickly(jax.jacrev(rn.quat_exp))(zero), first, atol=EPS)
    second = np.zeros((4, 3, 3))
    second[0] = -0.25 * np.eye(3)
    np.testing.assert_allclose(quickly(jax.hessian(rn.quat_exp))(zero), second, atol=EPS)


def test_derivatives_of_the_logarithm_undo_those_of_the_exponential():
    points = jnp.array([[0.0, 0.0, 0.0], [1e-9, 0.0, 0.0], [0.3, -0.2, 0.9], [2.0, 1.5, -1.5]])
    identity = np.broadcast_to(np.eye(3), (4, 3, 3))
    for there_and_back in (lambda x: rn.log(rn.exp(x)), lambda x: rn.quat_log(rn.quat_exp(x))):
        jacobian = jax.jacfwd(there_and_back)
        both = quickly(jax.vmap(lambda x, jacobian=jacobian: (jacobian(x), jax.jacfwd(jacobian)(x))))
        first, second = both(points)
        np.testing.assert_allclose(first, identity, atol=1e-13)
        np.testing.assert_allclose(second, 0.0, atol=1e-12)
