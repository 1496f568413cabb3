r"""Block-diagonal and block-tridiagonal equations, in time and memory linear in the number of blocks."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Shaped

from poinsot.core import Blocks, each_body
from poinsot.solvers._linear import solve_small

LONG = 1024
"""Unknowns from which the Jacobian is found one direction after the other."""

Blocked = Shaped[Array, "size count"]
Matrices = Shaped[Array, "size size count"]


class BlockMatrix(eqx.Module):
    r"""A matrix of blocks $A_{ij}$ that vanish unless $|i - j| \le 1$.

    Args:
        diagonal: the blocks $A_{ii}$.
        beside: the blocks $A_{i,i-1}$ and $A_{i,i+1}$, of which the first and the last count for nothing;
            None where all vanish.
    """

    diagonal: Matrices
    beside: tuple[Matrices, Matrices] | None

    @property
    def transpose(self) -> "BlockMatrix":
        """The transposed matrix."""
        diagonal = jnp.swapaxes(self.diagonal, 0, 1)
        if self.beside is None:
            return BlockMatrix(diagonal, None)
        left, right = (jnp.swapaxes(part, 0, 1) for part in self.beside)
        return BlockMatrix(diagonal, (jnp.roll(right, 1, axis=-1), jnp.roll(left, -1, axis=-1)))

    def times(self, x: Blocked) -> Blocked:
        """The product with a vector in blocks."""
        product = _product(self.diagonal, x)
        if self.beside is None:
            return product
        left, right = self.beside
        product = product.at[:, 1:].add(_product(left[..., 1:], x[:, :-1]))
        return product.at[:, :-1].add(_product(right[..., :-1], x[:, 1:]))

    def completed(self, blocks: Blocks) -> "BlockMatrix":
        """The matrix with ones on the diagonal where blocks are filled up, so that it can be solved with."""
        if not np.any(blocks.filled):
            return self
        ones = jnp.asarray(np.eye(blocks.size)[:, :, None] * blocks.filled[None])
        return BlockMatrix(self.diagonal + ones, self.beside)

    def shifted(self, shift: Blocked) -> "BlockMatrix":
        """Add a vector in blocks to the diagonal."""
        more = jnp.eye(shift.shape[0])[:, :, None] * shift[None]
        return BlockMatrix(self.diagonal + more, self.beside)

    def solve(self, b: Blocked) -> Blocked:
        r"""Solve $A x = b$.

        Rows are exchanged within blocks, not between them: every block $A_{ii}$, less what its predecessors
        take from it, must be regular.
        """
        if self.beside is None:
            return each_body(solve_small)(self.diagonal, b)
        turned = self.transpose
        return lax.custom_linear_solve(
            self.times, b, lambda _, c: Elimination(self).solve(c), lambda _, c: Elimination(turned).solve(c)
        )


class Elimination(eqx.Module):
    r"""The block Thomas algorithm: a matrix in blocks eliminated once, to be solved with many times.

    $$ D_i = A_{ii} - A_{i,i-1} U_{i-1}, \quad U_i = D_i^{-1} A_{i,i+1}, \qquad
       y_i = D_i^{-1}(b_i - A_{i,i-1}\,y_{i-1}), \quad x_i = y_i - U_i\,x_{i+1} $$

    Args:
        matrix: the matrix, real or complex.
    """

    inverse: Shaped[Array, "count size size"]
    beside: tuple[Shaped[Array, "count size size"], Shaped[Array, "count size size"]] | None
    """The blocks to the left of the diagonal, and $U$; None where the blocks stand by themselves."""

    def __init__(self, matrix: BlockMatrix):
        diagonal = jnp.moveaxis(matrix.diagonal, -1, 0)
        if matrix.beside is None:
            self.inverse, self.beside = jnp.linalg.inv(diagonal), None
            return
        left, right = (jnp.moveaxis(part, -1, 0) for part in matrix.beside)
        count, size = diagonal.shape[:2]
        place = jnp.arange(count)[:, None, None]
        # The first block has none to its left, the last none to its right, whatever stands there.
        left, right = jnp.where(place == 0, 0.0, left), jnp.where(place == count - 1, 0.0, right)

        def eliminate(U, blocks):
            diagonal, left, right = blocks
            both = jnp.concatenate([right, jnp.eye(size, dtype=right.dtype)], axis=1)
            solution = jnp.linalg.solve(diagonal - left @ U, both)
            U = solution[:, :size]
            return U, (U, solution[:, size:])

        nothing = jnp.zeros_like(diagonal[0])
        _, (upper, self.inverse) = lax.scan(eliminate, nothing, (diagonal, left, right))
        self.beside = left, upper

    def solve(self, b: Blocked) -> Blocked:
        """The solution for a right-hand side in blocks."""
        if self.beside is None:
            return _product(jnp.moveaxis(self.inverse, 0, -1), b)
        left, upper = self.beside

        def forward(y, blocks):
            left, inverse, b = blocks
            y = inverse @ (b - left @ y)
            return y, y

        def backward(x, blocks):
            upper, y = blocks
            x = y - upper @ x
            return x, x

        nothing = jnp.zeros_like(b[:, 0])
        _, y = lax.scan(forward, nothing, (left, self.inverse, b.T))
        _, x = lax.scan(backward, nothing, (upper, y), reverse=True)
        return x.T


def _product(A: Matrices, x: Blocked) -> Blocked:
    return jnp.sum(A * x[None], axis=1)


def linearised(
    r: Callable, x: Float[Array, " n"], blocks: Blocks, *, one_by_one: bool | None = None
) -> tuple[Float[Array, " n"], BlockMatrix]:
    """Value and Jacobian of a function whose unknowns fall into blocks.

    One derivative along the unknowns of a line in every block of a colour gives the columns of all of these.
    Where blocks are filled up there are zeros, see `BlockMatrix.completed`.

    Args:
        r: the function.
        x: where.
        blocks: which unknowns stand in equations together.
        one_by_one: find the columns one after the other, else all at once; by default those of many unknowns,
            to stay in the cache, and of equations in loops, whose code would be as long as there are columns.
    """
    places = jnp.meshgrid(jnp.arange(blocks.size), jnp.arange(blocks.colours), indexing="ij")
    places = tuple(part.reshape(-1) for part in places)

    def along(place: tuple[Array, ...]) -> tuple[Array, Blocked]:
        value, column = jax.jvp(r, (x,), (blocks.seed(*place),))
        return value, blocks.split(column)

    if x.size > LONG or blocks.looped if one_by_one is None else one_by_one:
        value, columns = r(x), lax.map(lambda place: along(place)[1], places)
    else:
        value, columns = jax.vmap(along, out_axes=(None, 0))(places)
    return value, _assembled(columns.reshape(blocks.size, blocks.colours, *columns.shape[1:]), blocks)


def _assembled(columns: Float[Array, "size colours size count"], blocks: Blocks) -> BlockMatrix:
    """The matrix from its columns, each of which holds those of all blocks of one colour."""
    if not blocks.coupled:
        return BlockMatrix(jnp.moveaxis(columns[:, 0], 0, 1), None)

    def from_block(shift: int) -> Matrices:
        """The blocks that belong to the unknowns of the block so many places further."""
        colour = (jnp.arange(blocks.count) + shift) % blocks.colours
        parts = [jnp.where(colour == c, columns[:, c], 0.0) for c in range(blocks.colours)]
        return jnp.moveaxis(sum(parts[1:], start=parts[0]), 0, 1)

    return BlockMatrix(from_block(0), (from_block(-1), from_block(1)))
