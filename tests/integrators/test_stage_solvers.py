"""The two iterations behind implicit methods, and compensated summation of the update."""

import jax
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


def pendula(q, p):
    """Energy of many pendula like `PENDULUM`, which do not act on each other."""
    return jnp.sum(0.5 * p**2 - jnp.cos(q) * (1.0 - p / 6.0))


@pytest.mark.parametrize(
    "method",
    [
        GaussLegendre(3),
        pytest.param(GaussLegendre(3, compensated=True), marks=pytest.mark.slow),
        pytest.param(LobattoIIIAB(3), marks=pytest.mark.slow),
        pytest.param(LobattoIIIAB(3, compensated=True), marks=pytest.mark.slow),
    ],
    ids=["gauss", "gauss compensated", "lobatto", "lobatto compensated"],
)
def test_stages_of_a_long_state_one_by_one_are_those_of_short_ones(method):
    """A state of 1200 numbers goes stage by stage; the same pendula each by itself do not.

    Motion and derivatives agree; a neighbour's differ.
    """
    q, p = jnp.asarray(np.random.default_rng(3).uniform(-1.0, 1.0, (2, 600)))

    def end(problem, q, p):
        done = pt.solve(problem, method, pt.State(q=q, p=p), dt=0.1, steps=5)
        return done.q[-1], done.p[-1], done.result

    def together(scale):
        return end(pt.Hamiltonian(pendula), scale * q, scale * p)[:2]

    def alone(scale):
        return jax.vmap(lambda q, p: end(PENDULUM, scale * q[None], scale * p[None])[:2])(q, p)

    one = jnp.array(1.0)
    found = jax.jvp(together, (one,), (one,))
    wanted = jax.tree.map(jnp.ravel, jax.jvp(alone, (one,), (one,)))
    for got, right in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(got, right, rtol=0.0, atol=2e-14)
        assert np.max(np.abs(got - np.roll(right, 1))) > 0.1
    broken = end(pt.Hamiltonian(lambda q, p: pendula(q, jnp.sqrt(p))), q, jnp.abs(p).at[7].set(-1.0))
    assert int(broken[2]) != 0


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
