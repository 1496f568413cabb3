"""Elimination of few unknowns, and Newton's method on top of it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from poinsot.solvers import EPS, Stopping, factored, newton, simplified_newton, solve_in_loop, solve_small
from poinsot.solvers._linear import UNROLLED
from quickly import quickly

RANDOM = np.random.default_rng(5)
STOPPING = Stopping(tolerance=1e-4, max_iterations=30)


def size(dx):
    return jnp.max(jnp.abs(dx)) / EPS


@pytest.mark.parametrize("solve", [solve_small, solve_in_loop])
@pytest.mark.parametrize("n", [1, 2, 5, 9, UNROLLED, UNROLLED + 1])
def test_elimination_agrees_with_lapack(n, solve):
    A, b = RANDOM.normal(size=(6, n, n)), RANDOM.normal(size=(6, n))
    found = quickly(jax.vmap(solve))(jnp.asarray(A), jnp.asarray(b))
    exact = np.linalg.solve(A, b[..., None])[..., 0]
    tolerance = 4.0 * EPS * np.linalg.cond(A).max() * np.abs(exact).max()
    np.testing.assert_allclose(found, exact, rtol=0.0, atol=tolerance)


@pytest.mark.parametrize("solve", [solve_small, solve_in_loop])
def test_pivots_are_looked_for(solve):
    """Zeros and tiny numbers on the diagonal: without exchange of rows there would be no digit left."""
    A = np.array([[0.0, 2.0, 1.0], [1e-17, 1e-17, 3.0], [4.0, 1.0, 0.0]])
    x = np.array([1.0, -2.0, 0.5])
    solve = quickly(solve)
    np.testing.assert_allclose(solve(A, A @ x), x, rtol=1e-15)
    assert not np.any(np.isfinite(solve(np.ones((3, 3)), np.array([1.0, 2.0, 3.0]))))


def test_derivatives_of_a_solution():
    A, b = jnp.asarray(RANDOM.normal(size=(4, 4))), jnp.asarray(RANDOM.normal(size=4))
    dA, db = jnp.asarray(RANDOM.normal(size=(4, 4))), jnp.asarray(RANDOM.normal(size=4))
    x = np.linalg.solve(A, b)
    expected = np.linalg.solve(A, db - dA @ x)
    forward = quickly(lambda *tangents: jax.jvp(solve_small, (A, b), tangents)[1])
    np.testing.assert_allclose(forward(dA, db), expected, rtol=1e-11)
    w = jnp.arange(1.0, 5.0)
    slopes = quickly(jax.grad(lambda A, b: jnp.sum(w * solve_small(A, b)), argnums=(0, 1)))(A, b)
    product = jnp.sum(slopes[0] * dA) + jnp.sum(slopes[1] * db)
    np.testing.assert_allclose(product, w @ expected, rtol=1e-11)


def circle_and_line(angle):
    """Where the unit circle meets the line from the origin at an angle, as two equations."""

    def residual(x):
        return jnp.stack([jnp.sum(x * x) - 1.0, x[1] * jnp.cos(angle) - x[0] * jnp.sin(angle)])

    return residual, jnp.array([1.0, 0.3])


def test_newton_doubles_digits_and_stops_in_time():
    residual, guess = circle_and_line(0.5)
    x, info = quickly(lambda: newton(residual, guess, size, STOPPING))()
    np.testing.assert_allclose(x, [np.cos(0.5), np.sin(0.5)], rtol=0.0, atol=2 * EPS)
    assert bool(info.converged)
    slow = quickly(
        lambda: simplified_newton(residual, guess, factored(jax.jacfwd(residual)(guess)), size, STOPPING)
    )()[1]
    assert int(info.iterations) <= 5 < int(slow.iterations)


def test_newton_without_solution_says_so():
    info = quickly(lambda: newton(lambda x: x * x + 1.0, jnp.ones(1), size, STOPPING))()[1]
    assert not bool(info.converged)


def test_newton_differentiates_the_solution_and_not_the_iteration():
    def solution(angle):
        residual, guess = circle_and_line(angle)
        return newton(residual, guess, size, STOPPING)[0]

    for mode in (jax.jacfwd, jax.jacrev):
        np.testing.assert_allclose(quickly(mode(solution))(0.5), [-np.sin(0.5), np.cos(0.5)], rtol=1e-14)
    second = quickly(jax.jacfwd(jax.jacrev(solution)))(0.5)
    np.testing.assert_allclose(second, [-np.cos(0.5), -np.sin(0.5)], rtol=1e-13)
