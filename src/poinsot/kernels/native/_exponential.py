r"""Exponential functions in basic operations.

All write $e^x = 2^k (1 + t)$ with $|\ln(1 + t)| \le \tfrac12 \ln 2$.
"""

from poinsot.kernels.native._arithmetic import (
    MANTISSA_BITS,
    ROUNDER,
    Integer,
    Real,
    bits,
    fast_two_sum,
    from_bits,
    polynomial,
    select,
    shift_left,
    shift_right,
    two_sum,
)

LOG2_E = 1.4426950408889634
# ln 2 = LN2_HIGH + LN2_LOW. The first has 42 bits, so that its product with |k| < 2**11 is exact.
LN2_HIGH = float.fromhex("0x1.62e42fefa38p-1")
LN2_LOW = float.fromhex("0x1.ef35793c7673p-45")

# Minimax polynomials for (exp(r) - 1 - r - r**2 / 2) / r**3: the first keeps the error of exp(r) below 6e-18
# on |r| < 0.3468, the second the relative error of expm1(r) below 4e-19 on -0.288 < r < 0.4058.
_EXP = (
    0.16666666666666685,
    0.04166666666660264,
    0.008333333333313887,
    0.0013888888927337248,
    0.00019841269905012676,
    2.480150799852191e-05,
    2.7557225971602153e-06,
    2.7625459466022273e-07,
    2.5115134417175204e-08,
)
_EXPM1 = (
    0.16666666666666663,
    0.041666666666667476,
    0.008333333333337842,
    0.0013888888888183063,
    0.0001984126982799142,
    2.4801589406524183e-05,
    2.755732489584828e-06,
    2.7554684734261726e-07,
    2.5070751946886703e-08,
    2.2071091350055473e-09,
)

# Twice the exponent bias rides on the rounder: half of the sum is then the biased exponent of about 2**(k/2).
_BIASED_ROUNDER = ROUNDER + 2046.0

_EXP_MAX = 712.0
_EXP_MIN = -746.0
_EXPM1_MIN = -64.0


def _whole_part(x: Real, offset: float = 0.0) -> tuple[Real, Integer]:
    """Round x to a whole number k and return it with the bits from which `_scale` makes 2**(k + offset)."""
    shifted = x + (_BIASED_ROUNDER + offset)
    return shifted - (_BIASED_ROUNDER + offset), bits(shifted)


def _scale(y: Real, k: Integer) -> Real:
    """Return y 2**k rounded once, in two factors so that neither leaves the range of normal numbers."""
    half = shift_right(k, 1)
    return (y * from_bits(shift_left(half, MANTISSA_BITS))) * from_bits(shift_left(k - half, MANTISSA_BITS))


def _between(x: Real, low: float, high: float) -> Real:
    """Return x confined to [low, high], or NaN for NaN."""
    x = select(low > x, low, x)
    return select(high < x, high, x)


def _exp_minus_one(coefficients: tuple[float, ...], head: Real, rest: Real) -> tuple[Real, Real]:
    """Return exp(head - rest) - 1 as a difference of two numbers, for |head| < 0.35 and a tiny `rest`.

    Only the head itself and half the square of r = head - rest are large enough for their rounding errors to
    count: the linear term takes both parts of r, and the square stays out of the polynomial.
    """
    r = head - rest
    square = r * r
    return head, (rest - (square * r) * polynomial(coefficients, r)) - 0.5 * square


def exp_of_sum(high: Real, low: Real, approximate: Real) -> Real:
    """Return exp(high + low), for sums between -746 and 712.

    Args:
        high: its difference to the nearest multiple of ln 2 must be exact.
        low: a correction below 1e-4.
        approximate: the sum to about 1e-5, from which the power of two is chosen.
    """
    k, scale = _whole_part(approximate * LOG2_E)
    head, correction = _exp_minus_one(_EXP, high - k * LN2_HIGH, k * LN2_LOW - low)
    return _scale(1.0 + (head - correction), scale)


def _exp_factors(x: Real, offset: float) -> tuple[Real, Integer]:
    """Return (t, k) with exp(x) 2**offset = 2**k (1 + t), where k is in the form that `_scale` takes."""
    x = _between(x, _EXP_MIN, _EXP_MAX)
    k, scale = _whole_part(x * LOG2_E, offset)
    head, correction = _exp_minus_one(_EXP, x - k * LN2_HIGH, k * LN2_LOW)
    return head - correction, scale


def exp(x: Real) -> Real:
    """Return the exponential, rounded once also where it is subnormal."""
    t, k = _exp_factors(x, 0.0)
    return _scale(1.0 + t, k)


def exp_in_two_parts(x: Real, offset: float = 0.0) -> tuple[Real, Real]:
    """Return (y, e) with y + e = 2**offset exp(x) up to 2**-54 y, for a small whole number `offset`."""
    t, k = _exp_factors(x, offset)
    y, low = fast_two_sum(1.0, t)
    return _scale(y, k), _scale(low, k)


# ln 2 = _LN2_SHORT + _LN2_REST, with 26 bits in the first.
_LN2 = 0.6931471805599453
_LN2_SHORT = float.fromhex("0x1.62e42f8p-1")
_LN2_REST = float.fromhex("0x1.be8e7bcd5e4f2p-27")
_TO_26_BITS = 1.5 * 2.0**26


def exp2(x: Real) -> Real:
    """Return 2**x."""
    x = _between(x, -1080.0, 1025.0)
    k, scale = _whole_part(x)
    fraction = x - k
    # Both factors of the head have 26 bits: the product is exact.
    short = (fraction + _TO_26_BITS) - _TO_26_BITS
    rest = (short - fraction) * _LN2 - short * _LN2_REST
    head, correction = _exp_minus_one(_EXP, short * _LN2_SHORT, rest)
    return _scale(1.0 + (head - correction), scale)


def expm1(x: Real) -> Real:
    """Return exp(x) - 1, to full relative accuracy also for small x."""
    x = _between(x, _EXPM1_MIN, _EXP_MAX)
    # Uneven rounding: with k = 0 as far as exp(x) - 1 = 1/2, the cancellation for k = 1 costs no accuracy.
    k, scale = _whole_part(x * LOG2_E - 0.085)
    head, correction = _exp_minus_one(_EXPM1, x - k * LN2_HIGH, k * LN2_LOW)
    t = head - correction
    # 2**k (1 + t) - 1 with t, 1 + t and the difference in two parts each: exact until the last sum.
    y, y_low = fast_two_sum(1.0, t)
    y_low = y_low + ((head - t) - correction)
    difference, difference_low = two_sum(_scale(y, scale), -1.0)
    result = difference + (difference_low + _scale(y_low, scale))
    result = select(difference == float("inf"), difference, result)
    return select(k == 0.0, t, result)
