r"""Logarithms in basic operations.

All write $x = 2^k (1 + f)$ with $\sqrt{1/2} \le 1 + f < \sqrt 2$ and use $s = f / (2 + f)$,

$$ \ln(1 + f) = 2 \operatorname{artanh} s = 2s + \tfrac23 s^3 + \tfrac25 s^5 + \dots $$
"""

from poinsot.kernels.native._arithmetic import (
    EXPONENT_BIAS,
    MANTISSA_BITS,
    SMALLEST_NORMAL,
    Integer,
    Real,
    bits,
    from_bits,
    polynomial,
    select,
    shift_left,
    shift_right,
    two_sum,
)
from poinsot.kernels.native._exponential import LN2_HIGH, LN2_LOW

INFINITY = float("inf")
NAN = float("nan")

# Minimax polynomial for (2 artanh(s) / s - 2) / z with z = s**2 < 0.0295, error of ln(1 + f) / s below 3e-18.
_LOG = (
    0.6666666666666734,
    0.39999999999416624,
    0.28571428742034466,
    0.22222198604195156,
    0.18183562905556994,
    0.15314083234604464,
    0.14795651401443,
)

_ROOT_HALF = 0x3FE6A09E667F3BCD
_ONE = 0x3FF0000000000000
_MANTISSA = 2**52 - 1
_TWO_52 = 0x4330000000000000


def split_exponent(x: Real) -> tuple[Real, Integer, Real]:
    """Write a positive normal number as 2**k m with m between the roots of 1/2 and 2.

    Returns:
        m, the biased exponent k + 1023 as an integer, and 2**52 + 1023 + k: an integer becomes a number by
        taking its place in the mantissa of 2**52, for which vector instructions exist everywhere.
    """
    shifted = bits(x) + (_ONE - _ROOT_HALF)
    exponent = shift_right(shifted, MANTISSA_BITS)
    return from_bits((shifted & _MANTISSA) + _ROOT_HALF), exponent, from_bits(exponent | _TWO_52)


def normalised(x: Real) -> tuple[Real, Real]:
    """Return (x 2**n, 2**52 + 1023 + n) where n = 54 for subnormal x and 0 otherwise.

    The second number, taken from the third result of `split_exponent`, leaves the exponent of x.
    """
    small = x < SMALLEST_NORMAL
    bias = 2.0**MANTISSA_BITS + EXPONENT_BIAS
    return select(small, x * 2.0**54, x), select(small, bias + 54.0, bias)


def _log_of_parts(f: Real, k: Real, low: Real) -> Real:
    """Return k LN2_HIGH + ln(1 + f) + low.

    With h = f**2 / 2 and R = 2 artanh(s) / s - 2, the logarithm is f - (h - s (h + R)): the terms in which
    rounding errors would count are f itself and h.
    """
    s = f / (2.0 + f)
    z = s * s
    half_square = 0.5 * f * f
    inner = s * (half_square + z * polynomial(_LOG, z)) + low
    return k * LN2_HIGH - ((half_square - inner) - f)


def _with_special_values(x: Real, result: Real) -> Real:
    """Return ln x: the result for positive finite x, else -inf at 0, inf at inf and NaN for the others."""
    result = select(x == INFINITY, x, result)
    return select(x > 0.0, result, select(x == 0.0, -INFINITY, NAN))


def log(x: Real) -> Real:
    """Return the natural logarithm."""
    normal, bias = normalised(x)
    m, _, exponent = split_exponent(normal)
    k = exponent - bias
    return _with_special_values(x, _log_of_parts(m - 1.0, k, k * LN2_LOW))


def log_of_sum(u: Real, low: Real, offset: Real | float = 0.0) -> Real:
    """Return ln(u + low) + offset ln 2 for a positive normal number u and |low| below its rounding error."""
    m, exponent, shifted = split_exponent(u)
    k = shifted - (2.0**MANTISSA_BITS + EXPONENT_BIAS)
    # 2**(1 - k), since 2**-k is not a normal number for the largest u.
    down = from_bits(shift_left(2 * EXPONENT_BIAS + 1 - exponent, MANTISSA_BITS))
    low = (0.5 * low) * down
    f = (m - 1.0) + low
    rest = ((m - 1.0) - f) + low
    k = k + offset
    return _log_of_parts(f, k, k * LN2_LOW + rest / m)


def log1p(x: Real) -> Real:
    """Return ln(1 + x), to full relative accuracy also for small x."""
    u, low = two_sum(x, 1.0)
    result = log_of_sum(u, low)
    result = select(x == INFINITY, x, result)
    result = select(x > -1.0, result, select(x == -1.0, -INFINITY, NAN))
    return select(abs(x) < 2.0**-54, x, result)
