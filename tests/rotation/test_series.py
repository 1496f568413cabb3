"""Series in the squared angle against mpmath: values, derivatives, and the behaviour at zero."""

import math
from functools import cache

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from rotation_strategies import EPS

from poinsot.rotation import angle_over_sine, inverse_tangent_coefficient, stumpff
from quickly import quickly

# Where c_3, c_4, ..., c_8 change from the series to the recurrence.
SWITCHES = np.array([10.0, 15.0, 21.0, 28.0, 36.0, 45.0])
SQUARED_ANGLES = np.concatenate(
    [
        [0.0, 1e-300, 1e-24, 1e-16, 1e-8, 1e-4, 0.01, 0.3, 1.0, 3.0, 7.0, 9.0, 9.6, 11.0, 18.0, 33.0, 60.0],
        np.nextafter(SWITCHES, 0.0),
        SWITCHES,
        np.nextafter(SWITCHES, np.inf),
    ]
)


def with_derivatives(function):
    """Value, first and second derivative at many points at once."""
    first = jax.grad(function)
    return quickly(jax.vmap(lambda x: (function(x), first(x), jax.grad(first)(x))))


def exact_stumpff(k: int, x: float, order: int = 0):
    """Derivative of c_k summed from its power series, term by term."""
    argument = mpmath.mpf(x)
    return mpmath.fsum(
        (-1) ** j * mpmath.ff(j, order) * argument ** (j - order) / mpmath.factorial(k + 2 * j)
        for j in range(order, 70)
    )


def errors(values, exact, conditioned):
    """Errors in units of round-off, that of the result and that inherited from the argument together."""
    unit = EPS * (np.abs(exact) + np.abs(conditioned))
    return np.abs(np.asarray(values) - exact) / unit


@cache
def stumpff_table(k: int):
    """c_k and its first two derivatives at all points; the first point is zero."""
    return with_derivatives(lambda x: stumpff(k, x))(jnp.asarray(SQUARED_ANGLES))


@pytest.mark.parametrize("k", [0, 3, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2, 4, 5))])
def test_stumpff_and_its_derivatives(k):
    values = stumpff_table(k)
    with mpmath.workdps(60):
        table = np.array(
            [[float(mpmath.re(exact_stumpff(k, x, order))) for x in SQUARED_ANGLES] for order in range(4)]
        )
    for order in range(3):
        inherited = SQUARED_ANGLES * table[order + 1]
        assert errors(values[order], table[order], inherited).max() < (4.0, 10.0, 20.0)[order]


@pytest.mark.parametrize("k", range(4))
def test_stumpff_at_zero(k):
    value, first, second = stumpff_table(k)
    assert value[0] == 1.0 / math.factorial(k)
    np.testing.assert_allclose(first[0], -1.0 / math.factorial(k + 2), rtol=4 * EPS)
    np.testing.assert_allclose(second[0], 2.0 / math.factorial(k + 4), rtol=8 * EPS)


def test_the_plain_formula_has_no_derivative_at_zero():
    plain = jax.grad(lambda x: (1.0 - jnp.cos(jnp.sqrt(x))) / x)
    assert not np.isfinite(plain(0.0))


def test_nan_is_not_hidden():
    assert all(np.isnan(stumpff(k, jnp.asarray(jnp.nan))) for k in range(5))


def test_inverse_tangent_coefficient():
    x = SQUARED_ANGLES[(SQUARED_ANGLES == 0.0) | (SQUARED_ANGLES >= 0.01) & (SQUARED_ANGLES < 4.0 * np.pi**2)]
    values = with_derivatives(inverse_tangent_coefficient)(jnp.asarray(x))

    def exact(x):
        half = mpmath.sqrt(x) / 2
        return (1 - half * mpmath.cot(half)) / x

    with mpmath.workdps(60):
        table = np.array([[float(mpmath.diff(exact, mpmath.mpf(v), n)) for v in x[1:]] for n in range(4)])
    for order, limit in enumerate((8.0, 20.0, 60.0)):
        assert errors(values[order][1:], table[order], x[1:] * table[order + 1]).max() < limit
    at_zero = [value[0] for value in values]
    np.testing.assert_allclose(at_zero, [1.0 / 12.0, 1.0 / 720.0, 1.0 / 15120.0], rtol=1e-14)


def test_angle_over_sine():
    angle = np.r_[1e-150, 1e-12, 1e-8, 1e-4, np.linspace(0.01, np.pi / 2.0, 200)]
    sine, cosine = np.sin(angle), np.cos(angle)
    squared = sine * sine
    values = np.asarray(quickly(angle_over_sine)(jnp.asarray(squared), jnp.asarray(cosine)))
    with mpmath.workdps(60):
        roots = [mpmath.sqrt(mpmath.mpf(v)) for v in squared]
        exact = [mpmath.atan2(s, mpmath.mpf(c)) / s for s, c in zip(roots, cosine, strict=True)]
        ulps = [
            float(abs(v - e)) / np.spacing(float(e))
            for v, e in zip(map(mpmath.mpf, values), exact, strict=True)
        ]
    assert max(ulps) < 5.0


def test_angle_over_sine_at_zero():
    value, first, second = with_derivatives(lambda y: angle_over_sine(y, jnp.ones_like(y)))(jnp.zeros(1))
    np.testing.assert_allclose([value[0], first[0], second[0]], [1.0, -1.0 / 3.0, 2.0 / 5.0], rtol=1e-14)
