"""Unknowns in a row of blocks: which of them may stand in an equation together."""

from dataclasses import dataclass
from functools import cached_property

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Shaped


@dataclass(frozen=True, eq=False)
class Blocks:
    r"""Unknowns sorted into blocks, with as many equations in each.

    Either every block has equations of its own, or each stands in equations with its two neighbours in the
    row: then the Jacobian is block-tridiagonal. An array in blocks is (size, count), one column for each
    block; blocks with fewer unknowns than the largest are filled up.
    """

    block: Int[np.ndarray, " n"]
    """The block of each unknown."""
    row: Int[np.ndarray, " n"]
    """Its place in the block."""
    size: int
    """Places in a block."""
    coupled: bool
    """Whether neighbours in the row stand in equations together."""
    looped: bool = False
    """Whether equations go along the row in loops: then directions of a derivative go one after the other."""

    @classmethod
    def of(cls, places: Int[np.ndarray, " n"], *, coupled: bool = False, looped: bool = False) -> "Blocks":
        """Blocks from a number for each unknown, equal in a block; only the order of these numbers counts."""
        _, block = np.unique(places, return_inverse=True)
        lengths = np.bincount(block)
        first = np.cumsum(lengths) - lengths
        order = np.argsort(block, kind="stable")
        row = np.empty_like(block)
        row[order] = np.arange(len(order)) - first[block[order]]
        return cls(block, row, int(lengths.max(initial=0)), coupled and len(lengths) > 1, looped)

    def repeated(self, times: int) -> "Blocks":
        """Blocks of so many vectors of such unknowns, one after the other."""
        rows = self.row[None] + self.size * np.arange(times)[:, None]
        return Blocks(
            np.tile(self.block, times), rows.reshape(-1), self.size * times, self.coupled, self.looped
        )

    @cached_property
    def count(self) -> int:
        """Number of blocks."""
        return int(self.block.max()) + 1

    @cached_property
    def _slot(self) -> Int[np.ndarray, " n"]:
        """Where each unknown stands in the array of the blocks, read line by line."""
        return self.row * self.count + self.block

    @cached_property
    def _unknown(self) -> Int[np.ndarray, " k"]:
        """The inverse: which unknown stands there, one beyond the last where none does."""
        unknown = np.full(self.size * self.count, len(self._slot))
        unknown[self._slot] = np.arange(len(self._slot))
        return unknown

    @cached_property
    def _in_order(self) -> bool:
        """Whether the vector of unknowns, as it lies, is the array of the blocks."""
        return np.array_equal(self._slot, np.arange(self.size * self.count))

    @property
    def filled(self) -> Float[np.ndarray, "size count"]:
        """One where no unknown stands, zero elsewhere."""
        return (self._unknown == len(self._slot)).astype(float).reshape(self.size, self.count)

    @property
    def colours(self) -> int:
        """Number of groups of blocks no two of which stand in an equation together."""
        return min(3, self.count) if self.coupled else 1

    def split(self, x: Shaped[Array, " n"]) -> Shaped[Array, "size count"]:
        """A vector in blocks, zero where no unknown stands."""
        if not self._in_order:
            x = jnp.concatenate([x, jnp.zeros(1, x.dtype)])[self._unknown]
        return x.reshape(self.size, self.count)

    def join(self, parts: Shaped[Array, "size count"]) -> Shaped[Array, " n"]:
        """The inverse of `split`."""
        x = parts.reshape(-1)
        return x if self._in_order else x[self._slot]

    def seed(self, row: Array, colour: Array) -> Float[Array, " n"]:
        """One at the unknowns of a line in the blocks of a colour, zero elsewhere."""
        chosen = (self.row == row) & (self.block % self.colours == colour)
        return chosen.astype(float)


def one_block(n: int) -> Blocks:
    """All unknowns together: nothing is known of their equations."""
    return Blocks.of(np.zeros(n, dtype=int))
