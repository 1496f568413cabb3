"""Powers and cube roots in basic operations."""

from jax import lax

from poinsot.kernels.native._arithmetic import (
    SIGN_BIT,
    Real,
    bits,
    fast_two_sum,
    from_bits,
    high_part,
    polynomial,
    select,
    shift_left,
    shift_right,
    with_sign_of,
)
from poinsot.kernels.native._exponential import LN2_HIGH, LN2_LOW, exp_of_sum
from poinsot.kernels.native._logarithm import INFINITY, NAN, normalised, split_exponent

# Minimax polynomial for (artanh(s) / s - 1 - z/3) / z**2 with z = s**2 < 0.0295, error z**2 P below 2e-20.
_ARTANH = (
    0.20000000000001128,
    0.14285714285049944,
    0.11111111259928304,
    0.09090892186869984,
    0.0769337849665743,
    0.06628413149055215,
    0.06598121840626382,
)
_THIRD = 0.3333333333333333
# 1/3 = _THIRD_HIGH + _THIRD_LOW, with 26 bits in the first.
_THIRD_HIGH = float.fromhex("0x1.555555p-2")
_THIRD_LOW = float.fromhex("0x1.5555555555555p-28")

_EXPONENT_LIMIT = 2.0**66
"""Every power of a number other than 1 with an exponent this large is infinite or zero."""

_OVERFLOW = 711.0
_UNDERFLOW = -746.0


def _log_in_two_parts(x: Real) -> tuple[Real, Real]:
    """Return (high, low) with high + low = ln x up to 2**-64 |ln x| and 26 bits in high, for finite x > 0."""
    normal, bias = normalised(x)
    m, _, exponent = split_exponent(normal)
    k = exponent - bias
    f = m - 1.0
    # v = 2 f / (2 + f) = v_high + v_low.
    d = m + 1.0
    d_low = m - (d - 1.0)
    reciprocal = 1.0 / d
    double_f = f + f
    v = double_f * reciprocal
    v_high = high_part(v)
    d_high = high_part(d)
    v_low = ((double_f - v_high * d_high) - v_high * ((d - d_high) + d_low)) * reciprocal
    # ln m = v (1 + z/3 + z**2 P(z)) with z = v**2 / 4 = z_high + z_low and 1 + ... = t_high + t_low.
    v = v_high + v_low
    z = 0.25 * (v * v)
    square = 0.25 * (v_high * v_high)
    z_high = high_part(square)
    z_low = (square - z_high) + 0.25 * (v_low * (v_high + v))
    third = z_high * _THIRD_HIGH
    rest = (z_high * _THIRD_LOW + z_low * _THIRD) + (z * z) * polynomial(_ARTANH, z)
    t_high = high_part(1.0 + (third + rest))
    t_low = rest - ((t_high - 1.0) - third)
    m_high = v_high * t_high
    m_low = v_low * t_high + t_low * v
    total, lost = fast_two_sum(k * LN2_HIGH, m_high)
    rest = lost + (m_low + k * LN2_LOW)
    high = high_part(total + rest)
    return high, rest - (high - total)


def pow(x: Real, y: Real) -> Real:
    """Return x**y with the special values of the C standard, as exp(y ln |x|) and a sign."""
    size = abs(x)
    log_high, log_low = _log_in_two_parts(size)
    log_high = select(size < INFINITY, log_high, size)
    log_high = select(size == 0.0, -INFINITY, log_high)

    exponent = select(y > _EXPONENT_LIMIT, _EXPONENT_LIMIT, y)
    exponent = select(y < -_EXPONENT_LIMIT, -_EXPONENT_LIMIT, exponent)
    y_high = high_part(exponent)
    approximate = exponent * log_high
    low = (exponent - y_high) * log_high + exponent * log_low
    result = exp_of_sum(y_high * log_high, low, approximate)
    result = select(approximate > _OVERFLOW, INFINITY, result)
    result = select(approximate < _UNDERFLOW, 0.0, result)

    floor, half = lax.floor(y), 0.5 * y
    odd = (floor == y) & (lax.floor(half) != half)
    result = select((x < 0.0) & (x > -INFINITY) & (floor != y), NAN, result)
    result = select((x == 1.0) | (y == 0.0), 1.0, result)
    return select(odd, from_bits(bits(result) | (bits(x) & SIGN_BIT)), result)


# The bits of x**(-1/3) are near this constant less a third of the bits of x.
_INVERSE_ROOT = 0x553EE978D4FDF400
_ONE_THIRD_OF_2_32 = 0x55555556
# Expansion of (1 - h)**(-1/3) - 1 over h.
_INVERSE_ROOT_SERIES = (1 / 3, 2 / 9, 14 / 81, 35 / 243)


def _inverse_cube_root(x: Real) -> Real:
    """Return x**(-1/3) to 2**-37 for a normal number x > 0.

    With h = 1 - x y**3, the root is y (1 - h)**(-1/3): a step with four terms of its series, then with one.
    """
    third = shift_right(shift_right(bits(x), 32) * _ONE_THIRD_OF_2_32, 32)
    y = from_bits(_INVERSE_ROOT - shift_left(third, 32))
    h = 1.0 - (x * y) * (y * y)
    y = y + (y * h) * polynomial(_INVERSE_ROOT_SERIES, h)
    h = 1.0 - (x * y) * (y * y)
    return y + (y * h) * _THIRD


def cbrt(x: Real) -> Real:
    """Return the cube root, also of negative numbers."""
    size = abs(x)
    small = size < 2.0**-500
    scaled = select(small, size * 2.0**600, size)
    y = _inverse_cube_root(scaled)
    root = high_part(scaled * (y * y))
    # x = root**3 + d has the cube root root + e + e**2 y + ..., e = d y**2 / 3, y = x**(-1/3).
    square = root * root
    square_high = high_part(square)
    d = (scaled - square_high * root) - (square - square_high) * root
    e = d * ((y * y) * _THIRD)
    result = root + (e + (e * e) * y)
    result = select(small, result * 2.0**-200, result)
    return select((size < INFINITY) & (x != 0.0), with_sign_of(result, x), x)
