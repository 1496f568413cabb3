r"""Block systems over a graph of many nodes, eliminated in a loop: the code does not grow with the graph."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Int

from poinsot.solvers._corner import Corner
from poinsot.solvers._graph_elimination import Edge, EliminationOrder


class Pivot(NamedTuple):
    """What the loop needs to know of the node that it eliminates; missing neighbours stand in a last row."""

    node: Int[np.ndarray, ""]
    near: Int[np.ndarray, " width"]
    """Nodes that are still there, the next to go first."""
    slots: Int[np.ndarray, " width"]
    """Where their blocks in the column of this node stand."""
    targets: Int[np.ndarray, " pairs"]
    """Where blocks of pairs of them stand, each with those before it and with itself."""


class LongFactor(NamedTuple):
    """The column and the row of one node in $L U$; of all, in the order of elimination along a first axis."""

    square: Float[Array, "size size"]
    """Its `Corner`, in one array."""
    left: Float[Array, "width size size"]
    right: Float[Array, "width size size"]


@dataclass(frozen=True)
class LongElimination:
    """Elimination of a graph of equal blocks, node by node in a given order.

    Blocks stand in one array: those on the diagonal, one for each node, then those of `pairs`, then one of
    zeros. A node has as many neighbours as that with the most of them; what is missing is the block of zeros.
    """

    order: EliminationOrder

    @property
    def count(self) -> int:
        """Number of nodes."""
        return len(self.order.order)

    @cached_property
    def pairs(self) -> list[Edge]:
        """Nodes that meet, also those that only elimination makes meet, the one that goes later first."""
        return [(a, i) for i in self.order.order for a in self._later(i)]

    @cached_property
    def slots(self) -> dict[Edge, int]:
        """Where the block of a pair stands."""
        return {pair: self.count + k for k, pair in enumerate(self.pairs)}

    @cached_property
    def width(self) -> int:
        """Largest number of neighbours."""
        return max((len(below) for below in self.order.below), default=0)

    @cached_property
    def pivots(self) -> Pivot:
        """All nodes in the order of elimination."""
        width, last = self.width, self.count + len(self.pairs)
        near = np.full((self.count, width), self.count)
        slots = np.full((self.count, width), last)
        targets = np.full((self.count, width * (width + 1) // 2), last)
        for k, i in enumerate(self.order.order):
            later = self._later(i)
            near[k, : len(later)] = later
            slots[k, : len(later)] = [self.slots[a, i] for a in later]
            both = [a if a == b else self.slots[a, b] for n, a in enumerate(later) for b in later[: n + 1]]
            targets[k, : len(both)] = both
        return Pivot(np.array(self.order.order), near, slots, targets)

    @cached_property
    def _turns(self) -> dict[int, int]:
        """When each node goes."""
        return {i: k for k, i in enumerate(self.order.order)}

    def _later(self, i: int) -> list[int]:
        """Neighbours that are still there when a node goes, in the order in which they go."""
        return sorted(self.order.below[i], key=self._turns.__getitem__)

    def factored(
        self, diagonal: Float[Array, "count size size"], lower: Float[Array, "pairs size size"]
    ) -> "LongFactor":
        r"""Factor a symmetric matrix into $L D L^T$, from its blocks on the diagonal and of `pairs`."""

        def each(memory, pivot: Pivot):
            corner = Corner.symmetric(_at(memory, pivot.node))
            right = [corner.forward(_at(memory, pivot.slots[a]).T) for a in range(self.width)]
            left = [(one * jnp.stack(corner.reciprocals)[:, None]).T for one in right]
            for (a, b), target in zip(_halves(self.width), pivot.targets, strict=True):
                memory = _add(memory, target, -_product(left[a], right[b]))
            return memory, LongFactor(corner.square, _stacked(left, memory), _stacked(right, memory))

        memory = jnp.concatenate([diagonal, lower, jnp.zeros_like(diagonal[:1])])
        return lax.scan(each, memory, self.pivots)[1]

    def factored_general(
        self, diagonal: Array, lower: Array, upper: Array, least: Float[Array, "count size"] | None = None
    ) -> "LongFactor":
        r"""Factor a matrix that need not be symmetric into $L U$, without a choice of pivots.

        Args:
            diagonal: its blocks on the diagonal.
            lower: those of `pairs`.
            upper: those of `pairs` with rows and columns exchanged.
            least: magnitudes that smaller pivots are raised to, see `Corner.of`.
        """

        def each(memory, pivot: Pivot):
            below, above = memory
            corner = Corner.of(_at(below, pivot.node), None if least is None else _at(least, pivot.node))
            right = [corner.forward(_at(above, pivot.slots[a])) for a in range(self.width)]
            left = [corner.forward_turned(_at(below, pivot.slots[a]).T).T for a in range(self.width)]
            for (a, b), target in zip(_halves(self.width), pivot.targets, strict=True):
                below = _add(below, target, -_product(left[a], right[b]))
                if a != b:
                    above = _add(above, target, -_product(left[b], right[a]))
            return (below, above), LongFactor(corner.square, _stacked(left, below), _stacked(right, below))

        nothing = jnp.zeros_like(diagonal[:1])
        below, above = (jnp.concatenate([diagonal, half, nothing]) for half in (lower, upper))
        return lax.scan(each, (below, above), self.pivots)[1]

    def pivots_of(self, factors: LongFactor) -> Float[Array, "count size"]:
        """Diagonal of $D$, or of $U$, node by node."""
        reciprocals = jnp.diagonal(factors.square, axis1=1, axis2=2)
        return 1.0 / reciprocals[np.argsort(np.array(self.order.order))]

    def solve(self, factors: LongFactor, right: Float[Array, "count size"]) -> Float[Array, "count size"]:
        """Forward and backward substitution."""
        whole = jnp.concatenate([right, jnp.zeros_like(right[:1])])

        def down(x, given: tuple[Pivot, LongFactor]):
            pivot, factor = given
            z = Corner.packed(factor.square).forward(_at(x, pivot.node))
            for a in range(self.width):
                x = _add(x, pivot.near[a], -jnp.sum(factor.left[a] * z[None], axis=1))
            return x, z

        def up(x, given: tuple[Pivot, LongFactor, Array]):
            pivot, factor, z = given
            for a in range(self.width):
                z = z - jnp.sum(factor.right[a] * _at(x, pivot.near[a])[None], axis=1)
            return _put(x, pivot.node, Corner.packed(factor.square).backward(z)), None

        z = lax.scan(down, whole, (self.pivots, factors))[1]
        return lax.scan(up, jnp.zeros_like(whole), (self.pivots, factors, z), reverse=True)[0][:-1]


def _halves(width: int) -> list[Edge]:
    """Pairs in the order of `Pivot.targets`."""
    return [(a, b) for a in range(width) for b in range(a + 1)]


def _stacked(blocks: list[Array], like: Array) -> Array:
    return jnp.stack(blocks) if blocks else jnp.zeros((0, *like.shape[1:]))


def _at(array: Array, place) -> Array:
    """A row of an array."""
    return lax.dynamic_index_in_dim(array, place, keepdims=False, allow_negative_indices=False)


def _put(array: Array, place, row: Array) -> Array:
    """An array with another row in a place."""
    return lax.dynamic_update_index_in_dim(array, row, place, 0, allow_negative_indices=False)


def _add(array: Array, place, more: Array) -> Array:
    """An array with something added to a row."""
    return _put(array, place, _at(array, place) + more)


def _product(A: Array, B: Array) -> Array:
    """The product of two matrices as a sum, which needs no call of a library."""
    return jnp.sum(A[:, :, None] * B[None], axis=1)
