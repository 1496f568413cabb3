"""Hyperbolic functions, their inverses and the logistic function in basic operations."""

from jax import lax

from poinsot.kernels.native._arithmetic import (
    Condition,
    Real,
    fast_two_sum,
    polynomial,
    select,
    two_sum,
    with_sign_of,
)
from poinsot.kernels.native._exponential import exp, exp_in_two_parts
from poinsot.kernels.native._logarithm import INFINITY, NAN, log_of_sum

# Minimax polynomials for (sinh(x) / x - 1) / z with z = x**2 < 1.001 and (tanh(x) / x - 1) / z with
# z < 0.3026, relative errors of the functions below 3e-19 and 2e-17.
_SINH = (
    0.16666666666666669,
    0.008333333333332915,
    0.00019841269841589247,
    2.7557319108484675e-06,
    2.505213067540285e-08,
    1.6056687151477813e-10,
    7.77568837185721e-13,
)
_TANH = (
    -0.3333333333333235,
    0.13333333333173358,
    -0.05396825387817707,
    0.021869486021244715,
    -0.008863195085974612,
    0.0035917241015197107,
    -0.0014532372918279733,
    0.0005791947081049928,
    -0.00021039195449861574,
    5.10804746594262e-05,
)

_LARGE = 2.0**28
"""Beyond this, x**2 + 1 is x**2 in double precision."""


def _odd_series(coefficients: tuple[float, ...], x: Real) -> Real:
    """Return x + x**3 P(x**2)."""
    z = x * x
    return x + (x * z) * polynomial(coefficients, z)


def sinh(x: Real) -> Real:
    """Return the hyperbolic sine: a polynomial up to 1, then h - 1 / (4 h) with h = exp|x| / 2."""
    size = abs(x)
    h, low = exp_in_two_parts(size, -1.0)
    series = _odd_series(_SINH, select(size > 1.0, 1.0, size))
    return with_sign_of(select(size > 1.0, h + (low - 0.25 / h), series), x)


def cosh(x: Real) -> Real:
    """Return the hyperbolic cosine, h + 1 / (4 h) with h = exp|x| / 2."""
    h, low = exp_in_two_parts(abs(x), -1.0)
    return h + (low + 0.25 / h)


def tanh(x: Real) -> Real:
    """Return the hyperbolic tangent: a polynomial up to 0.55, then 1 - 2 / (exp(2|x|) + 1)."""
    size = abs(x)
    outer = size > 0.55
    series = _odd_series(_TANH, select(outer, 0.55, size))
    return with_sign_of(select(outer, 1.0 - 2.0 / (exp(2.0 * size) + 1.0), series), x)


def logistic(x: Real) -> Real:
    """Return 1 / (1 + exp(-x)), also where it is subnormal."""
    a, a_low = exp_in_two_parts(-abs(x))
    left = x < 0.0
    n, n_low = select(left, a, 1.0), select(left, a_low, 0.0)
    d, d_low = fast_two_sum(1.0, a)
    reciprocal = 1.0 / d
    quotient = n * reciprocal
    return quotient + (n_low - quotient * (d_low + a_low)) * reciprocal


def _log_of_one_plus(s: Real, s_low: Real, large: Condition, size: Real) -> Real:
    """Return ln(1 + s + s_low), or ln(2 size) where `large`, which may be near overflow."""
    u, low = two_sum(s, 1.0)
    low = low + s_low
    return log_of_sum(select(large, size, u), select(large, 0.0, low), select(large, 1.0, 0.0))


def asinh(x: Real) -> Real:
    """Return the inverse hyperbolic sine, ln(1 + |x| + x**2 / (1 + sqrt(x**2 + 1)))."""
    size = abs(x)
    large = size > _LARGE
    confined = select(large, 1.0, size)
    square = confined * confined
    s, s_low = fast_two_sum(confined, square / (1.0 + lax.sqrt(square + 1.0)))
    result = select(size < INFINITY, _log_of_one_plus(s, s_low, large, size), size)
    return with_sign_of(select(size < 2.0**-28, size, result), x)


def acosh(x: Real) -> Real:
    """Return the inverse hyperbolic cosine, ln(1 + t + sqrt(2 t + t**2)) with t = x - 1, or NaN below 1."""
    large = x > _LARGE
    t = select(large, 1.0, x) - 1.0
    s, s_low = fast_two_sum(lax.sqrt(2.0 * t + t * t), t)
    result = select(x < INFINITY, _log_of_one_plus(s, s_low, large, x), x)
    return select(x >= 1.0, result, NAN)


def atanh(x: Real) -> Real:
    """Return the inverse hyperbolic tangent, ln(1 + 2|x| + 2 x**2 / (1 - |x|)) / 2, or NaN beyond 1."""
    size = abs(x)
    double = size + size
    s, s_low = two_sum(double, (double * size) / (1.0 - size))
    u, low = two_sum(s, 1.0)
    result = select(size == 1.0, INFINITY, 0.5 * log_of_sum(u, low + s_low))
    result = select(size <= 1.0, result, NAN)
    return with_sign_of(select(size < 2.0**-28, size, result), x)
