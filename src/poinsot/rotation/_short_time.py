"""The motion of a free rigid body as a power series in time."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Quat, Vec3

from ._quaternion import quat_rate


def short_time(inverse: Vec3, momentum: Vec3, h: Float[Array, "*batch"], terms: int) -> tuple[Quat, Vec3]:
    r"""Turn and momentum after a short time, from the first terms of their series.

    $$ \dot m = m \times \Omega, \qquad \dot p = \tfrac12\,p * \Omega, \qquad \Omega = J^{-1} m $$

    Args:
        inverse: inverse principal moments.
        momentum: angular momentum in the body frame.
        h: time.
        terms: highest power of the time.
    """
    one = jnp.broadcast_to(jnp.array([1.0, 0.0, 0.0, 0.0]), (*momentum.shape[:-1], 4))
    quats, momenta, omegas = [one], [momentum], [inverse * momentum]
    for k in range(terms):
        turning = [quat_rate(quats[j], omegas[k - j]) for j in range(k + 1)]
        moving = [jnp.cross(momenta[j], omegas[k - j]) for j in range(k + 1)]
        quats.append(sum(turning[1:], turning[0]) / (k + 1.0))
        momenta.append(sum(moving[1:], moving[0]) / (k + 1.0))
        omegas.append(inverse * momenta[-1])
    return _at(quats, h[..., None]), _at(momenta, h[..., None])


def _at(coefficients: list[Array], h: Array) -> Array:
    """The sum of a power series, by Horner's rule."""
    total = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = coefficient + h * total
    return total
