"""Fixed-point iteration to round-off, differentiable by the implicit function theorem."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax

from poinsot.core import largest
from poinsot.solvers._iteration import EPS, Again, Stopping, corrected, iterate, iterate_again, minus
from poinsot.solvers._root import root


def fixed_point(g: Callable, guess, size: Callable, stopping: Stopping):
    r"""Solve $x = g(x)$ by repeated substitution.

    Derivatives follow from the implicit function theorem, with the linear equation
    $\dot x - g'(x)\,\dot x = \dot b$ solved by the same iteration: no matrix is ever formed.

    Args:
        g: the map; takes and returns a pytree like `guess`.
        guess: starting value.
        size: scaled size of a change, in units of round-off.
        stopping: when to end.

    Returns:
        The solution and a `SolveInfo`.
    """

    def substitute(x):
        following = g(x)
        return following, size(minus(x, following))

    return measured_fixed_point(substitute, guess, stopping)


def measured_fixed_point(substitute: Callable, guess, stopping: Stopping, again: Again | None = None):
    """`fixed_point` of a map that returns the size of the change with its value.

    Of many numbers it can measure some while they are at hand, and go on to the next. `again` are further
    guesses, for where the first leads nowhere.
    """

    def linear_solve(matvec, rhs):
        relative = Stopping(tolerance=1.0, accept=stopping.accept, max_iterations=stopping.max_iterations)

        def solve(matvec, rhs):
            unit = EPS * _largest_leaf(rhs) + 1e-300
            change = corrected(lambda x: minus(matvec(x), rhs), lambda dx: _largest_leaf(dx) / unit)
            return iterate(change, rhs, relative)[0]

        # The transposed equation, which reverse mode needs, contracts at the same rate.
        return lax.custom_linear_solve(matvec, rhs, solve, transpose_solve=solve)

    def repeat(substitute, start):
        lanes = jax.eval_shape(substitute, start)[1].shape
        if again is None:
            return iterate(substitute, start, stopping, lanes=lanes)
        return iterate_again(substitute, start, again, stopping, lanes)

    return root(substitute, guess, repeat, linear_solve, lambda x, substituted: minus(x, substituted[0]))


def _largest_leaf(tree):
    """Largest magnitude in a pytree."""
    return jnp.max(jnp.stack([largest(leaf) for leaf in jax.tree.leaves(tree)]))
