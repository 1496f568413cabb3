"""sincos against 250-bit arithmetic, in and beyond its range, and its derivatives."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from rotation_strategies import EPS

from poinsot.rotation import SINCOS_LIMIT, SINCOS_RANGE, sincos
from poinsot.rotation import _sincos as implementation

compiled = jax.jit(sincos)


def worst_ulps(pair, x) -> float:
    """Largest error of (sine, cosine) in units of the last place of the true values."""
    worst = 0.0
    with mpmath.workprec(250):
        for value, function in zip(pair, (mpmath.sin, mpmath.cos), strict=True):
            for approximate, argument in zip(np.asarray(value), x, strict=True):
                exact = mpmath.re(function(mpmath.mpf(float(argument))))
                ulp = np.spacing(abs(float(exact)))
                worst = max(worst, float(abs(mpmath.mpf(float(approximate)) - exact) / ulp))
    return worst


def near_quarter_turns(count: int):
    """Doubles next to multiples of pi/2, where reduction is hardest, up to the end of the range."""
    last = int(2.0 * SINCOS_RANGE / np.pi)
    multiples = np.unique(np.r_[1:200, np.geomspace(200, last, count).astype(int)])
    with mpmath.workprec(250):
        nearest = np.array([float(int(k) * mpmath.pi / 2) for k in multiples])
    return np.r_[nearest, np.nextafter(nearest, 0.0), -nearest]


def samples():
    rng = np.random.default_rng(7)
    uniform = [rng.uniform(-bound, bound, 600) for bound in (1.0, 10.0, 1e3, SINCOS_RANGE)]
    tiny = 10.0 ** rng.uniform(-300.0, 0.0, 300)
    octants = np.pi / 4.0 + np.pi / 2.0 * np.arange(-60.0, 60.0)
    return np.concatenate(
        [*uniform, tiny, octants, near_quarter_turns(600), [0.0, SINCOS_RANGE, -SINCOS_RANGE]]
    )


def test_error_is_below_one_ulp_in_range():
    x = samples()
    assert worst_ulps(compiled(jnp.asarray(x)), x) < 1.0


def test_accuracy_does_not_depend_on_fused_arithmetic():
    x = near_quarter_turns(60)
    with jax.disable_jit():
        assert worst_ulps(sincos(jnp.asarray(x)), x) < 1.0


def test_the_measure_sees_a_careless_reduction():
    x = near_quarter_turns(60)
    k = np.round(x / (np.pi / 2.0))
    reduced = jnp.asarray(x - k * (np.pi / 2.0))
    quadrant = jnp.asarray(k % 4.0)
    sine, cosine = jnp.sin(reduced), jnp.cos(reduced)
    pick = [quadrant == float(q) for q in range(4)]
    careless = (
        jnp.select(pick, [sine, cosine, -sine, -cosine]),
        jnp.select(pick, [cosine, -sine, -cosine, sine]),
    )
    assert worst_ulps(careless, x) > 1e6


def test_beyond_the_range_the_error_is_that_of_one_ulp_of_the_argument():
    x = 10.0 ** np.random.default_rng(8).uniform(5.0, 12.0, 500)
    sine, cosine = (np.asarray(value) for value in compiled(jnp.asarray(x)))
    with mpmath.workprec(250):
        exact = np.array(
            [[float(mpmath.re(f(mpmath.mpf(float(v))))) for v in x] for f in (mpmath.sin, mpmath.cos)]
        )
    assert np.all(np.abs(np.array([sine, cosine]) - exact) <= EPS * x)
    np.testing.assert_allclose(sine**2 + cosine**2, 1.0, rtol=4 * EPS)


@pytest.mark.parametrize("x", [2.0 * SINCOS_LIMIT, -1e300, np.inf, -np.inf, np.nan])
def test_no_number_is_better_than_a_wrong_one(x):
    sine, cosine = compiled(jnp.asarray(x))
    assert np.isnan(sine) and np.isnan(cosine)


def test_coefficients_interpolate_at_the_chebyshev_points():
    functions = (
        lambda z: (mpmath.sin(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z,
        lambda z: (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2,
    )
    with mpmath.workdps(50):
        top = mpmath.mpf("1.0005") * (mpmath.pi / 4) ** 2
        nodes = [top / 2 * (1 + mpmath.cos(mpmath.pi * (2 * i + 1) / 12)) for i in range(6)]
        powers = mpmath.matrix([[z**j for j in reversed(range(6))] for z in nodes])
        tables = (implementation._SINE, implementation._COSINE)
        for function, table in zip(functions, tables, strict=True):
            exact = mpmath.lu_solve(powers, mpmath.matrix([function(z) for z in nodes]))
            assert [float(c) for c in exact] == list(table)


def test_derivatives_of_every_order_are_the_values_again():
    x = jnp.asarray(0.7)
    sine, cosine = sincos(x)
    first = jax.grad(lambda x: sincos(x)[0])
    assert first(x) == cosine
    assert jax.grad(lambda x: sincos(x)[1])(x) == -sine
    assert jax.grad(jax.grad(first))(x) == -cosine


def test_gradient_reduces_the_argument_once():
    program = str(jax.make_jaxpr(lambda x: jax.value_and_grad(lambda x: sincos(x)[0])(x))(0.7))
    assert program.count("round") == str(jax.make_jaxpr(sincos)(0.7)).count("round") > 0
