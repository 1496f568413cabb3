"""Sine and cosine together, in plain arithmetic that vectorises."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

SINCOS_RANGE = 1e5
"""Largest |x| for which `sincos` is accurate to the last bit or two."""

SINCOS_LIMIT = 2.0**40
"""Largest |x| for which `sincos` returns a number at all."""

# pi/2 = _PART_1 + _PART_2 + _PART_3 + 5e-40.  The first two have 37 bits, so that their products with a
# whole number below 2**16 are exact.
_PART_1 = float.fromhex("0x1.921fb5444p+0")
_PART_2 = float.fromhex("0x1.68c234c4cp-39")
_PART_3 = float.fromhex("0x1.98a2e03707345p-77")
_TWO_OVER_PI = 0.6366197723675814

# Interpolation at the six Chebyshev points of 0 < z < 1.0005 (pi/4)^2, highest power first:
# (sin r / r - 1) / z and (cos r - 1 + z/2) / z^2, with z = r^2.
_SINE = (
    1.591805913698281e-10,
    -2.5051130870968297e-08,
    2.755731609787775e-06,
    -0.0001984126983674956,
    0.008333333333330943,
    -0.16666666666666666,
)
_COSINE = (
    -1.1382588535352522e-11,
    2.0876145659059344e-09,
    -2.755731726880539e-07,
    2.4801587298760048e-05,
    -0.0013888888888887393,
    0.041666666666666664,
)


def _polynomial(coefficients: tuple[float, ...], z: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    """Evaluate a polynomial of degree five in Estrin's order, which shortens the chain of operations."""
    c5, c4, c3, c2, c1, c0 = coefficients
    square = z * z
    return (c0 + c1 * z) + square * ((c2 + c3 * z) + square * (c4 + c5 * z))


@jax.jit
def poinsot_reduce(x: Float[Array, "*batch"]) -> tuple[Float[Array, "*batch"], ...]:
    """Write x = k pi/2 + head + tail with |head| <= pi/4 and return (k, head, tail).

    A trace holds it by this name: machine code of one run skips it where x is head already.
    """
    k = jnp.round(x * _TWO_OVER_PI)
    first = x - k * _PART_1
    second = first - k * _PART_2
    # What rounding took from `second` goes into the tail, together with the third part.
    rest = ((first - second) - k * _PART_2) - k * _PART_3
    head = second + rest
    return k, head, (second - head) + rest


@jax.custom_jvp
def sincos(x: Float[Array, "*batch"]) -> tuple[Float[Array, "*batch"], Float[Array, "*batch"]]:
    r"""Sine and cosine of an angle, computed together.

    Cody and Waite's reduction in three parts,

    $$ x = k\,\tfrac{\pi}{2} + r, \qquad |r| \le \tfrac{\pi}{4}, $$

    then one polynomial each for $\sin r$ and $\cos r$, and the quadrant chosen by `where`.
    There are no tables and no branches, so that loops over arrays vectorise.

    Accuracy depends on the size of the argument:

    - $|x| \le 10^5$ (`SINCOS_RANGE`): the error is below one unit in the last place, also next to the zeros;
    - up to $2^{40}$ (`SINCOS_LIMIT`): the result belongs to an argument within one unit in the last place of
      $x$, that is, the absolute error is at most $|x|\,2^{-52}$; an angle that large carries no more
      information itself;
    - beyond that, and for infinities, both results are NaN: a wrong number would look like an answer.

    Derivatives of every order reuse the two values.

    Args:
        x: angle in radians.

    Returns:
        The pair (sin x, cos x).
    """
    return _by_polynomials(x)


def poinsot_sincos(x: Float[Array, "*batch"]) -> tuple[Float[Array, "*batch"], Float[Array, "*batch"]]:
    """What `sincos` computes. A trace holds it by this name, for arithmetics with functions of their own."""
    k, r, tail = poinsot_reduce(jnp.where(jnp.abs(x) <= SINCOS_LIMIT, x, jnp.nan))
    z = r * r
    half = 0.5 * z
    near_one = 1.0 - half
    sine = r + (z * (r * _polynomial(_SINE, z)) + tail * near_one)
    cosine = near_one + (((1.0 - near_one) - half) + (z * (z * _polynomial(_COSINE, z)) - r * tail))

    half_turns = jnp.floor(0.5 * k)
    odd = k != 2.0 * half_turns
    sign = jnp.where(half_turns == 2.0 * jnp.floor(0.5 * half_turns), 1.0, -1.0)
    return sign * jnp.where(odd, cosine, sine), sign * jnp.where(odd, -sine, cosine)


_by_polynomials = jax.jit(poinsot_sincos)


@sincos.defjvp
def _sincos_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    sine, cosine = sincos(x)
    return (sine, cosine), (cosine * dx, -sine * dx)
