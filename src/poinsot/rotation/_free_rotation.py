r"""The exact motion of a free rigid body over any time, in Jacobi's elliptic functions.

The body frame is arranged so that the angular momentum $m$ circles the third axis on its positive side and
the second axis is the middle one. With $\alpha = 1/J_2 - 1/J_3$, $\beta = 1/J_1 - 1/J_3$,
$\gamma = 1/J_1 - 1/J_2$, all of one sign,

$$ \dot m_1 = -\alpha\,m_2 m_3, \qquad \dot m_2 = \beta\,m_3 m_1, \qquad \dot m_3 = -\gamma\,m_1 m_2, $$

and $m_3$ is a dn function that moves between $b$ and $a$,

$$ a^2 = m_3^2 + \tfrac{\gamma}{\beta} m_2^2, \qquad b^2 = m_3^2 - \tfrac{\gamma}{\alpha} m_1^2, \qquad
   k' = b / a, \qquad \lambda^2 = \alpha\beta\,a^2 . $$
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import held
from poinsot.core.types import Quat, Vec3

from ._arranged_frame import Components, arrange
from ._elliptic import (
    LEAST_MODULUS,
    EllipticFunctions,
    Means,
    arithmetic_geometric_means,
    elliptic_functions,
)
from ._free_rotation_tangent import turn_and_momentum_tangent
from ._short_time import short_time
from ._sincos import sincos

Batch = Float[Array, "*batch"]

# Below this squared angle of a step two terms of the series in time are exact to round-off.
_SLOW = 1e-14
# Below this one derivatives are those of so many terms: others lose the digits that the turn has in common
# with no turn.
_SHORT, _TERMS = 4e-6, 5


def free_rotation(moments: Vec3, momentum: Vec3, h: Float[Array, "*batch"] | float) -> tuple[Quat, Vec3]:
    r"""Turn and new body angular momentum of a free rigid body after the time h.

    $$ \dot R = R\,\hat\Omega, \qquad \dot m = m \times \Omega, \qquad \Omega = J^{-1} m ; \qquad
       R(h) = R(0)\,R(\Delta), \qquad q(h) = q(0) * \Delta . $$

    Exact to round-off for every step size, positive or negative, and every body: with distinct, nearly equal
    and equal moments, about stable axes and next to the unstable one, and at rest. Elliptic functions give
    $m$; the angle about the fixed angular momentum is an integral of the third kind, which the means that
    give the elliptic functions also give, see `_turn_about_momentum`. No sign of $\Delta$ is preferred.

    First and second derivatives, forward and reverse, are exact everywhere too, see `_free_rotation_tangent`.

    Args:
        moments: principal moments of inertia, in any order, all positive.
        momentum: angular momentum in the principal body frame.
        h: time.

    Returns:
        The unit quaternion of the turn in the body frame, and the angular momentum at the end.
    """
    return _rotated(
        1.0 / moments, momentum, jnp.broadcast_to(jnp.asarray(h, dtype=float), momentum.shape[:-1])
    )


@jax.custom_jvp
def _rotated(inverse: Vec3, momentum: Vec3, h: Batch) -> tuple[Quat, Vec3]:
    """`free_rotation`, of inverse moments."""
    frame, (a1, a2, a3), m = arrange(inverse, momentum)
    slow = _squared_angle(inverse, momentum, h) < _SLOW
    orbit = _orbit(a2 - a3, a1 - a3, a1 - a2, m, slow)
    means = arithmetic_geometric_means(orbit.complementary_modulus)
    rate_squared = orbit.alpha * (orbit.gamma * orbit.m[1] ** 2 + orbit.beta * orbit.m[2] ** 2)
    functions = elliptic_functions(rate_squared, orbit.gamma * orbit.circle, means, h)
    end = _advance(orbit, functions)
    cosine, sine = _turn_about_momentum(orbit, means, end, a3, h)
    turn = _compose(orbit.length, orbit.m, end, cosine, sine)
    vector = frame.restore(turn[1:])
    exact = jnp.stack([turn[0], *vector], axis=-1), jnp.stack(frame.restore(end), axis=-1)
    series = short_time(inverse, momentum, h, 2)
    choice = slow[..., None]
    return jnp.where(choice, series[0], exact[0]), jnp.where(choice, series[1], exact[1])


@_rotated.defjvp
def _rotated_jvp(primals, tangents):
    inverse, momentum, h = primals
    turn, end = _rotated(*primals)
    short = _squared_angle(*primals) < _SHORT
    series = jax.jvp(partial(short_time, terms=_TERMS), primals, tangents)[1]
    # Where the series serves, the other formula must be finite.
    m, m_end = (jnp.where(short[..., None], 1.0, vector) for vector in (momentum, end))
    exact = turn_and_momentum_tangent(inverse, m, h, tangents, turn, m_end)
    turn_rate, end_rate = (jnp.where(short[..., None], *pair) for pair in zip(series, exact, strict=True))
    return (turn, end), (turn_rate, end_rate)


def _squared_angle(inverse: Vec3, momentum: Vec3, h: Batch) -> Batch:
    """About the square of the angle of the turn."""
    omega = inverse * momentum
    return jnp.max(omega * omega, axis=-1) * h * h


class _Orbit(NamedTuple):
    """The path of the momentum in the arranged frame, see the head of this file."""

    alpha: Batch
    beta: Batch
    gamma: Batch
    ratio: Batch
    m: Components
    over_beta: Batch
    length: Batch
    circle: Batch
    a: Batch
    b: Batch
    complementary_modulus: Batch


def _orbit(alpha: Batch, beta: Batch, gamma: Batch, m: Components, slow: Array) -> _Orbit:
    r"""Constants of the path: $|m|$, $\beta\,m_1^2 + \alpha\,m_2^2$, $a$, $b$ and $k'$.

    Momenta so close to the unstable axis, or to the paths that lead there, that the rounding of the data
    decides which way they turn are moved by as much as rounding would, to where $k'$ is `LEAST_MODULUS`.
    """
    m1, m2, m3 = m
    level = m3 == 0.0
    ratio = gamma / jnp.where(alpha == 0.0, 1.0, alpha)
    over_beta = jnp.where(beta == 0.0, 0.0, 1.0 / jnp.where(beta == 0.0, 1.0, beta))
    spread = gamma * over_beta * m2 * m2
    still = level & (spread == 0.0)
    a = jnp.sqrt(m3 * m3 + spread)
    least = LEAST_MODULUS * a
    m3 = jnp.where(level, m3, jnp.maximum(m3, least))
    b_squared = m3 * m3 - ratio * m1 * m1
    close = b_squared <= least * least
    b = jnp.where(close, least, jnp.sqrt(jnp.where(close, 1.0, b_squared)))
    move = close & ~level & (m1 != 0.0)
    squares = (m3 * m3 - least * least) / jnp.where(move, ratio * m1 * m1, 1.0)
    m1 = m1 * jnp.sqrt(jnp.where(move, squares, 1.0))
    complementary_modulus = jnp.where(still, 1.0, b / jnp.where(still, 1.0, a))
    length = jnp.sqrt(jnp.where(slow, 1.0, m1 * m1 + m2 * m2 + m3 * m3))
    circle = beta * m1 * m1 + alpha * m2 * m2
    m1, m2, m3, *rest = held((m1, m2, m3, over_beta, length, circle, a, b, complementary_modulus))
    return _Orbit(alpha, beta, gamma, ratio, (m1, m2, m3), *rest)


def _advance(orbit: _Orbit, functions: EllipticFunctions) -> Components:
    r"""The momentum at the end, by the addition theorems.

    With $s = \operatorname{sn}/\lambda$, $c = \operatorname{cn}$, $d = \operatorname{dn}$ of $\lambda h$,

    $$ m_1' = \frac{m_1 c - \alpha s d\,m_2 m_3}{D}, \quad m_2' = \frac{m_2 c d + \beta s\,m_1 m_3}{D}, \quad
       m_3' = \frac{m_3 d - \gamma s c\,m_1 m_2}{D}, \qquad D = c^2 + \alpha\beta s^2 m_3^2 . $$

    Where the first and third would be differences of nearly equal terms, their conjugates serve:

    $$ m_1' = \frac{(m_1 c)^2 - (\alpha s b\,m_2)^2}{m_1 c + \alpha s d\,m_2 m_3}, \qquad
       m_3' = \frac{b^2 + (\gamma/\alpha)(m_1 c)^2}{m_3 d + \gamma s c\,m_1 m_2}. $$
    """
    s, c, d = functions
    m1, m2, m3 = orbit.m
    first, from_first = m1 * c, orbit.alpha * s * d * m2 * m3
    third, from_third = m3 * d, orbit.gamma * s * c * m1 * m2
    divisor = c * c + orbit.alpha * orbit.beta * (s * m3) ** 2
    inverse = 1.0 / divisor
    cancels = (first * from_first > 0.0) & (from_third > 0.0)
    reach = orbit.alpha * s * orbit.b * m2
    m1_conjugate = (first - reach) * (first + reach) / jnp.where(cancels, first + from_first, 1.0)
    m3_conjugate = (orbit.b**2 + orbit.ratio * first**2) / jnp.where(cancels, third + from_third, 1.0)
    # Exactly on the unstable axis nothing moves.
    steady = (m1 == 0.0) & (m3 == 0.0)
    change = (
        jnp.where(cancels, m1_conjugate - m1, (m1 * (c - divisor) - from_first) * inverse),
        jnp.where(steady, 0.0, (m2 * (c * d - divisor) + orbit.beta * s * m1 * m3) * inverse),
        jnp.where(cancels, m3_conjugate - m3, (m3 * (d - divisor) - from_third) * inverse),
    )
    return _on_path(orbit, held(change))


def _on_path(orbit: _Orbit, change: tuple[Batch, ...]) -> Components:
    r"""The momentum at the end, with its change corrected so that it is on its path.

    The errors of the elliptic functions are a few units of round-off, but they repeat in every step, and so
    would shift the energy in proportion to the steps taken. One step of Newton's method restores
    $\beta\,m_1^2 + \alpha\,m_2^2$ by a common factor of both, and then $m_3^2 + (\gamma/\beta)\,m_2^2$ by one
    of $m_3$, damped where $m_3$ is so small that the sum has few digits for it. It acts on the changes, which
    are added to the start at last: so every component is rounded once, up as often as down. Factors next to
    one, which has closer neighbours below than above, would shrink the momentum.
    """
    (m1, m2, m3), (d1, d2, d3) = orbit.m, change
    circle = jnp.where(orbit.circle == 0.0, 1.0, orbit.circle)
    left = orbit.beta * d1 * (2.0 * m1 + d1) + orbit.alpha * d2 * (2.0 * m2 + d2)
    excess = 0.5 * left / circle
    d1, d2 = d1 - excess * (m1 + d1), d2 - excess * (m2 + d2)
    left = d3 * (2.0 * m3 + d3) + orbit.gamma * orbit.over_beta * d2 * (2.0 * m2 + d2)
    end = m3 + d3
    size = jnp.maximum(end * end, 0.25 * orbit.a**2)
    d3 = d3 - 0.5 * left / jnp.where(size == 0.0, 1.0, size) * end
    m1, m2, m3 = held((m1 + d1, m2 + d2, m3 + d3))
    return m1, m2, m3


def _turn_about_momentum(
    orbit: _Orbit, means: Means, end: Components, a3: Batch, h: Batch
) -> tuple[Batch, Batch]:
    r"""Cosine and sine of half the angle about the angular momentum.

    After the shortest turn that takes $m$ to the third axis, what is left is a turn about that axis by

    $$ \psi = \frac{|m|}{J_3}\,h + \int_0^h \frac{g\,dt}{\rho + \delta}, \qquad \rho = |m|, \quad
       \delta = m_3, \quad g = \beta\,m_1^2 + \alpha\,m_2^2 . $$

    The mean of $\delta(t)$ and $ab/\delta(t)$, its value half a period later, is again a dn function, of the
    next means and of $2t$. So the integral is one over the same expression in

    $$ \rho_{n+1} = \tfrac12 (\rho_n + a_n b_n / \rho_n), \quad
       \delta_{n+1} = \tfrac12 (\delta_n + a_n b_n / \delta_n), \quad
       g_{n+1} = g_n \frac{\rho_n - \rho_{n+1}}{2 \rho_n}, $$

    plus a steady and an elementary part; on the last level $\delta$ is constant. With the logarithmic
    derivative $w = \dot\delta / (\alpha\delta)$,
    $w_{n+1} = w_n (\delta_n - a_n b_n/\delta_n) / (4 \delta_{n+1})$,

    $$ \int_0^h \frac{g\,dt}{\rho + \delta}
       = h \left( \sum_n \frac{g_n}{2 \rho_n} + \frac{g_N}{\rho_N + a_N} \right)
       + \sum_n 2^{-n} \Big[ \arctan \frac{g_n w_n}
         {4 \beta \rho_n (\rho_{n+1} + a_{n+1}) (a_{n+1} + \delta_{n+1})} \Big]_0^h . $$

    All terms of the first sum have one sign, and no arctangent leaves $(-\pi/4, \pi/4)$. The second sum is
    formed by half angles, on complex numbers.
    """
    rho, g = orbit.length, orbit.circle
    # On the unstable axis, and in the plane of equal moments, delta is zero for ever.
    a = jnp.where(orbit.m[2] == 0.0, orbit.m[2], orbit.a)

    def level(state, means):
        rate, g, rho, start, end = state
        mean, product = means[2], means[0] * means[1]
        steady = 0.5 * g / rho
        next_rho = 0.5 * (rho + a * a * product / rho)
        factor = 0.5 * orbit.over_beta * steady / (next_rho + mean * a)
        start, x = _next_level(start, product, mean)
        end, y = _next_level(end, product, mean)
        x, y = factor * x, factor * y
        return (rate + steady, steady * (rho - next_rho), next_rho, start, end), (1.0 + x * y, y - x)

    def halve(angle, turn):
        (real, imaginary), (x, y) = angle, turn
        return _half_angle(real * x - imaginary * y, real * y + imaginary * x), None

    zero, one = jnp.zeros_like(rho), jnp.ones_like(rho)
    start = (zero, g, rho, _logarithmic_slope(orbit, orbit.m), _logarithmic_slope(orbit, end))
    (rate, g, rho, _, _), turns = lax.scan(level, start, means[:3])
    (real, imaginary), _ = lax.scan(halve, (one, zero), turns, reverse=True)
    rate = rate + g / (rho + means.limit * a)
    sine, cosine = sincos(0.5 * h * (orbit.length * a3 + rate))
    cosine, sine = held((cosine * real - sine * imaginary, sine * real + cosine * imaginary))
    return cosine, sine


def _half_angle(real: Batch, imaginary: Batch) -> tuple[Batch, Batch]:
    """Unit complex number of half the angle, for angles below a half turn."""
    modulus = jnp.sqrt(real * real + imaginary * imaginary)
    real = real + modulus
    scale = 1.0 / jnp.sqrt(2.0 * real * modulus)
    return real * scale, imaginary * scale


def _logarithmic_slope(orbit: _Orbit, m: Components) -> tuple[Batch, Batch]:
    r"""$\delta = m_3$ in units of $a$, and $w = \dot\delta / (\alpha \delta)$ in the same units."""
    m1, m2, m3 = m
    level = orbit.m[2] == 0.0
    height = jnp.where(level, 1.0, jnp.maximum(m3, orbit.b))
    a = jnp.where(level, 1.0, orbit.a)
    return height / a, jnp.where(level, 0.0, -orbit.ratio * m1 * m2 / (height * a))


def _next_level(level: tuple[Batch, Batch], product: Batch, mean: Batch) -> tuple[tuple[Batch, Batch], Batch]:
    r"""$\delta_{n+1}$ and $w_{n+1}$, and the tangent $w_n / (a_{n+1} + \delta_{n+1})$."""
    delta, slope = level
    later = product / delta
    next_delta = 0.5 * (delta + later)
    return (next_delta, slope * (delta - later) / (4.0 * next_delta)), slope / (mean + next_delta)


def _compose(
    length: Batch, start: Components, end: Components, cosine: Batch, sine: Batch
) -> tuple[Batch, Batch, Batch, Batch]:
    r"""The turn $\bar p(m) * (\cos\tfrac\psi2, 0, 0, \sin\tfrac\psi2) * p(m')$, of unit length.

    $p(m) \propto (|m| + m_3,\, m_2,\, -m_1,\, 0)$ is the shortest turn of $m$ to the third axis.
    """
    v, x, y = length + start[2], start[1], -start[0]
    w, u, z = length + end[2], end[1], -end[0]
    parts = (
        cosine * (v * w + x * u + y * z) + sine * (y * u - x * z),
        cosine * (v * u - w * x) - sine * (v * z + w * y),
        cosine * (v * z - w * y) + sine * (v * u + w * x),
        cosine * (y * u - x * z) + sine * (v * w - x * u - y * z),
    )
    scale = 1.0 / jnp.sqrt(sum(part * part for part in parts))
    return parts[0] * scale, parts[1] * scale, parts[2] * scale, parts[3] * scale
