"""Arcsine, arccosine and arctangent in basic operations."""

import numpy as np
from jax import lax

from poinsot.kernels.native._arithmetic import (
    EXPONENT_BIAS,
    MANTISSA_BITS,
    Condition,
    Real,
    bits,
    fast_two_sum,
    from_bits,
    high_part,
    is_negative,
    polynomial,
    select,
    shift_left,
    shift_right,
    with_sign_of,
)

# Minimax polynomials for (asin(x) / x - 1) / z and (atan(x) / x - 1) / z with z = x**2 < 0.2501, relative
# errors of the functions below 2e-17 and 4e-18.
_ASIN = (
    0.16666666666665375,
    0.07500000000344959,
    0.044642856821840264,
    0.030381959401197173,
    0.02237175179870891,
    0.01735979776667521,
    0.01388432916438046,
    0.012175084392625332,
    0.006502895412967427,
    0.01959607839071112,
    -0.016329458799160215,
    0.031983610963145406,
)
_ATAN = (
    -0.33333333333332993,
    0.19999999999905552,
    -0.1428571427657603,
    0.1111111066707713,
    -0.09090896414586593,
    0.0769207635625637,
    -0.0666383368340057,
    0.058584438453876286,
    -0.05122606347746682,
    0.041880807342061864,
    -0.027458700462982003,
    0.010132492418577051,
)

# pi/4 = _QUARTER_PI + _QUARTER_PI_LOW; the first has 50 bits, so that three times it is exact.
_QUARTER_PI = float.fromhex("0x1.921fb54442d18p-1")
_QUARTER_PI_LOW = float.fromhex("0x1.1a62633145c07p-55")

INFINITY = float("inf")


def _asin_parts(size: Real) -> tuple[Condition, Real, Real]:
    """Return (outer, a, b) with a + b = asin(size), or acos(size) where `outer`, that is, size > 1/2.

    There, acos(x) = 2 asin(sqrt(z)) with z = (1 - x) / 2 takes the root in two parts. The condition that
    1/2 < x makes 1 - x exact.
    """
    outer = size > 0.5
    z = select(outer, 0.5 - 0.5 * size, size * size)
    root = lax.sqrt(z)
    root_high = high_part(root)
    # The addend matters for z = 0 only, where it keeps the quotient 0.
    root_low = (z - root_high * root_high) / ((root + root_high) + 1e-300)
    s = select(outer, root, size)
    series = s * (z * polynomial(_ASIN, z))
    return outer, select(outer, 2.0 * root_high, size), select(outer, 2.0 * (root_low + series), series)


def asin(x: Real) -> Real:
    """Return the arcsine, or NaN outside [-1, 1]."""
    outer, a, b = _asin_parts(abs(x))
    # pi/2 - (a + b), or 0 + (a + b).
    start = select(outer, 2.0 * _QUARTER_PI, 0.0)
    high, low = fast_two_sum(start, select(outer, -a, a))
    rest = low + select(outer, 2.0 * _QUARTER_PI_LOW - b, b)
    return with_sign_of(high + rest, x)


def acos(x: Real) -> Real:
    """Return the arccosine, or NaN outside [-1, 1]."""
    outer, a, b = _asin_parts(abs(x))
    # 0 + (a + b) near 1, pi - (a + b) near -1, and pi/2 -+ (a + b) between them.
    positive = x > 0.0
    quarters = select(outer, select(positive, 0.0, 4.0), 2.0)
    side = select(positive, 1.0, -1.0)
    sign = select(outer, side, -side)
    high, low = fast_two_sum(quarters * _QUARTER_PI, sign * a)
    return high + (low + (quarters * _QUARTER_PI_LOW + sign * b))


def _atan_of_ratio(small: Real, large: Real, quarters: Real, sign: Real) -> Real:
    """Return quarters pi/4 + sign atan(small / large) for 0 <= small <= large.

    From small = large / 2 on, the ratio t = (small - large) / (small + large) takes its place and a quarter
    is added. The ratio has a head of 26 bits and a remainder, so that its rounding error does not count.
    """
    steep = small > 0.5 * large
    total, total_low = fast_two_sum(large, small)
    n = select(steep, small - large, small)
    d = select(steep, total, large)
    d_low = select(steep, total_low, 0.0)
    quarters = select(steep, quarters + sign, quarters)

    reciprocal = 1.0 / d
    t = n * reciprocal
    t_high = high_part(t)
    d_high = high_part(d)
    t_low = ((n - t_high * d_high) - t_high * ((d - d_high) + d_low)) * reciprocal
    t = t_high + t_low
    z = t * t
    rest = t_low + t * (z * polynomial(_ATAN, z))
    high, low = fast_two_sum(quarters * _QUARTER_PI, sign * t_high)
    return high + (low + (quarters * _QUARTER_PI_LOW + sign * rest))


def atan(x: Real) -> Real:
    """Return the arctangent."""
    size = abs(x)
    # Beyond 2**60 the result does not change any more.
    size = select(size > 2.0**60, 2.0**60, size)
    above = size > 1.0
    small, large = select(above, 1.0, size), select(above, size, 1.0)
    result = _atan_of_ratio(small, large, select(above, 2.0, 0.0), select(above, -1.0, 1.0))
    return with_sign_of(result, x)


def atan2(y: Real, x: Real) -> Real:
    """Return the angle of the point (x, y), with the C standard's values for zeros and infinities."""
    above = abs(y) > abs(x)
    small, large = select(above, abs(x), abs(y)), select(above, abs(y), abs(x))
    # Two infinities make the ratio 1, one makes it 0 (or NaN where the other number is NaN); two zeros 0.
    infinite = large == INFINITY
    small = select(infinite, select(small == INFINITY, 1.0, 0.0 * small), small)
    large = select(infinite | (large == 0.0), 1.0, large)
    # A common power of two brings the larger near 2**500, where no product overflows or loses digits.
    exponent = lax.max(shift_right(bits(large), MANTISSA_BITS), np.int64(600))
    scale = from_bits(shift_left(2 * EXPONENT_BIAS + 500 - exponent, MANTISSA_BITS))
    # The angle is the ratio's, or pi/2 minus it, or pi minus one of these.
    quarters, sign = select(above, 2.0, 0.0), select(above, -1.0, 1.0)
    left = is_negative(x)
    quarters, sign = select(left, 4.0 - quarters, quarters), select(left, -sign, sign)
    return with_sign_of(_atan_of_ratio(small * scale, large * scale, quarters, sign), y)
