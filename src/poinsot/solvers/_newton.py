"""Newton iterations to round-off, differentiable by the implicit function theorem."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import hold
from poinsot.solvers._iteration import Stopping, iterate
from poinsot.solvers._linear import solve_small


def newton(residual: Callable, guess: Float[Array, " n"], size: Callable, stopping: Stopping):
    r"""Solve $r(x) = 0$ by $x \leftarrow x - r'(x)^{-1} r(x)$, with the Jacobian of every iterate.

    Made for few unknowns. Derivatives follow from the implicit function theorem.

    Args:
        residual: the function $r$ of a vector.
        guess: starting value.
        size: scaled size of a correction, in units of round-off.
        stopping: when to end.

    Returns:
        The solution and a `SolveInfo`.
    """

    def correct(r, start):
        return iterate(lambda x: _newton_correction(r, x), start, size, stopping, order=2)

    return lax.custom_root(residual, guess, correct, _dense_solve, has_aux=True)


def _newton_correction(r: Callable, x: Float[Array, " n"]) -> Float[Array, " n"]:
    """The correction at `x`, with value and Jacobian from one sweep."""
    value, jacobian = jax.vmap(lambda e: jax.jvp(r, (x,), (e,)), out_axes=(None, 1))(jnp.eye(x.size))
    return solve_small(*hold((jacobian, value)))


def _dense_solve(matvec: Callable, rhs: Float[Array, " n"]) -> Float[Array, " n"]:
    """Solve a linear equation by forming its matrix."""
    return solve_small(jax.vmap(matvec, out_axes=1)(jnp.eye(rhs.size)), rhs)


def simplified_newton(
    residual: Callable,
    guess: Float[Array, " n"],
    jacobian: Float[Array, "n n"],
    size: Callable,
    stopping: Stopping,
):
    r"""Solve $r(x) = 0$ by $x \leftarrow x - J^{-1} r(x)$ with one matrix $J \approx r'$, factored once.

    Derivatives follow from the implicit function theorem with the exact Jacobian at the solution.

    Args:
        residual: the function $r$ of a vector.
        guess: starting value.
        jacobian: the matrix $J$.
        size: scaled size of a correction, in units of round-off.
        stopping: when to end.

    Returns:
        The solution and a `SolveInfo`.
    """
    factors = jax.scipy.linalg.lu_factor(lax.stop_gradient(jacobian))

    def correct(r, start):
        return iterate(lambda x: jax.scipy.linalg.lu_solve(factors, r(x)), start, size, stopping)

    return lax.custom_root(residual, guess, correct, _dense_solve, has_aux=True)
