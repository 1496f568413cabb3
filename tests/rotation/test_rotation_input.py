"""Wrong shapes and numbers that are no rotations are refused in one line; traced ones by their shapes."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot import rotation as typed

rotation: Any = typed
"""Without types: what is given here is wrong on purpose."""


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rotation.euler_quaternion("zxz", (1, 2)), r"angles has shape \(2,\); .* three numbers"),
        (lambda: rotation.euler("zxz", (1, 2, 3, 4)), r"angles has shape \(4,\)"),
        (lambda: rotation.euler("zxq", (1, 2, 3)), "sequence 'zxq' is not known"),
        (lambda: rotation.to_matrix(jnp.eye(3)), r"quat has shape \(3, 3\); it must be a quaternion"),
        (lambda: rotation.about_axis((1, 0), 1.0), r"axis has shape \(2,\)"),
        (lambda: rotation.about_axis((np.nan, 0, 0), 1.0), r"axis\[0\] = nan"),
        (lambda: rotation.from_matrix(2 * jnp.eye(3)), "identity by 3; take pt.rotation.nearest_rotation"),
        (lambda: rotation.from_matrix(-jnp.eye(3)), "a reflection"),
        (lambda: rotation.from_matrix(np.full((3, 3), np.nan)), r"rot\[0, 0\] = nan; it must be finite"),
        (lambda: rotation.log(jnp.ones((3, 3))), "not a rotation matrix"),
        (lambda: rotation.euler_angles("zxz", 2 * jnp.eye(3)), "not a rotation matrix"),
        (lambda: rotation.nearest_rotation(np.ones((2, 2))), r"matrix has shape \(2, 2\)"),
        (lambda: rotation.normalise((0, 0, 0, 0)), "the quaternion zero"),
        (lambda: rotation.multiply((1, 0, 0), (1, 0, 0, 0)), r"left has shape \(3,\)"),
        (lambda: rotation.rotate((1, 0, 0, 0), (1, 0)), r"vec has shape \(2,\)"),
        (lambda: rotation.quat_rate((1, 0, 0, 0), 1.0), r"omega_body has shape \(\)"),
        (lambda: rotation.exp("abc"), "xi = 'abc'; it must be three numbers"),
        (lambda: rotation.exp([10**400, 0, 0]), "beyond the range of double precision"),
        (lambda: rotation.hat((1, 2)), r"vec has shape \(2,\)"),
        (lambda: rotation.vee((1, 2, 3)), r"skew has shape \(3,\)"),
    ],
)
def test_refused(call, message):
    with pytest.raises(pt.InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_lists_and_integers_are_numbers():
    np.testing.assert_array_equal(rotation.to_matrix([1, 0, 0, 0]), np.eye(3))
    np.testing.assert_array_equal(rotation.from_matrix(np.eye(3, dtype=int)), [1.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(rotation.rotate((1, 0, 0, 0), (1, 2, 3)), [1.0, 2.0, 3.0])


@pytest.mark.parametrize("size", [1e308, 1e-200, 3.0])
def test_axes_of_any_length(size):
    axis = np.array([0.6, 0.0, 0.8])
    np.testing.assert_allclose(
        rotation.about_axis(size * axis, 0.7), rotation.about_axis(axis, 0.7), rtol=0, atol=1e-15
    )


def test_traced_rotations_are_checked_by_their_shapes():
    with pytest.raises(pt.InputError, match="quat has shape"):
        jax.jit(rotation.to_matrix)(jnp.eye(3))
    # The numbers are not known while tracing: what comes out is the user's own business.
    assert np.isfinite(jax.jit(rotation.from_matrix)(2 * jnp.eye(3))).all()
    slope = jax.grad(lambda a: rotation.about_axis(a, 0.3)[0, 1])(jnp.array([1.0, 2.0, 2.0]))
    assert np.isfinite(slope).all()


def test_drifted_matrices_have_a_quaternion():
    """A matrix of seven digits is still one of a rotation: `nearest_rotation` mends it, if one wants."""
    rot = np.round(np.asarray(rotation.about_axis((1.0, 2.0, 3.0), 0.4)), 8)
    np.testing.assert_allclose(rotation.to_matrix(rotation.from_matrix(rot)), rot, atol=1e-7)
