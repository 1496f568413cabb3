"""Simplified Newton iteration to round-off, differentiable by the implicit function theorem."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from poinsot.solvers._iteration import Stopping, iterate


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

    def linear_solve(matvec, rhs):
        return jnp.linalg.solve(jax.jacfwd(matvec)(rhs), rhs)

    return lax.custom_root(residual, guess, correct, linear_solve, has_aux=True)
