r"""Symmetric block systems over a graph, such as $G M^{-1} G^T$ of joints that share bodies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

Edge = tuple[int, int]
Blocks = Mapping[Edge, Float[Array, "rows columns"]]
"""Blocks on and below the diagonal, by row and column."""
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
        while graph:
            least = min(graph, key=lambda i: (len(graph[i]), i))
            met = graph.pop(least)
            order.append(least)
            below[least] = tuple(sorted(met))
            for other in met:
                graph[other] |= met - {other}
                graph[other].discard(least)
        return cls(tuple(order), tuple(below[i] for i in range(count)), neighbours)

    @property
    def edges(self) -> list[Edge]:
        """Pairs of blocks that meet, and each with itself, the later one first."""
        return [(i, j) for i, near in enumerate(self.neighbours) for j in (*near, i) if j <= i]

    def factored(self, blocks: Blocks, epsilon: float) -> "GraphFactors":
        r"""Factor $A + \varepsilon\operatorname{diag}(A)$ into $L L^T$, block by block.

        Args:
            blocks: of $A$, those of `edges`.
            epsilon: makes up for a rank that is not full. `GraphFactors.solve` takes it back.
        """
        rest = dict(blocks)
        for i in self.order:
            rest[i, i] = rest[i, i] * (1.0 + epsilon * np.eye(len(rest[i, i])))
        columns: dict[Edge, Array] = {}
        corners: dict[int, list[list[Array]]] = {}
        for i in self.order:
            corners[i] = _cholesky(rest[i, i])
            for a in self.below[i]:
                columns[a, i] = _forward(corners[i], _block(rest, i, a)).T
            for a in self.below[i]:
                for b in self.below[i]:
                    if b <= a:
                        known = rest.get((a, b))
                        product = _product(columns[a, i], columns[b, i])
                        rest[a, b] = -product if known is None else known - product
        return GraphFactors(self, blocks, columns, corners)


@dataclass(frozen=True)
class GraphFactors:
    """Factors of a symmetric block system."""

    order: EliminationOrder
    blocks: Blocks
    columns: Mapping[Edge, Array]
    corners: Mapping[int, list[list[Array]]]

    def solve(self, right: Vector, repetitions: int) -> list[Array]:
        r"""Solve $A x = b$ by repeated correction.

        $$ x_0 = 0, \qquad (A + \varepsilon\operatorname{diag} A)(x_{k+1} - x_k) = b - A x_k $$

        Where $A$ is singular and $b$ in its range, $A x$ converges to $b$ without a decision on the rank.
        Each repetition gains a factor $\varepsilon$ over the smallest eigenvalue, in units of the diagonal.

        Args:
            right: the right-hand side $b$, block by block.
            repetitions: number of corrections.
        """
        solution = self._corrected(right)
        for _ in range(repetitions - 1):
            left = [b - product for b, product in zip(right, self.times(solution), strict=True)]
            solution = [x + dx for x, dx in zip(solution, self._corrected(left), strict=True)]
        return solution

    def times(self, x: Vector) -> list[Array]:
        """The product of the matrix and a vector."""
        return [
            sum(
                (_apply(_block(self.blocks, i, j), x[j]) for j in near), start=_apply(self.blocks[i, i], x[i])
            )
            for i, near in enumerate(self.order.neighbours)
        ]

    def _corrected(self, right: Vector) -> list[Array]:
        """Forward and backward substitution."""
        x = list(right)
        for i in self.order.order:
            x[i] = _forward(self.corners[i], x[i])
            for a in self.order.below[i]:
                x[a] = x[a] - _apply(self.columns[a, i], x[i])
        for i in reversed(self.order.order):
            for a in self.order.below[i]:
                x[i] = x[i] - _apply(self.columns[a, i].T, x[a])
            x[i] = _backward(self.corners[i], x[i])
        return x


def _block(blocks: Blocks, i: int, j: int) -> Array:
    """A block of a symmetric matrix, whichever half it stands in."""
    return blocks[i, j] if i >= j else blocks[j, i].T


def _apply(A: Array, x: Array) -> Array:
    return jnp.sum(A * x[None], axis=1)


def _product(A: Array, B: Array) -> Array:
    """The product $A B^T$ as a sum, which needs no call of a library."""
    return jnp.sum(A[:, None] * B[None], axis=2)


def _cholesky(A: Array) -> list[list[Array]]:
    """Lower triangle of the factor of a small matrix, written out."""
    rows: list[list[Array]] = []
    for i in range(len(A)):
        row: list[Array] = []
        for j in range(i + 1):
            others = rows[j] if j < i else row
            left = A[i, j] - sum((row[k] * others[k] for k in range(j)), start=jnp.zeros(()))
            row.append(jnp.sqrt(left) if i == j else left / rows[j][j])
        rows.append(row)
    return rows


def _forward(C: list[list[Array]], b: Array) -> Array:
    """Solve with a lower triangle; `b` is a vector or has columns."""
    x: list[Array] = []
    for i, row in enumerate(C):
        known = sum((row[k] * x[k] for k in range(i)), start=jnp.zeros_like(b[i]))
        x.append((b[i] - known) / row[i])
    return jnp.stack(x)


def _backward(C: list[list[Array]], b: Array) -> Array:
    """Solve with the transpose of a lower triangle."""
    x: list[Array] = []
    for i in reversed(range(len(C))):
        known = sum((C[k][i] * x[len(C) - 1 - k] for k in range(i + 1, len(C))), start=jnp.zeros_like(b[i]))
        x.append((b[i] - known) / C[i][i])
    return jnp.stack(x[::-1])
