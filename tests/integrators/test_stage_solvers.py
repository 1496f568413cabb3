"""The two iterations behind implicit methods, and compensated summation of the update."""

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.analysis._travel import travel
from poinsot.integrators import RK4, FixedPoint, GaussLegendre, LobattoIIIAB, RadauIIA, SimplifiedNewton
from poinsot.integrators._update import add

PENDULUM = pt.Hamiltonian(lambda q, p: 0.5 * p[0] ** 2 - jnp.cos(q[0]) * (1.0 - p[0] / 6.0))
START = pt.State(q=[0.3], p=[0.9])


def test_both_iterations_find_the_same_step():
    runs = [
        pt.solve(PENDULUM, GaussLegendre(3, solver=solver), START, dt=0.1, steps=200)
        for solver in (FixedPoint(), SimplifiedNewton())
    ]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(runs[0].p, runs[1].p, rtol=0.0, atol=1e-13)
    assert all(int(run.result) == 0 for run in runs)


@pytest.mark.parametrize(
    ("method", "accuracy"), [(RadauIIA(3), 1e-6), (GaussLegendre(2), 1e-3)], ids=["radau", "gauss"]
)
def test_a_stiff_problem_needs_newton(method, accuracy):
    """Relaxation to cos t at rate 1e6: the fixed-point iteration diverges and says so.

    Gauss does not damp: on such a problem it falls back to its stage order.
    """
    stiff = pt.ODE(lambda t, y: -1e6 * (y - jnp.cos(t)) - jnp.sin(t))
    start = pt.State(y=[1.0])
    failed = pt.solve(stiff, method, start, dt=0.1, steps=10)
    assert int(failed.result) == pt.Result.stage_equations_not_converged
    assert int(failed.steps) == 0 and np.all(np.isnan(failed.y[1:]))

    newton = type(method)(method.tableau, SimplifiedNewton())
    solved = pt.solve(stiff, newton, start, dt=0.1, steps=10)
    assert int(solved.result) == 0
    np.testing.assert_allclose(solved.y[:, 0], np.cos(solved.t), rtol=0.0, atol=accuracy)


def test_the_sum_with_its_remainder_is_exact():
    """Whatever the sizes: the total and the remainder together are the two terms, in exact arithmetic."""
    from fractions import Fraction

    rng = np.random.default_rng(1)
    y = rng.normal(size=200) * 10.0 ** rng.integers(-12, 12, 200)
    increment = rng.normal(size=200) * 10.0 ** rng.integers(-12, 12, 200)
    total, remainder = add(jnp.asarray(y), jnp.asarray(increment), jnp.zeros(200))
    assert remainder is not None
    for a, b, s, r in zip(y, increment, np.asarray(total), np.asarray(remainder), strict=True):
        assert Fraction(float(s)) + Fraction(float(r)) == Fraction(float(a)) + Fraction(float(b))


@pytest.mark.parametrize("make", [RK4, lambda **options: GaussLegendre(2, **options)], ids=["rk4", "gauss4"])
def test_compensation_keeps_what_plain_summation_loses(make):
    """A constant slope of 0.1 over 100,000 steps: the exact end is known, only the sum can err."""
    constant = pt.ODE(lambda y: jnp.full_like(y, 0.1))
    y0, h, steps = jnp.array([1.0]), 0.1, 100_000
    exact = 1.0 + steps * (0.1 * 0.1)
    plain = travel(constant, make(), y0, h, steps)
    compensated = travel(constant, make(compensated=True), y0, h, steps)
    assert abs(float(compensated.y[0]) - exact) <= 4 * np.spacing(exact)
    assert abs(float(plain.y[0]) - exact) > 1000 * np.spacing(exact)


def test_compensation_survives_in_the_partitioned_method():
    free = pt.Hamiltonian(lambda q, p: 0.1 * p[0] + 0.0 * q[0])
    steps = 20_000
    plain, compensated = (
        travel(free, LobattoIIIAB(2, compensated=flag), jnp.array([1.0, 0.0]), 0.1, steps)
        for flag in (False, True)
    )
    exact = 1.0 + steps * (0.1 * 0.1)
    assert abs(float(compensated.y[0]) - exact) <= 4 * np.spacing(exact)
    assert abs(float(plain.y[0]) - exact) > 100 * np.spacing(exact)
