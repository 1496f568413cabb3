r"""The derivative of the free rotation, from the variational equation of the motion.

A change of the start, or of the moments of inertia, turns the body at the end by $\eta$ in its frame,
$\delta R = R\,\hat\eta$. Since $m' = R^T m$, with the momentum $m$ at the start and $m'$ at the end,

$$ m' \times \eta = \delta m' - R^T \delta m, \qquad
   m' \cdot \eta = h\,\Omega\cdot\delta m
   + \tfrac12 \sum_i \delta a_i \Big(h\,m_i^2 + \int_0^h m_i^2\,dt\Big), \qquad a_i = 1/J_i . $$

The second equation is the first variation of the action $\int_0^h T\,dt = h\,T$. So what is needed are the
derivatives of $m'$, and integrals of the second kind: nothing that is singular on the unstable axis, on the
paths that lead there, or for equal moments. Second derivatives are those of the formulas below.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Quat, Vec3

from ._arranged_frame import Components, arrange
from ._elliptic_doubling import doubled_functions, smooth_functions
from ._quaternion import multiply

Batch = Float[Array, "*batch"]


def turn_and_momentum_tangent(
    inverse: Vec3, momentum: Vec3, h: Batch, rates: tuple[Vec3, Vec3, Batch], turn: Quat, end: Vec3
) -> tuple[Quat, Vec3]:
    """Tangents of the turn and of the momentum at the end.

    Args:
        inverse: inverse principal moments.
        momentum: angular momentum in the body frame, not zero.
        h: time.
        rates: tangents of these three.
        turn: the turn, a unit quaternion.
        end: the momentum at the end.
    """
    inverse_rate, momentum_rate, h_rate = rates
    change_rate = jax.jvp(
        lambda a, m: _momentum_change(a, m, h), (inverse, momentum), (inverse_rate, momentum_rate)
    )[1]
    scalar, vector = turn[..., :1], turn[..., 1:]
    across = jnp.cross(vector, momentum_rate) - scalar * momentum_rate
    moved = change_rate - 2.0 * jnp.cross(vector, across)
    work = 0.5 * inverse_rate * (h[..., None] * momentum**2 + _integrals_of_squares(inverse, momentum, h))
    along = jnp.sum(h[..., None] * inverse * momentum * momentum_rate + work, axis=-1, keepdims=True)
    eta = (along * end - jnp.cross(end, moved)) / jnp.sum(end * end, axis=-1, keepdims=True)
    omega = inverse * end
    eta = eta + h_rate[..., None] * omega
    pure = jnp.concatenate([jnp.zeros_like(scalar), eta], axis=-1)
    end_rate = momentum_rate + change_rate + h_rate[..., None] * jnp.cross(end, omega)
    return 0.5 * multiply(turn, pure), end_rate


def _gaps(a: Components) -> Components:
    r"""$\alpha$, $\beta$ and $\gamma$ of the arranged frame."""
    return a[1] - a[2], a[0] - a[2], a[0] - a[1]


def _modulus(a: Components, m: Components) -> Components:
    r"""$\lambda^2$, $k^2 \lambda^2$ and their difference $\alpha\beta\,b^2$."""
    (alpha, beta, gamma), (m1, m2, m3) = _gaps(a), m
    rate_squared = alpha * (gamma * m2 * m2 + beta * m3 * m3)
    product = gamma * (beta * m1 * m1 + alpha * m2 * m2)
    return rate_squared, product, beta * (alpha * m3 * m3 - gamma * m1 * m1)


def _momentum_change(inverse: Vec3, momentum: Vec3, h: Batch) -> Vec3:
    r"""Change of the momentum by the addition theorems, smooth everywhere.

    With $s$, $c$, $d$ of `_elliptic_doubling` and
    $D = c^2 + \alpha\beta\,s^2 m_3^2 = 1 - \alpha\gamma\,s^2 m_2^2$,

    $$ \Delta m_1 = \frac{(c - D)\,m_1 - \alpha s d\,m_2 m_3}{D}, \quad
       \Delta m_2 = \frac{(c d - D)\,m_2 + \beta s\,m_1 m_3}{D}, \quad
       \Delta m_3 = \frac{(d - D)\,m_3 - \gamma s c\,m_1 m_2}{D}, $$

    where for a short time the differences are formed of $1 - c$, $1 - d$ and $1 - D$.
    """
    frame, a, m = arrange(inverse, momentum)
    (alpha, beta, gamma), (m1, m2, m3) = _gaps(a), m
    s, c, d, less_c, less_d = smooth_functions(*_modulus(a, m), h)
    divisor, less = c * c + alpha * beta * (s * m3) ** 2, alpha * gamma * (s * m2) ** 2
    short = less_c < 0.5
    first = jnp.where(short, less - less_c, c - divisor)
    second = jnp.where(short, less - less_c - less_d + less_c * less_d, c * d - divisor)
    third = jnp.where(short, less - less_d, d - divisor)
    change = (
        (first * m1 - alpha * s * d * m2 * m3) / divisor,
        (second * m2 + beta * s * m1 * m3) / divisor,
        (third * m3 - gamma * s * c * m1 * m2) / divisor,
    )
    return jnp.stack(frame.restore(change), axis=-1)


def _integrals_of_squares(inverse: Vec3, momentum: Vec3, h: Batch) -> Vec3:
    r"""$\int_0^h m_i^2\,dt$, with $W = \int_0^h s^2\,dt$.

    $$ \int_0^h m_2^2\,dt = \beta a^2\,(\beta\,m_1^2 + \alpha\,m_2^2)\,W + s\,m_2 m_2'
       = h\,m_2^2 + \beta E, $$

    and the others from $\beta\,m_1^2 + \alpha\,m_2^2$ and $\beta\,m_3^2 + \gamma\,m_2^2 = \beta a^2$, which
    are constant. $E$ is formed without a division of nothing by nothing: with $p = \alpha/\beta$,
    $q = \gamma/\beta$ and $v = (D - c d)/\beta$, in which every term has a factor $p$ or $q$,

    $$ E = a^2 (\beta\,m_1^2 + \alpha\,m_2^2)\,W + s\,m_2 \frac{s\,m_1 m_3 - v\,m_2}{D}
       - m_2^2\,\frac{h - s}{\beta} . $$
    """
    frame, a, m = arrange(inverse, momentum)
    (alpha, beta, gamma), (m1, m2, m3) = _gaps(a), m
    s, c, d, less_c, less_d, W, _, lag = doubled_functions(*_modulus(a, m), h)
    divisor = c * c + alpha * beta * (s * m3) ** 2
    over_beta = 1.0 / jnp.where(beta == 0.0, 1.0, beta)
    circle, height = beta * m1 * m1 + alpha * m2 * m2, m3 * m3 + gamma * over_beta * m2 * m2
    behind = (less_c + less_d - less_c * less_d - alpha * gamma * (s * m2) ** 2) * over_beta
    change = s * m2 * (s * m1 * m3 - behind * m2) / divisor - m2 * m2 * lag * over_beta
    more = height * circle * W + change
    squares = (h * m1 * m1 - alpha * more, h * m2 * m2 + beta * more, h * m3 * m3 - gamma * more)
    return jnp.stack(frame.restore_squares(squares), axis=-1)
