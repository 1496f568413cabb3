r"""Sine, cosine and tangent in basic operations.

All write $x = q\,\tfrac{\pi}{2} + r$ with a whole number $q$ and $|r| \le \tfrac{\pi}{4}$.
"""

import numpy as np
from jax import lax

from poinsot.kernels.native._arithmetic import (
    EXPONENT_BIAS,
    MANTISSA_BITS,
    ROUNDER,
    SIGN_BIT,
    Condition,
    Integer,
    Real,
    bits,
    fast_two_sum,
    from_bits,
    polynomial,
    select,
    shift_left,
    shift_right,
    two_product,
    two_sum,
)

SHORT_RANGE = 1e5
"""Largest |x| reduced with three parts of pi/2; larger ones take the bits of 2/pi from a table."""

# pi/2 = _PART_1 + _PART_2 + _PART_3 + 5e-40.  The first two have 37 bits, so that their products with a
# whole number below 2**16 are exact.
_PART_1 = float.fromhex("0x1.921fb5444p+0")
_PART_2 = float.fromhex("0x1.68c234c4cp-39")
_PART_3 = float.fromhex("0x1.98a2e03707345p-77")
_TWO_OVER_PI = 0.6366197723675814

# pi/2 = _HALF_PI + _HALF_PI_LOW.
_HALF_PI = float.fromhex("0x1.921fb54442d18p+0")
_HALF_PI_LOW = float.fromhex("0x1.1a62633145c07p-54")

# Minimax polynomials for (sin(r) / r - 1) / z and (cos(r) - 1 + z / 2) / z**2 with z = r**2 < 0.6175, which
# keep the relative error of the sine below 4e-18 and the error of the cosine below 5e-20.
_SINE = (
    -0.16666666666666632,
    0.008333333333322472,
    -0.00019841269829835645,
    2.755731369731263e-06,
    -2.5050758483048523e-08,
    1.589679587252353e-10,
)
_COSINE = (
    0.0416666666666666,
    -0.0013888888888874457,
    2.4801587289652865e-05,
    -2.755731439387319e-07,
    2.0875728111941444e-09,
    -1.135986506698033e-11,
)

# The binary digits of 1 / (2 pi) in words of 32, after two words of zeros.
_WORD = 32
_WORD_MASK = 2**_WORD - 1
_LEADING_ZEROS = 2 * _WORD
_ONE_OVER_TWO_PI = np.array(
    # fmt: off
    [
        0,
        0,
        0x28BE60DB,
        0x9391054A,
        0x7F09D5F4,
        0x7D4D3770,
        0x36D8A566,
        0x4F10E410,
        0x7F9458EA,
        0xF7AEF158,
        0x6DC91B8E,
        0x909374B8,
        0x01924BBA,
        0x82746487,
        0x3F877AC7,
        0x2C4A69CF,
        0xBA208D7D,
        0x4BAED121,
        0x3A671C09,
        0xAD17DF90,
        0x4E64758E,
        0x60D4CE7D,
        0x272117E2,
        0xEF7E4A0E,
        0xC7FE25FF,
        0xF7816603,
        0xFBCBC462,
        0xD6829B47,
        0xDB4D9FB3,
        0xC9F2C26D,
        0xD3D18FD9,
        0xA797FA8B,
        0x5D49EEB1,
        0xFAF97C5E,
        0xCF41CE7D,
        0xE294A4BA,
        0x9AFED7EC,
        0x47E35742,
        0x1580CC11,
    ],
    # fmt: on
    dtype=np.int64,
)
_WINDOW = 6
"""Words of 1 / (2 pi) that meet the 53 bits of a number: 128 bits of their product are right."""


def _reduce_short(x: Real) -> tuple[Integer, Real, Real]:
    """Return (q, r, s) with x = q pi/2 + r - s for |x| <= SHORT_RANGE (Cody and Waite)."""
    shifted = x * _TWO_OVER_PI + ROUNDER
    k = shifted - ROUNDER
    second_part = k * _PART_2
    first = x - k * _PART_1
    r = first - second_part
    # What rounding took from r goes into s, together with the third part. Next to a multiple of pi/2, where
    # r is small and s is not, the sum that is formed later is still as accurate as it must be: r >= 2**-56.
    return bits(shifted), r, k * _PART_3 - ((first - r) - second_part)


def _fraction_of_turn(m: Integer, exponent: Integer) -> tuple[Integer, Integer]:
    """Return the first 128 bits of the fractional part of m 2**exponent / (2 pi), as two integers.

    Digits of 1 / (2 pi) before the window contribute whole turns, those after it less than 2**-128.

    Args:
        m: 0 <= m < 2**53.
        exponent: from -64 to 972; anything outside gives a number without meaning.
    """
    position = exponent + _LEADING_ZEROS
    last_index = len(_ONE_OVER_TWO_PI) - (_WINDOW + 1)
    index = lax.shift_right_arithmetic(position, np.int64(5))
    index = lax.min(lax.max(index, np.int64(0)), np.int64(last_index))
    shift = position & (_WORD - 1)
    words = [_word(index + i) for i in range(_WINDOW + 1)]
    pairs = zip(words[:-1], words[1:], strict=True)
    window = [(shift_left(a, shift) & _WORD_MASK) | shift_right(b, _WORD - shift) for a, b in pairs]
    # Long multiplication, one column for each 32 bits, the last first.
    low, high = m & _WORD_MASK, shift_right(m, _WORD)
    columns: list[Integer] = []
    carry = np.int64(0)
    for i in reversed(range(_WINDOW)):
        column = carry + ((low * window[i]) & _WORD_MASK)
        if i + 1 < _WINDOW:
            column = column + shift_right(low * window[i + 1], _WORD) + ((high * window[i + 1]) & _WORD_MASK)
        if i + 2 < _WINDOW:
            column = column + shift_right(high * window[i + 2], _WORD)
        columns.append(column & _WORD_MASK)
        carry = shift_right(column, _WORD)
    last, third, second, first = columns[-4:]
    return shift_left(first, _WORD) | second, shift_left(third, _WORD) | last


def _word(index: Integer) -> Integer:
    """Return a word of the table; the index must be within it."""
    word = lax.dynamic_slice(_ONE_OVER_TWO_PI, (index,), (1,), allow_negative_indices=False)
    return lax.squeeze(word, (0,))


def _reduce_long(x: Real) -> tuple[Integer, Real, Real]:
    """Return (q, r, s) with x = q pi/2 + r - s for any finite x >= 2**-11, else NaN (Payne and Hanek)."""
    pattern = bits(x)
    biased = shift_right(pattern, MANTISSA_BITS) & (2 * EXPONENT_BIAS + 1)
    m = (pattern & (2**MANTISSA_BITS - 1)) | 2**MANTISSA_BITS
    high, low = _fraction_of_turn(m, biased - (EXPONENT_BIAS + MANTISSA_BITS))
    # Without its first two bits, the fraction of a turn is a signed fraction of a quarter turn; rounding to
    # the nearest quarter is the carry from the first bit of the rest.
    quarter = shift_right(high, 62) + (shift_right(high, 61) & 1)
    high, low = shift_left(high, 2) | shift_right(low, 62), shift_left(low, 2)
    parts = (lax.shift_right_arithmetic(high, np.int64(_WORD)), high & _WORD_MASK)
    a, b = (_as_float(n) * 2.0 ** (-32 * (i + 1)) for i, n in enumerate(parts))
    parts = (shift_right(low, _WORD), low & _WORD_MASK)
    c, d = (_as_float(n) * 2.0 ** (-32 * (i + 3)) for i, n in enumerate(parts))
    head, lost = two_sum(a, b)
    tail, tail_low = fast_two_sum(c, d)
    head, head_low = two_sum(head, lost + tail)
    head_low = head_low + tail_low
    # Times pi/2.
    r, r_low = two_product(head, _HALF_PI)
    r_low = r_low + (head * _HALF_PI_LOW + head_low * _HALF_PI)
    r, r_low = fast_two_sum(r, r_low)
    # x - x is zero, or NaN for an infinity or NaN.
    r = r + (x - x)
    negative = x < 0.0
    return lax.select(negative, -quarter, quarter), select(negative, -r, r), select(negative, r_low, -r_low)


def _as_float(n: Integer) -> Real:
    """Turn an integer with |n| < 2**51 into a number by way of the mantissa of 1.5 * 2**52."""
    return from_bits(n + 0x4338000000000000) - ROUNDER


def _reduce(x: Real) -> tuple[Integer, Real, Real]:
    """Return (q, r, s) with x = q pi/2 + r - s, |r| <= pi/4 and s of the size of the rounding error of r."""
    return lax.cond(abs(x) <= SHORT_RANGE, _reduce_short, _reduce_long, x)


def _sine_parts(r: Real, s: Real, z: Real, series: Real) -> tuple[Real, Real]:
    """Return (a, b) with sin(r - s) = a - b and b less than an eighth of a; the series is `_SINE` at z."""
    return r, s * (1.0 - 0.5 * z) - z * (r * series)


def _cosine_parts(r: Real, s: Real, z: Real) -> tuple[Real, Real]:
    """Return (a, b) with cos(r - s) = a + b and b less than a thirtieth of a."""
    half = 0.5 * z
    near_one = 1.0 - half
    return near_one, ((1.0 - near_one) - half) + ((z * z) * polynomial(_COSINE, z) + r * s)


def _is_odd(q: Integer) -> Condition:
    return (q & 1) != 0


def _negate_if(second_bit_of: Integer, y: Real) -> Real:
    """Return -y if the bit of value 2 is set in the integer, else y."""
    return from_bits(bits(y) ^ (shift_left(second_bit_of, 62) & SIGN_BIT))


def sincos(x: Real) -> tuple[Real, Real]:
    """Return (sin x, cos x), for any finite x."""
    q, r, s = _reduce(x)
    z = r * r
    # The difference keeps the sign of a zero.
    a, b = _sine_parts(r, s, z, polynomial(_SINE, z))
    sine = a - b
    a, b = _cosine_parts(r, s, z)
    cosine = a + b
    odd = _is_odd(q)
    return _negate_if(q, select(odd, cosine, sine)), _negate_if(q + 1, select(odd, sine, cosine))


def sin(x: Real) -> Real:
    """Return the sine."""
    return sincos(x)[0]


def cos(x: Real) -> Real:
    """Return the cosine."""
    return sincos(x)[1]


def tan(x: Real) -> Real:
    """Return the tangent, as the quotient of sine and cosine in two parts each."""
    q, r, s = _reduce(x)
    z, z_low = two_product(r, r)
    # The first coefficient joins in last, which saves the rounding errors of Estrin's order.
    a, b = _sine_parts(r, s, z, _SINE[0] + z * polynomial(_SINE[1:], z))
    sine = a - b
    sine_low = (a - sine) - b
    a, b = _cosine_parts(r, s, z)
    cosine, cosine_low = fast_two_sum(a, b - 0.5 * z_low)
    odd = _is_odd(q)
    n, n_low = select(odd, cosine, sine), select(odd, cosine_low, sine_low)
    d, d_low = select(odd, sine, cosine), select(odd, sine_low, cosine_low)
    reciprocal = 1.0 / d
    quotient = n * reciprocal
    product, product_low = two_product(quotient, d)
    excess = ((product - n) + product_low) + (quotient * d_low - n_low)
    tangent = quotient - excess * reciprocal
    return from_bits(bits(tangent) ^ shift_left(q, 63))
