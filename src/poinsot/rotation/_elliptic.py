r"""Jacobi's elliptic functions from the arithmetic-geometric mean.

The means

$$ a_{n+1} = \tfrac12 (a_n + b_n), \qquad b_{n+1} = \sqrt{a_n b_n}, \qquad a_0 = 1, \quad b_0 = k', $$

meet so fast that a fixed number of levels serves every modulus. Gauss's transformation takes the functions of
one level to those of the level before; on the last one they are the circular functions. The levels are
loops, not written out: XLA would evaluate the early ones again for every later one.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import held

from ._sincos import sincos

Batch = Float[Array, "*batch"]
Levels = Float[Array, "levels *batch"]

LEVELS = 9
"""Steps of the mean after which a and b agree to round-off, for every k' from `LEAST_MODULUS` to 1."""

LEAST_MODULUS = 1e-16
"""Least complementary modulus; the rounding of the data hides smaller ones."""

# Below this value of (lambda h)^2 three terms of the power series are exact to round-off.
_SERIES_LIMIT = 1e-5


class Means(NamedTuple):
    """Levels 0 to `LEVELS` - 1 of the mean, along the first axis, and its limit."""

    a: Levels
    b: Levels
    next_a: Levels
    limit: Batch


class EllipticFunctions(NamedTuple):
    r"""$\operatorname{sn} / \lambda$, $\operatorname{cn}$ and $\operatorname{dn}$ of $\lambda h$."""

    sn_over_rate: Batch
    cn: Batch
    dn: Batch


def arithmetic_geometric_means(complementary_modulus: Batch) -> Means:
    """Levels of the mean of 1 and k'."""

    def level(pair, _):
        a, b = pair
        arithmetic = 0.5 * (a + b)
        return (arithmetic, jnp.sqrt(a * b)), (a, b, arithmetic)

    start = jnp.ones_like(complementary_modulus), complementary_modulus
    (limit, _), (a, b, next_a) = lax.scan(level, start, length=LEVELS)
    return Means(a, b, next_a, limit)


def elliptic_functions(rate_squared: Batch, product: Batch, means: Means, h: Batch) -> EllipticFunctions:
    r"""Jacobi's functions of the argument $\lambda h$ and modulus $k$; sn is divided by $\lambda$.

    Gauss's transformation, with $c_{n+1} = \tfrac12 (a_n - b_n)$ and the functions of level $n + 1$ on the
    right,

    $$ \operatorname{sn} \leftarrow \frac{a_n \operatorname{sn}}{D}, \quad
       \operatorname{cn} \leftarrow \frac{a_{n+1} \operatorname{cn}\operatorname{dn}}{D}, \quad
       \operatorname{dn} \leftarrow \frac{b_n + c_{n+1} \operatorname{cn}^2}{D}, \qquad
       D = a_{n+1} + c_{n+1} \operatorname{sn}^2, $$

    contains no difference, so that small values of cn and dn next to $k = 1$ keep their digits. The three
    results are smooth functions of $\lambda^2$ and $k^2 \lambda^2$; for a short time their power series
    replaces the recursion, and derivatives stay right where $\lambda$ vanishes.

    Args:
        rate_squared: $\lambda^2$, zero or more.
        product: $k^2 \lambda^2$, from zero to $\lambda^2$.
        means: the means of 1 and $k'$.
        h: time.
    """
    square, other = rate_squared * h * h, product * h * h
    short = square < _SERIES_LIMIT
    rate = jnp.sqrt(jnp.where(short, 1.0, rate_squared))
    sine, cosine = sincos(rate * means.limit * h)

    def level(functions, means):
        sn, cn, dn = functions
        a, b, next_a = means
        half_gap = 0.5 * (a - b)
        scale = 1.0 / (next_a + half_gap * sn * sn)
        return (a * sn * scale, next_a * cn * dn * scale, (b + half_gap * cn * cn) * scale), None

    start = sine, cosine, jnp.ones_like(cosine)
    (sn, cn, dn), _ = lax.scan(level, start, means[:3], reverse=True)
    total, mixed = square + other, square * other
    series = (
        h * (1.0 - total / 6.0 + (total * total + 12.0 * mixed) / 120.0),
        1.0 - square / 2.0 + square * (square + 4.0 * other) / 24.0,
        1.0 - other / 2.0 + other * (other + 4.0 * square) / 24.0,
    )
    exact = (sn / rate, cn, dn)
    chosen = [jnp.where(short, s, e) for s, e in zip(series, exact, strict=True)]
    return EllipticFunctions(*held(chosen))
