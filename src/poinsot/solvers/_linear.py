"""Small dense linear equations inside compiled loops."""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import hold

UNROLLED = 16
"""Largest system that is eliminated line by line; above it the call of LAPACK no longer counts."""


def solve_small(A: Float[Array, "n n"], b: Float[Array, " n"]) -> Float[Array, " n"]:
    r"""Solve $A x = b$, by elimination with partial pivoting written out for up to 16 unknowns.

    A call of LAPACK costs a microsecond or more from within a compiled loop, ten times the arithmetic of five
    unknowns. Larger systems go there all the same. A singular matrix gives infinities or NaN.

    Args:
        A: the matrix.
        b: the right-hand side.
    """
    solve = _eliminate if A.shape[0] <= UNROLLED else jnp.linalg.solve
    return lax.custom_linear_solve(
        lambda x: jnp.sum(A * x[None], axis=1), b, lambda _, c: solve(A, c), lambda _, c: solve(A.T, c)
    )


def _eliminate(A: Array, b: Array) -> Array:
    """Gaussian elimination: each round sets one row aside and shrinks the rest by a row and a column."""
    n, pivots = A.shape[0], []
    rest = jnp.concatenate([A, b[:, None]], axis=1)
    for left in range(n, 0, -1):
        row = jnp.argmax(jnp.abs(rest[:, 0]))
        pivot = rest[row]
        # The first row takes the place of the pivot, unless it is the pivot.
        below = jnp.where((jnp.arange(1, left) == row)[:, None], rest[0][None], rest[1:])
        rest = below[:, 1:] - (below[:, 0] / pivot[0])[:, None] * pivot[None, 1:]
        # XLA would otherwise compute every round anew for each entry of the next.
        rest, pivot = hold((rest, pivot))
        pivots.append(pivot)
    x = []
    for pivot in reversed(pivots):
        known = sum((a * value for a, value in zip(pivot[1:-1], x, strict=True)), start=jnp.zeros(()))
        x.insert(0, (pivot[-1] - known) / pivot[0])
    return jnp.stack(x)


def solve_in_loop(A: Float[Array, "n n"], b: Float[Array, " n"]) -> Float[Array, " n"]:
    r"""Solve $A x = b$ by Gauss-Jordan elimination with partial pivoting, in one loop.

    Slower than `solve_small`, but short: for equations that are seldom solved.
    """
    n = A.shape[0]
    places = jnp.arange(n)

    def eliminate(k, carry):
        rows, owner = carry
        column = jnp.sum(jnp.where(jnp.arange(n + 1)[None] == k, rows, 0.0), axis=1)
        row = jnp.argmax(jnp.where(owner < n, -1.0, jnp.abs(column)))
        chosen = places == row
        pivot = jnp.sum(jnp.where(chosen[:, None], rows, 0.0), axis=0)
        pivot = pivot / jnp.sum(jnp.where(chosen, column, 0.0))
        rows = jnp.where(chosen[:, None], pivot[None], rows - column[:, None] * pivot[None])
        return rows, jnp.where(chosen, k, owner)

    begin = jnp.concatenate([A, b[:, None]], axis=1), jnp.full(n, n)
    rows, owner = lax.fori_loop(0, n, eliminate, begin)
    return jnp.sum(jnp.where(owner[:, None] == places[None], rows[:, -1:], 0.0), axis=0)
