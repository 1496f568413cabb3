"""The inverse of a small matrix inside a compiled loop."""

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import hold

LOOPED = 24
"""Largest matrix that is inverted here; above it the call of LAPACK no longer counts."""


def inverse(A: Float[Array, "n n"]) -> Float[Array, "n n"]:
    r"""$A^{-1}$ by Gauss-Jordan elimination with partial pivoting.

    Where one matrix meets many right-hand sides, one after the other, a product with the inverse takes a
    fraction of the time of two triangular solutions. Its errors are those of elimination, in proportion to
    the condition of the matrix. A singular matrix gives infinities or NaN.
    """
    return jnp.linalg.inv(A) if A.shape[0] > LOOPED else poinsot_inverse(A)


@jax.jit
def poinsot_inverse(A: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """The inverse in a loop. A trace holds it by this name: machine code has it written out."""
    n = A.shape[0]
    rows = jnp.arange(n)

    def eliminate(i, both):
        column = jnp.abs(both[:, i])
        chosen = jnp.argmax(jnp.where(rows >= i, column, -1.0))
        pivot, displaced = both[chosen], both[i]
        both = both.at[chosen].set(displaced).at[i].set(pivot)
        pivot = pivot / pivot[i]
        rest = both - both[:, i][:, None] * pivot[None]
        return hold(rest.at[i].set(pivot))

    return lax.fori_loop(0, n, eliminate, jnp.concatenate([A, jnp.eye(n)], axis=1))[:, n:]
