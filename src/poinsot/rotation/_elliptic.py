r"""Jacobi's elliptic functions from the arithmetic-geometric mean.

The means

$$ a_{n+1} = \tfrac12 (a_n + b_n), \qquad b_{n+1} = \sqrt{a_n b_n}, \qquad a_0 = 1, \quad b_0 = k', $$

meet so fast that a fixed number of levels serves every modulus. Gauss's transformation takes the functions of
one level to those of the level before; on the last one they are the circular functions.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from ._sincos import sincos

Batch = Float[Array, "*batch"]

LEVELS = 9
"""Steps of the mean after which $a_n$ and $b_n$ agree to round-off for every $k'$ from `LEAST_MODULUS` to 1."""

LEAST_MODULUS = 1e-16
"""Least complementary modulus; the rounding of the data hides smaller ones."""

# Below this value of (lambda h)^2 three terms of the power series are exact to round-off.
_SERIES_LIMIT = 1e-5


class Means(NamedTuple):
    """The sequences of the arithmetic-geometric mean: entries 0 to `LEVELS` of a and of b."""

    a: list[Batch]
    b: list[Batch]

    @property
    def limit(self) -> Batch:
        """Their common limit."""
        return self.a[-1]


class EllipticFunctions(NamedTuple):
    r"""$\operatorname{sn}(\lambda h) / \lambda$, $\operatorname{cn}(\lambda h)$, $\operatorname{dn}(\lambda h)$."""

    sn_over_rate: Batch
    cn: Batch
    dn: Batch


def arithmetic_geometric_means(complementary_modulus: Batch) -> Means:
    """Sequences of the mean of 1 and k'."""
    a, b = [jnp.ones_like(complementary_modulus)], [complementary_modulus]
    for _ in range(LEVELS):
        below, geometric = 0.5 * (a[-1] + b[-1]), jnp.sqrt(a[-1] * b[-1])
        a.append(below)
        b.append(geometric)
    return Means(a, b)


def elliptic_functions(rate_squared: Batch, product: Batch, means: Means, h: Batch) -> EllipticFunctions:
    r"""Jacobi's functions of the argument $\lambda h$ and modulus $k$, with $\operatorname{sn}$ over $\lambda$.

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
    sn, cn = sincos(rate * means.limit * h)
    dn = jnp.ones_like(cn)
    for n in reversed(range(LEVELS)):
        half_gap = 0.5 * (means.a[n] - means.b[n])
        scale = 1.0 / (means.a[n + 1] + half_gap * sn * sn)
        sn, cn, dn = (
            means.a[n] * sn * scale,
            means.a[n + 1] * cn * dn * scale,
            (means.b[n] + half_gap * cn * cn) * scale,
        )
    total, mixed = square + other, square * other
    series = (
        h * (1.0 - total / 6.0 + (total * total + 12.0 * mixed) / 120.0),
        1.0 - square / 2.0 + square * (square + 4.0 * other) / 24.0,
        1.0 - other / 2.0 + other * (other + 4.0 * square) / 24.0,
    )
    exact = (sn / rate, cn, dn)
    return EllipticFunctions(*(jnp.where(short, s, e) for s, e in zip(series, exact, strict=True)))
