"""Bits, selections, polynomials and exact sums of float64 scalars: the vocabulary of the functions beside."""

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int

Real = Float[Array, ""]
Integer = Int[Array, ""]
Condition = Bool[Array, ""]

SIGN_BIT = -(2**63)
MANTISSA_BITS = 52
EXPONENT_BIAS = 1023
SMALLEST_NORMAL = 2.0**-1022

ROUNDER = 1.5 * 2.0**52
"""Added to |x| < 2**51, it rounds x to a whole number, which then sits in the low bits of the sum."""

_HIGH_PART = -(2**27)


def bits(x: Real) -> Integer:
    """Return the 64 bits of x as an integer."""
    return lax.bitcast_convert_type(x, jnp.int64)


def from_bits(n: Integer) -> Real:
    """Return the number whose bits are n."""
    return lax.bitcast_convert_type(n, jnp.float64)


def select(condition: Condition, yes: Real | float, no: Real | float) -> Real:
    """Return yes where the condition holds and no elsewhere, as one `select` in the trace."""
    return lax.select(condition, _as_float64(yes), _as_float64(no))


def _as_float64(x: Real | float) -> Real:
    return np.float64(x) if isinstance(x, float) else x  # pyright: ignore[reportReturnType]


def shift_left(n: Integer, count: Integer | int) -> Integer:
    """Return n * 2**count without its overflow."""
    return lax.shift_left(n, _as_int64(count))


def shift_right(n: Integer, count: Integer | int) -> Integer:
    """Return the bits of n moved down by count, with zeros above them."""
    return lax.shift_right_logical(n, _as_int64(count))


def _as_int64(n: Integer | int) -> Integer:
    return np.int64(n) if isinstance(n, int) else n  # pyright: ignore[reportReturnType]


def is_negative(x: Real) -> Condition:
    """Return whether the sign bit of x is set, which `x < 0` does not tell of a negative zero."""
    return bits(x) < 0


def with_sign_of(magnitude: Real, x: Real) -> Real:
    """Return the non-negative magnitude with the sign of x."""
    return from_bits(bits(magnitude) | (bits(x) & SIGN_BIT))


def high_part(x: Real) -> Real:
    """Return x cut to 26 bits. The product of two such numbers is exact, and so is what was cut off."""
    return from_bits(bits(x) & _HIGH_PART)


def fast_two_sum(a: Real | float, b: Real) -> tuple[Real, Real]:
    """Return (s, e) with s = a + b rounded and s + e = a + b exactly, for |a| >= |b| or a = 0 (Dekker)."""
    s = a + b
    return s, b - (s - a)


def two_sum(a: Real, b: Real | float) -> tuple[Real, Real]:
    """Return (s, e) with s = a + b rounded and s + e = a + b exactly, in any order of size (Knuth)."""
    s = a + b
    part = s - a
    return s, (a - (s - part)) + (b - part)


def two_product(a: Real, b: Real | float) -> tuple[Real, Real]:
    """Return (p, e) with p = a b rounded and p + e = a b up to 2**-104 |a b| (Dekker)."""
    b = _as_float64(b)
    p = a * b
    a_high, b_high = high_part(a), high_part(b)
    a_low, b_low = a - a_high, b - b_high
    return p, ((a_high * b_high - p) + (a_high * b_low + a_low * b_high)) + a_low * b_low


def polynomial(coefficients: tuple[float, ...], x: Real) -> Real:
    """Evaluate c[0] + c[1] x + c[2] x**2 + ... in Estrin's order, which shortens the chain of operations."""
    terms: list[Real | float] = list(coefficients)
    power = x
    while len(terms) > 1:
        pairs = [terms[i] + terms[i + 1] * power for i in range(0, len(terms) - 1, 2)]
        terms = pairs + terms[2 * len(pairs) :]
        if len(terms) > 1:
            power = power * power
    return terms[0]  # pyright: ignore[reportReturnType]
