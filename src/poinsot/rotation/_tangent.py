"""Tangent maps of the exponential: angular velocity from the rate of the rotation vector, and back.

For a moving rotation vector, with R = exp(xi),

- body angular velocity, R' = R hat(Omega): Omega = Tr(xi) xi', the right map;
- space angular velocity, R' = hat(omega) R: omega = Tl(xi) xi', the left map.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Vec3

from ._checks import as_vector
from ._quaternion import G
from ._series import inverse_tangent_coefficient, stumpff
from ._so3 import quadratic_in_hat
from ._unit_quaternion import quat_exp


def Tl(xi: Vec3) -> Float[Array, "*batch 3 3"]:
    r"""Left tangent map: space angular velocity from the rate of the rotation vector.

    $$ T_l(\xi) = I + \frac{1-\cos\theta}{\theta^2}\,\hat\xi + \frac{\theta-\sin\theta}{\theta^3}\,\hat\xi^2,
       \qquad \omega = T_l(\xi)\,\dot\xi, \quad \dot R = \hat\omega R. $$
    """
    xi = as_vector(xi, "xi")
    x = jnp.sum(xi * xi, axis=-1)
    return quadratic_in_hat(xi, stumpff(2, x), stumpff(3, x))


def Tr(xi: Vec3) -> Float[Array, "*batch 3 3"]:
    r"""Right tangent map: body angular velocity from the rate of the rotation vector.

    $$ T_r(\xi) = T_l(-\xi) = T_l(\xi)^T, \qquad \Omega = T_r(\xi)\,\dot\xi, \quad \dot R = R\,\hat\Omega. $$
    """
    return Tl(-as_vector(xi, "xi"))


def Tl_inverse(xi: Vec3) -> Float[Array, "*batch 3 3"]:
    r"""Inverse of the left tangent map, for angles below a full turn.

    $$ T_l(\xi)^{-1} = I - \tfrac12\,\hat\xi
       + \frac{1}{\theta^2}\left(1 - \frac{\theta}{2}\cot\frac{\theta}{2}\right)\hat\xi^2. $$
    """
    xi = as_vector(xi, "xi")
    return quadratic_in_hat(xi, -0.5, inverse_tangent_coefficient(jnp.sum(xi * xi, axis=-1)))


def Tr_inverse(xi: Vec3) -> Float[Array, "*batch 3 3"]:
    r"""Inverse of the right tangent map, $T_r(\xi)^{-1} = T_l(-\xi)^{-1}$, for angles below a full turn."""
    return Tl_inverse(-as_vector(xi, "xi"))


def quat_tangent(xi: Vec3) -> Float[Array, "*batch 4 3"]:
    r"""Tangent map of `quat_exp`: rate of the unit quaternion from the rate of the rotation vector.

    $$ \dot p = \tfrac12\,G(p)^T\,T_r(\xi)\,\dot\xi, \qquad p = \operatorname{exp}(\xi). $$
    """
    return 0.5 * jnp.swapaxes(G(quat_exp(xi)), -1, -2) @ Tr(xi)


def quat_tangent_inverse(xi: Vec3) -> Float[Array, "*batch 3 4"]:
    r"""Rate of the rotation vector from the rate of the unit quaternion, for angles below a full turn.

    $$ \dot\xi = 2\,T_r(\xi)^{-1}\,G(p)\,\dot p. $$

    It inverts `quat_tangent` on tangent vectors and sends p itself to zero.
    """
    return 2.0 * Tr_inverse(xi) @ G(quat_exp(xi))
