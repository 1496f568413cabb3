r"""Block systems over a graph, such as $G M^{-1} G^T$ of joints that share bodies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from poinsot.solvers._corner import Corner

Edge = tuple[int, int]
Blocks = Mapping[Edge, Float[Array, "rows columns"]]
"""By row and column; of a symmetric matrix those on and below the diagonal."""
Vector = Sequence[Float[Array, " rows"]]


@dataclass(frozen=True)
class EliminationOrder:
    """In which order blocks are eliminated, and which others each of them meets then.

    The block of least degree comes first. On a tree these are leaves, and no zero block is filled in.
    """

    order: tuple[int, ...]
    below: tuple[tuple[int, ...], ...]
    """Of each block, those that are still there when it goes."""
    neighbours: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, count: int, edges: Sequence[Edge]) -> "EliminationOrder":
        """The order for a graph of so many blocks."""
        graph: dict[int, set[int]] = {i: set() for i in range(count)}
        for i, j in edges:
            graph[i].add(j)
            graph[j].add(i)
        neighbours = tuple(tuple(sorted(graph[i])) for i in range(count))
        order, below = [], {}
        waiting = [(len(near), i) for i, near in enumerate(neighbours)]
        heapify(waiting)
        while graph:
            degree, least = heappop(waiting)
            # An entry stays behind when the degree of its block changes.
            if least not in graph or len(graph[least]) != degree:
                continue
            met = graph.pop(least)
            order.append(least)
            below[least] = tuple(sorted(met))
            for other in met:
                graph[other] |= met - {other}
                graph[other].discard(least)
                heappush(waiting, (len(graph[other]), other))
        return cls(tuple(order), tuple(below[i] for i in range(count)), neighbours)

    def renumbered(self, old: Sequence[int]) -> "EliminationOrder":
        """The same order with other numbers for the blocks; `old` has the former ones, by the new."""
        new = {number: k for k, number in enumerate(old)}
        below, neighbours = (
            tuple(tuple(sorted(new[j] for j in table[i])) for i in old)
            for table in (self.below, self.neighbours)
        )
        return EliminationOrder(tuple(new[i] for i in self.order), below, neighbours)

    @property
    def edges(self) -> list[Edge]:
        """Pairs of blocks that meet, and each with itself, the later one first."""
        return [(i, j) for i, near in enumerate(self.neighbours) for j in (*near, i) if j <= i]

    def factored(self, blocks: Blocks, epsilon: float | Array, scale: Vector | None = None) -> "GraphFactors":
        r"""Factor the symmetric $A + \varepsilon\operatorname{diag}(A)$ into $L D L^T$, block by block.

        Args:
            blocks: of $A$, those of `edges`.
            epsilon: makes up for a rank that is not full. `GraphFactors.solve` takes it back.
            scale: what stands for the diagonal of $A$, where that may have zeros.
        """
        rest = dict(blocks)
        if isinstance(epsilon, Array) or epsilon:
            for i in self.order:
                unit = np.eye(len(rest[i, i]))
                more = rest[i, i] * unit if scale is None else scale[i][:, None] * unit
                rest[i, i] = rest[i, i] + epsilon * more
        corners: dict[int, Corner] = {}
        right: dict[Edge, Array] = {}
        left: dict[Edge, Array] = {}
        for i in self.order:
            corners[i] = Corner.symmetric(rest[i, i])
            for a in self.below[i]:
                right[i, a] = corners[i].forward(_block(rest, i, a))
                left[a, i] = (right[i, a] * jnp.stack(corners[i].reciprocals)[:, None]).T
            for a in self.below[i]:
                for b in self.below[i]:
                    if b <= a:
                        _subtract(rest, (a, b), _product(left[a, i], right[i, b]))
        whole = {(i, j): _block(blocks, i, j) for i, near in enumerate(self.neighbours) for j in (i, *near)}
        return GraphFactors(self, whole, left, right, corners)

    def factored_general(self, blocks: Blocks, least: Vector | None = None) -> "GraphFactors":
        """Factor a matrix that need not be symmetric into $L U$, without a choice of pivots.

        Args:
            blocks: all pairs that meet, in both orders, and those on the diagonal.
            least: magnitudes that smaller pivots are raised to, see `Corner.of`.
        """
        rest = dict(blocks)
        corners: dict[int, Corner] = {}
        right: dict[Edge, Array] = {}
        left: dict[Edge, Array] = {}
        for i in self.order:
            corners[i] = Corner.of(rest[i, i], None if least is None else least[i])
            for a in self.below[i]:
                right[i, a] = corners[i].forward(rest[i, a])
                left[a, i] = corners[i].forward_turned(rest[a, i].T).T
            for a in self.below[i]:
                for b in self.below[i]:
                    _subtract(rest, (a, b), _product(left[a, i], right[i, b]))
        return GraphFactors(self, blocks, left, right, corners)


@dataclass(frozen=True)
class GraphFactors:
    """Factors of a block system."""

    order: EliminationOrder
    blocks: Blocks
    """Of the matrix, all of them."""
    left: Blocks
    """Below the diagonal."""
    right: Blocks
    """Above the diagonal."""
    corners: Mapping[int, Corner]

    @property
    def pivots(self) -> list[Float[Array, " rows"]]:
        """Diagonal of $D$, or of $U$."""
        return [1.0 / jnp.stack(self.corners[i].reciprocals) for i in range(len(self.corners))]

    def solve(self, right: Vector, repetitions: int) -> list[Array]:
        r"""Solve $A x = b$ by repeated correction.

        $$ x_0 = 0, \qquad (A + \varepsilon\operatorname{diag} A)(x_{k+1} - x_k) = b - A x_k $$

        Where $A$ is singular and $b$ in its range, $A x$ converges to $b$ without a decision on the rank.
        Each repetition gains a factor $\varepsilon$ over the smallest eigenvalue, in units of the diagonal.

        Args:
            right: the right-hand side $b$, block by block.
            repetitions: number of corrections.
        """

        def again(_, solution: list[Array]) -> list[Array]:
            left = [b - product for b, product in zip(right, self.times(solution), strict=True)]
            return [x + dx for x, dx in zip(solution, self._corrected(left), strict=True)]

        solution = self._corrected(right)
        if repetitions <= 2:
            return again(0, solution) if repetitions == 2 else solution
        # As a loop: written out, four of them are most of the code of a step.
        return lax.fori_loop(1, repetitions, again, solution)

    def times(self, x: Vector) -> list[Array]:
        """The product of the matrix and a vector."""
        return [
            sum((_apply(self.blocks[i, j], x[j]) for j in near), start=_apply(self.blocks[i, i], x[i]))
            for i, near in enumerate(self.order.neighbours)
        ]

    def _corrected(self, right: Vector) -> list[Array]:
        """Forward and backward substitution."""
        x = list(right)
        for i in self.order.order:
            x[i] = self.corners[i].forward(x[i])
            for a in self.order.below[i]:
                x[a] = x[a] - _apply(self.left[a, i], x[i])
        for i in reversed(self.order.order):
            for a in self.order.below[i]:
                x[i] = x[i] - _apply(self.right[i, a], x[a])
            x[i] = self.corners[i].backward(x[i])
        return x


def _block(blocks: Blocks, i: int, j: int) -> Array:
    """A block of a symmetric matrix, whichever half it stands in."""
    return blocks[i, j] if i >= j else blocks[j, i].T


def _subtract(rest: dict[Edge, Array], at: Edge, product: Array) -> None:
    """Take a product from a block; one that is not there is zero."""
    known = rest.get(at)
    rest[at] = -product if known is None else known - product


def _apply(A: Array, x: Array) -> Array:
    return jnp.sum(A * x[None], axis=1)


def _product(A: Array, B: Array) -> Array:
    """The product of two matrices as a sum, which needs no call of a library."""
    return jnp.sum(A[:, :, None] * B[None], axis=1)
