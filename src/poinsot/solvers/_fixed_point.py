"""Fixed-point iteration to round-off, differentiable by the implicit function theorem."""

from collections.abc import Callable

from jax import lax

from poinsot.solvers._iteration import EPS, Stopping, corrected, iterate, largest, minus
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

    def substitute(g, start):
        def substituted(x):
            following = g(x)
            return following, minus(x, following)

        return iterate(substituted, start, size, stopping)

    def linear_solve(matvec, rhs):
        relative = Stopping(tolerance=1.0, accept=stopping.accept, max_iterations=stopping.max_iterations)

        def solve(matvec, rhs):
            roundoff = EPS * largest(rhs) + 1e-300
            change = corrected(lambda x: minus(matvec(x), rhs))
            return iterate(change, rhs, lambda dx: largest(dx) / roundoff, relative)[0]

        # The transposed equation, which reverse mode needs, contracts at the same rate.
        return lax.custom_linear_solve(matvec, rhs, solve, transpose_solve=solve)

    return root(g, guess, substitute, linear_solve, minus)
