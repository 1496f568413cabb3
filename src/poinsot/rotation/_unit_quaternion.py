"""Exponential and logarithm between rotation vectors and unit quaternions."""

import jax.numpy as jnp

from poinsot.core.types import Quat, Vec3

from ._checks import as_nonzero_quat, as_vector
from ._series import angle_over_sine, stumpff


def quat_exp(xi: Vec3) -> Quat:
    r"""Unit quaternion of a rotation vector.

    $$ \left(\cos\tfrac{\theta}{2},\; \frac{\sin(\theta/2)}{\theta}\,\xi\right), \qquad \theta = |\xi|. $$

    The argument is the same as that of `exp`: `to_matrix(quat_exp(xi))` equals `exp(xi)`.
    """
    xi = as_vector(xi, "xi")
    quarter = 0.25 * jnp.sum(xi * xi, axis=-1, keepdims=True)
    return jnp.concatenate([stumpff(0, quarter), 0.5 * stumpff(1, quarter) * xi], axis=-1)


def quat_log(quat: Quat) -> Vec3:
    r"""Rotation vector of a quaternion, $|\xi| \le \pi$; p and -p give the same one.

    $$ \xi = 2\operatorname{sign}(p_0)\,
       \frac{\operatorname{atan2}(|\mathbf{p}|, |p_0|)}{|\mathbf{p}|}\,\mathbf{p} $$

    The length of the quaternion does not matter.
    """
    quat = as_nonzero_quat(quat)
    scalar, imaginary = quat[..., :1], quat[..., 1:]
    sign = jnp.where(scalar < 0.0, -1.0, 1.0)
    ratio = angle_over_sine(jnp.sum(imaginary * imaginary, axis=-1, keepdims=True), sign * scalar)
    return 2.0 * ratio * sign * imaginary
