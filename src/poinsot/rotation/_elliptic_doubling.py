r"""Jacobi's elliptic functions and their derivatives, by doubling the argument.

With $s = \operatorname{sn}/\lambda$, $c = \operatorname{cn}$, $d = \operatorname{dn}$ of $\lambda h$,
$P = \lambda^2$ and $Q = k^2 \lambda^2$,

$$ s' = c d, \qquad c' = -P s d, \qquad d' = -Q s c, \qquad c^2 = 1 - P s^2, \qquad d^2 = 1 - Q s^2 . $$

They are smooth functions of $P$, $Q$ and $h$, also for $P = Q$, where the modulus $k$ is one, and for
$P = 0$.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

Batch = Float[Array, "*batch"]

DOUBLINGS = 32
"""How often the argument is doubled."""

# Where the first argument is above this square root, its series is no longer exact.
_SERIES_LIMIT = 1e-5


class Doubled(NamedTuple):
    r"""The functions, one less them, $W = \int_0^h s^2\,dt$, $U = \int_0^h (s/d)^2\,dt$, $h - s$."""

    s: Batch
    c: Batch
    d: Batch
    one_less_c: Batch
    one_less_d: Batch
    W: Batch
    U: Batch
    lag: Batch


def doubled_functions(P: Batch, Q: Batch, gap: Batch, h: Batch) -> Doubled:
    r"""The functions and integrals at $h$, from their series at $2^{-32} h$.

    $$ s \leftarrow \frac{2 s c d}{D}, \quad c \leftarrow \frac{c^2 d^2 - (P - Q) s^2}{D}, \quad
       d \leftarrow \frac{c^2 d^2 + (P - Q) s^2}{D}, \qquad D = c^2 + P s^2 d^2, $$

    $$ 1 - c \leftarrow \frac{2 P s^2 d^2}{D}, \qquad 1 - d \leftarrow \frac{2 Q s^2 c^2}{D}, \qquad
       W \leftarrow 2 W + s^2 s_2, \qquad U \leftarrow 2 U + \frac{s^2 s_2}{d^2 d_2}, $$

    $$ h - s \leftarrow 2 (h - s) + 2 s\,\frac{D - c d}{D} $$

    with the doubled $s_2$ and $d_2$. Small values keep their digits: $d$ next to $k = 1$, $1 - c$ and $h - s$
    for a short time or nearly equal moments. Arguments above $10^7$, where nothing is left of them, give NaN.

    Args:
        P: $\lambda^2$, zero or more.
        Q: $k^2 \lambda^2$, from zero to $P$.
        gap: $P - Q$, from a formula without cancellation.
        h: time.
    """
    t = h * 2.0**-DOUBLINGS
    x, y = P * t * t, Q * t * t
    total = x + y
    t = jnp.where(x < _SERIES_LIMIT, t, jnp.nan)
    lag = t * (total / 6.0 - (total * total + 12.0 * x * y) / 120.0)
    s = t - lag
    c, d = 1.0 - x / 2.0 + x * (x + 4.0 * y) / 24.0, 1.0 - y / 2.0 + y * (y + 4.0 * x) / 24.0
    less_c, less_d = P * s * s / (1.0 + c), Q * s * s / (1.0 + d)
    W, U = t**3 * _square(x, y), t**3 * _square(x - y, -y)
    start = Doubled(s, c, d, less_c, less_d, W, U, lag)
    return lax.scan(lambda values, _: (_double(P, Q, gap, values), None), start, length=DOUBLINGS)[0]


def _square(x: Batch, y: Batch) -> Batch:
    """Three terms of the integral of the square of s, divided by the third power of the time."""
    total = x + y
    return 1.0 / 3.0 - total / 15.0 + (total * total * (2.0 / 45.0) + x * y / 5.0) / 7.0


def _double(P: Batch, Q: Batch, gap: Batch, values: Doubled) -> Doubled:
    """Functions and integrals of twice the argument."""
    s, c, d, one_less_c, one_less_d, W, U, lag = values
    square, product = s * s, c * d
    over = 1.0 / (c * c + P * square * d * d)
    next_s, apart = 2.0 * s * product * over, gap * square
    less_c, less_d = 2.0 * P * square * d * d * over, 2.0 * Q * square * c * c * over
    next_c = jnp.where(less_c < 0.5, 1.0 - less_c, (product * product - apart) * over)
    next_d = jnp.where(less_d < 0.5, 1.0 - less_d, (product * product + apart) * over)
    next_U = 2.0 * U + square / (d * d) * (next_s / next_d)
    # D - c d, with D = 1 - P Q s^4.
    behind = one_less_c + one_less_d - one_less_c * one_less_d - P * Q * square * square
    next_lag = 2.0 * (lag + s * behind * over)
    return Doubled(next_s, next_c, next_d, less_c, less_d, 2.0 * W + square * next_s, next_U, next_lag)


class Functions(NamedTuple):
    """The functions, and what they lack of one."""

    s: Batch
    c: Batch
    d: Batch
    one_less_c: Batch
    one_less_d: Batch


@jax.custom_jvp
def smooth_functions(P: Batch, Q: Batch, gap: Batch, h: Batch) -> Functions:
    r"""`doubled_functions` without the integrals, with derivatives in $P$ and $Q$ in closed form.

    $$ \partial_P s = -\tfrac12 \left(s^3 - c d\,(W + U)\right), \quad
       \partial_P c = -\tfrac12 s \left(s c + P d\,(W + U)\right), \quad
       \partial_P d = \tfrac12 Q s \left(s^3/d - c\,(W + U)\right), $$

    $$ \partial_Q s = -\tfrac12 c d\,U, \qquad \partial_Q c = \tfrac12 P s d\,U, \qquad
       \partial_Q d = \tfrac12 s \left(Q c\,U - s/d\right) . $$

    They follow from the variational equation $(s'^2 w')' = s'\,\partial_P s''$, $\partial_P s = s' w$, and
    $\int (s/c)^2 + \int (s/d)^2 + \int s^2 = s^3/(c d)$. The gap, which is $P - Q$, has no derivative of its
    own.
    """
    return Functions(*doubled_functions(P, Q, gap, h)[:5])


@smooth_functions.defjvp
def _smooth_functions_jvp(primals, tangents):
    (P, Q, _, _), (dP, dQ, _, dh) = primals, tangents
    s, c, d, less_c, less_d, W, U, _ = doubled_functions(*primals)
    both, phase = W + U, U * dQ
    ds = c * d * dh - 0.5 * ((s**3 - c * d * both) * dP + c * d * phase)
    dc = -P * s * d * dh - 0.5 * s * ((s * c + P * d * both) * dP - P * d * phase)
    dd = -Q * s * c * dh + 0.5 * s * (Q * (s**3 / d - c * both) * dP + Q * c * phase - s / d * dQ)
    return Functions(s, c, d, less_c, less_d), Functions(ds, dc, dd, -dc, -dd)
