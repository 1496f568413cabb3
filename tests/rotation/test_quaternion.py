"""Quaternion algebra: group axioms, conventions, and SciPy as the other opinion."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from rotation_strategies import EPS, apply, largest_gap, property_test, unit_quaternions, vectors, writable
from scipy.spatial.transform import Rotation

from poinsot import rotation as rn
from quickly import quickly

multiply = quickly(rn.multiply)
rotate = quickly(rn.rotate)
UNIT = jnp.eye(4)


def test_hamilton_convention():
    one, i, j, k = UNIT
    np.testing.assert_array_equal(rn.identity(), one)
    np.testing.assert_array_equal(multiply(i, j), k)
    np.testing.assert_array_equal(multiply(j, i), -k)
    np.testing.assert_array_equal(multiply(multiply(i, j), k), -one)


def test_scalar_last_is_the_order_of_scipy():
    half = np.pi / 8.0
    about_z = jnp.array([np.cos(half), 0.0, 0.0, np.sin(half)])
    oracle = Rotation.from_quat(writable(rn.to_scalar_last(about_z)))
    np.testing.assert_allclose(oracle.as_rotvec(), [0.0, 0.0, np.pi / 4.0], atol=4 * EPS)
    np.testing.assert_array_equal(rn.to_scalar_last(about_z), [0.0, 0.0, np.sin(half), np.cos(half)])
    np.testing.assert_array_equal(rn.from_scalar_last(rn.to_scalar_last(about_z)), about_z)


@quickly
def group_axioms(p, q, r):
    one = jnp.broadcast_to(rn.identity(), p.shape)
    return {
        "associative": rn.multiply(rn.multiply(p, q), r) - rn.multiply(p, rn.multiply(q, r)),
        "left identity": rn.multiply(one, p) - p,
        "right identity": rn.multiply(p, one) - p,
        "inverse": rn.multiply(p, rn.inverse(p)) - one,
        "inverse of any length": rn.multiply(rn.inverse(3.0 * p), 3.0 * p) - one,
        "unit conjugate": rn.inverse(p) - rn.conjugate(p),
        "reversal": rn.conjugate(rn.multiply(p, q)) - rn.multiply(rn.conjugate(q), rn.conjugate(p)),
        "norm": jnp.sum(rn.multiply(p, 2.0 * q) ** 2, axis=-1) - 4.0,
        "normalise": rn.normalise(7.0 * p) - p,
    }


@property_test
@given(unit_quaternions, unit_quaternions, unit_quaternions)
def test_group_axioms(p, q, r):
    for axiom, defect in group_axioms(p, q, r).items():
        assert largest_gap(defect, 0.0) < 30 * EPS, axiom


@property_test
@given(unit_quaternions, unit_quaternions, vectors)
def test_rotation_agrees_with_scipy_and_respects_products(p, q, v):
    size = 1.0 + float(jnp.max(jnp.abs(v)))
    turned = rotate(p, v)
    oracle = Rotation.from_quat(writable(p), scalar_first=True)
    assert largest_gap(turned, oracle.apply(writable(v))) < 20 * EPS * size
    assert largest_gap(rotate(multiply(p, q), v), rotate(p, rotate(q, v))) < 40 * EPS * size
    assert largest_gap(rotate(2.0 * p, v), 4.0 * turned) < 20 * EPS * size


def test_order_of_a_product_matters():
    p, q = rn.normalise(jnp.array([1.0, 2.0, 3.0, 4.0])), rn.normalise(jnp.array([1.0, -2.0, 0.0, 1.0]))
    v = jnp.array([1.0, 2.0, 3.0])
    assert largest_gap(rotate(multiply(q, p), v), rotate(p, rotate(q, v))) > 0.1


@quickly
def matrix_identities(p, q):
    left, g = rn.left_matrix(p), rn.G(p)
    square = jnp.sum(p * p, axis=-1)[:, None, None]
    transposed = jnp.swapaxes(left, -1, -2)
    return {
        "Q q = p*q": apply(left, q) - rn.multiply(p, q),
        "Q^T q = conj(p)*q": apply(transposed, q) - rn.multiply(rn.conjugate(p), q),
        "Q Q^T": left @ transposed - square * jnp.eye(4)[None],
        "G columns": g - jnp.swapaxes(left[..., 1:], -1, -2),
        "G p": apply(g, p),
        "G G^T": g @ jnp.swapaxes(g, -1, -2) - square * jnp.eye(3)[None],
        "G(p)q = -G(q)p": apply(g, q) + apply(rn.G(q), p),
    }


@property_test
@given(unit_quaternions, unit_quaternions)
def test_matrices_of_products(p, q):
    for identity, defect in matrix_identities(1.5 * p, q).items():
        assert largest_gap(defect, 0.0) < 20 * EPS, identity


@quickly
def rates(p, omega):
    rate = rn.quat_rate(p, omega)
    rot, rot_rate = jax.jvp(rn.to_matrix, (p,), (rate,))
    return {
        "matrix": rot_rate - rot @ rn.hat(omega),
        "back": rn.omega_body(p, rate) - omega,
        "radial part ignored": rn.omega_body(p, rate + 5.0 * p) - omega,
    }


@property_test
@given(unit_quaternions, vectors)
def test_rate_is_that_of_the_body_angular_velocity(p, omega):
    for name, defect in rates(p, omega).items():
        assert largest_gap(defect, 0.0) < 300 * EPS, name


def test_space_angular_velocity_would_not_pass():
    p, omega = rn.normalise(jnp.array([1.0, 2.0, 3.0, 4.0])), jnp.array([1.0, 2.0, -1.0])
    rot, rot_rate = jax.jvp(rn.to_matrix, (p,), (rn.quat_rate(p, omega),))
    assert largest_gap(rot_rate, rn.hat(omega) @ rot) > 0.1
