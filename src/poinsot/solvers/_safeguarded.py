"""Fixed-point iteration that Newton's method takes over where it does not converge."""

from collections.abc import Callable
from math import prod

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import Blocks, each_body
from poinsot.solvers._block_banded import linearised
from poinsot.solvers._iteration import SolveInfo, Stopping, corrected, iterate
from poinsot.solvers._linear import solve_in_loop
from poinsot.solvers._newton import linear_solution
from poinsot.solvers._root import root

NEWTON = Stopping(max_iterations=30)
"""When Newton's method gives up: it has no use for more."""


def safeguarded_fixed_point(g: Callable, guess: Float[Array, "n *lanes"], size: Callable, stopping: Stopping):
    r"""Solve $x = g(x)$ by repeated substitution, and by Newton's method where that does not converge.

    Substitution needs a map that contracts; for few unknowns it is then by far the cheaper one. Newton's
    method begins anew at the guess, and costs nothing as long as no lane needs it. It forms the Jacobian:
    made for few unknowns in each lane. Derivatives follow from the implicit function theorem.

    Args:
        g: the map, of each lane by itself.
        guess: starting value.
        size: scaled size of a change in each lane, in units of round-off.
        stopping: when substitution ends.

    Returns:
        The solution and a `SolveInfo`.
    """
    shape = guess.shape
    lanes = jax.eval_shape(size, guess).shape
    blocks = Blocks.of(np.tile(np.arange(prod(lanes)), shape[0]))

    def in_shape(function: Callable) -> Callable:
        return lambda flat: function(flat.reshape(shape)).reshape(-1)

    def solve(g, start):
        def substitute(x):
            following = g(x)
            return following, size(x - following)

        def correction(x):
            # All in loops, without LAPACK: it is seldom needed, quickly compiled, and not in the way of XLA.
            residual = in_shape(lambda x: x - g(x))
            value, jacobian = linearised(residual, x.reshape(-1), blocks, one_by_one=True)
            return blocks.join(each_body(solve_in_loop)(jacobian.diagonal, blocks.split(value))).reshape(
                shape
            )

        def take_over(x, info):
            done, improved = info.converged, corrected(correction, size)
            begin = jnp.where(done, x, start)
            y, late = iterate(improved, begin, NEWTON, order=2, lanes=lanes, active=~done)
            change = jnp.where(done, info.last_change, late.last_change)
            return jnp.where(done, x, y), SolveInfo(change, info.count + late.count, stopping.accept)

        x, info = iterate(substitute, start, stopping, lanes=lanes)
        return lax.cond(jnp.all(info.converged), lambda *found: found, take_over, x, info)

    def linear_solve(matvec, rhs):
        return linear_solution(in_shape(matvec), rhs.reshape(-1), blocks).reshape(shape)

    return root(g, guess, solve, linear_solve, lambda x, value: x - value)
