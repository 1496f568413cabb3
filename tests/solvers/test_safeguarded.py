"""Substitution where it converges, Newton's method where it does not, each lane as it needs."""

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.solvers import EPS, Stopping, fixed_point, safeguarded_fixed_point

TRUTH = np.array([0.7, -0.4])


def steep(slope):
    """A map with the fixed point `TRUTH` and slopes of about that size there."""

    def g(x):
        d = x - (TRUTH if x.ndim == 1 else TRUTH[:, None])
        steepness = slope if x.ndim == 1 else slope[None]
        return x - d + steepness * (jnp.sin(d) + 0.3 * d[::-1] + 0.2 * d * d)

    return g


def size(dx):
    return jnp.max(jnp.abs(dx), axis=0) / EPS


def test_an_easy_map_is_solved_as_by_substitution():
    g, guess = steep(0.2), jnp.zeros(2)
    x, info = safeguarded_fixed_point(g, guess, size, Stopping())
    plain, plain_info = fixed_point(g, guess, size, Stopping())
    np.testing.assert_array_equal(x, plain)
    assert int(info.iterations) == int(plain_info.iterations) and bool(info.converged)


def test_a_map_that_does_not_contract_is_solved_all_the_same():
    x, info = safeguarded_fixed_point(steep(2.5), jnp.asarray(TRUTH + 0.1), size, Stopping())
    assert bool(info.converged)
    np.testing.assert_allclose(x, TRUTH, atol=4 * EPS)
    assert not bool(fixed_point(steep(2.5), jnp.asarray(TRUTH + 0.1), size, Stopping())[1].converged)


def test_each_lane_by_itself():
    slopes = jnp.array([0.2, 2.5, -3.0, 0.1])
    guess = jnp.asarray(TRUTH[:, None] + 0.1 * np.ones(4))
    x, info = jax.jit(lambda s: safeguarded_fixed_point(steep(s), guess, size, Stopping()))(slopes)
    assert info.converged.tolist() == [True] * 4
    np.testing.assert_allclose(x, np.tile(TRUTH[:, None], 4), atol=4 * EPS)
    mapped, _ = jax.vmap(lambda s, g: safeguarded_fixed_point(steep(s), g, size, Stopping()), (0, 1), (1, 0))(
        slopes, guess
    )
    np.testing.assert_allclose(mapped, x, atol=4 * EPS)


def test_an_equation_without_a_solution_fails():
    x, info = safeguarded_fixed_point(lambda x: x + 1.0 + x * x, jnp.ones(1), size, Stopping())
    assert not bool(info.converged)


def test_derivatives_are_those_of_the_equation():
    """Of a diverging substitution no series sums up to them."""

    def solution(a):
        return safeguarded_fixed_point(lambda x: 2.0 - a * x, jnp.array([0.9]), size, Stopping())[0][0]

    exact = -2.0 / (1.0 + 3.0) ** 2
    np.testing.assert_allclose([jax.grad(solution)(3.0), jax.jacfwd(solution)(3.0)], exact, rtol=1e-13)
