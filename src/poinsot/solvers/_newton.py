"""Newton iterations to round-off, differentiable by the implicit function theorem."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import Blocks, hold, one_block
from poinsot.solvers._block_banded import linearised
from poinsot.solvers._iteration import Again, Stopping, corrected, iterate, iterate_again
from poinsot.solvers._root import root

REPETITIONS = 6
"""Corrections of a linear equation with a shifted matrix."""


def newton(
    residual: Callable,
    guess: Float[Array, " n"],
    size: Callable,
    stopping: Stopping,
    blocks: Blocks | None = None,
    shift: Float[Array, " n"] | None = None,
):
    r"""Solve $r(x) = 0$ by $x \leftarrow x - r'(x)^{-1} r(x)$, with the Jacobian of every iterate.

    Time and memory are linear in the number of blocks and cubic in their size: made for few unknowns, or for
    many in small blocks. Derivatives follow from the implicit function theorem.

    Args:
        residual: the function $r$ of a vector.
        guess: starting value.
        size: scaled size of a correction, in units of round-off.
        stopping: when to end.
        blocks: which unknowns stand in equations together; None where all may.
        shift: added to the diagonal of the Jacobian, for equations that depend on each other and agree: what
            they ask for is found all the same, only not in quadratic convergence.

    Returns:
        The solution and a `SolveInfo`.
    """
    structure = one_block(guess.size) if blocks is None else blocks
    # It moves no solution, so a derivative has no part of it.
    shift = None if shift is None else lax.stop_gradient(shift)

    def correct(r, start):
        improved = corrected(lambda x: _newton_correction(r, x, structure, shift), size)
        return iterate(improved, start, stopping, order=2 if shift is None else 1)

    def linear_solve(matvec, rhs, shift=None):
        if shift is None:
            return linear_solution(matvec, rhs, structure)
        # The matrix is found once: it is most of the derivative of a step.
        _, matrix = linearised(matvec, jnp.zeros_like(rhs), structure)
        shifted, b = matrix.shifted(structure.split(shift)).completed(structure), structure.split(rhs)
        x = shifted.solve(b)
        for _ in range(REPETITIONS - 1):
            x = x + shifted.solve(b - matrix.times(x))
        return structure.join(x)

    return root(residual, guess, correct, linear_solve, known=() if shift is None else (shift,))


def _newton_correction(
    r: Callable, x: Float[Array, " n"], blocks: Blocks, shift: Float[Array, " n"] | None
) -> Float[Array, " n"]:
    """The correction at `x`, with value and Jacobian from one sweep."""
    shifted = r if shift is None else lambda y: r(y) + shift * (y - x)
    value, jacobian = hold(linearised(shifted, x, blocks))
    return blocks.join(jacobian.completed(blocks).solve(blocks.split(value)))


def linear_solution(matvec: Callable, rhs: Float[Array, " n"], blocks: Blocks) -> Float[Array, " n"]:
    """Solve a linear equation by forming its matrix."""
    _, matrix = linearised(matvec, jnp.zeros_like(rhs), blocks)
    return blocks.join(matrix.completed(blocks).solve(blocks.split(rhs)))


def simplified_newton(
    residual: Callable,
    guess: Float[Array, " n"],
    inverse: Callable,
    size: Callable,
    stopping: Stopping,
    blocks: Blocks | None = None,
    again: Again | None = None,
):
    r"""Solve $r(x) = 0$ by $x \leftarrow x - J^{-1} r(x)$ with one matrix $J \approx r'$, factored once.

    Derivatives follow from the implicit function theorem with the exact Jacobian at the solution.

    Args:
        residual: the function $r$ of a vector.
        guess: starting value.
        inverse: the function that multiplies a vector by $J^{-1}$, see `factored`.
        size: scaled size of a correction, in units of round-off.
        stopping: when to end.
        blocks: which unknowns stand in equations together; None where all may.
        again: further guesses, for where the first leads nowhere.

    Returns:
        The solution and a `SolveInfo`.
    """
    structure = one_block(guess.size) if blocks is None else blocks

    def correct(r, start):
        improved = corrected(lambda x: inverse(r(x)), size)
        if again is None:
            return iterate(improved, start, stopping)
        return iterate_again(improved, start, again, stopping)

    def linear_solve(matvec, rhs):
        return linear_solution(matvec, rhs, structure)

    return root(residual, guess, correct, linear_solve)


def factored(matrix: Float[Array, "n n"]) -> Callable:
    """The function that multiplies by the inverse of a dense matrix, which is factored once."""
    factors = jax.scipy.linalg.lu_factor(lax.stop_gradient(matrix))
    return lambda b: jax.scipy.linalg.lu_solve(factors, b)
