"""The rotation group SO(3) and its Lie algebra: hat, vee, exponential, logarithm."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Rot, Vec3
from poinsot.kernels import alone

from ._checks import as_square, as_vector
from ._extraction import from_matrix
from ._series import stumpff
from ._unit_quaternion import quat_log


def hat(vec: Vec3) -> Float[Array, "*batch 3 3"]:
    r"""Skew matrix of a vector, $\hat a\,b = a \times b$."""
    vec = as_vector(vec, "vec")
    x, y, z = (vec[..., i] for i in range(3))
    zero = jnp.zeros_like(x)
    rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def vee(skew: Float[Array, "*batch 3 3"]) -> Vec3:
    """Vector (S32, S13, S21) of a skew matrix, the inverse of `hat`."""
    skew = as_square(skew, "skew")
    return jnp.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)


def quadratic_in_hat(
    xi: Vec3, linear: Float[Array, "*batch"] | float, square: Float[Array, "*batch"]
) -> Float[Array, "*batch 3 3"]:
    r"""Matrix $I + a\,\hat\xi + b\,\hat\xi^2$, the form of the exponential and of all its tangent maps."""
    skew = hat(xi)
    linear = jnp.broadcast_to(linear, square.shape)
    unit = jnp.broadcast_to(jnp.eye(3), skew.shape)
    return unit + linear[..., None, None] * skew + square[..., None, None] * (skew @ skew)


def exp(xi: Vec3) -> Rot:
    r"""Rotation matrix of a rotation vector (Rodrigues).

    $$ \exp\hat\xi = I + \frac{\sin\theta}{\theta}\,\hat\xi + \frac{1-\cos\theta}{\theta^2}\,\hat\xi^2,
       \qquad \theta = |\xi|. $$
    """
    return _exp(as_vector(xi, "xi"))


@alone
def _exp(xi: Vec3) -> Rot:
    x = jnp.sum(xi * xi, axis=-1)
    return quadratic_in_hat(xi, stumpff(1, x), stumpff(2, x))


def log(rot: Rot) -> Vec3:
    r"""Rotation vector of a rotation matrix, $|\xi| \le \pi$.

    The way leads over the quaternion, so that small angles and angles next to a half turn are as accurate as
    any. At a half turn exactly, $\xi$ and $-\xi$ are the same rotation and one of them is returned.
    """
    return quat_log(from_matrix(rot))
