r"""Rooted trees, plain and bicoloured, and the order conditions they index.

A Runge-Kutta method has order $p$ exactly when, for every rooted tree $\tau$ with at most $p$ vertices,

$$ \phi(\tau) = \frac{1}{\gamma(\tau)}, \qquad
   \phi([\tau_1, \dots, \tau_m]) = \sum_i b_i g_i, \quad
   g_i([\tau_1, \dots, \tau_m]) = \prod_k \sum_j a_{ij}\, g_j(\tau_k), $$

with the density $\gamma(\tau) = |\tau| \prod_k \gamma(\tau_k)$. For a partitioned method the vertices carry a
colour, which says whose matrix and whose weights stand there.

Reference: Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), III.1 and III.2.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from math import prod
from typing import NamedTuple

Vector = tuple[Decimal, ...]
Matrix = tuple[Vector, ...]


class RootedTree(NamedTuple):
    """A vertex of some colour and the trees hanging from it, in a canonical order."""

    colour: int
    children: tuple["RootedTree", ...]

    @property
    def order(self) -> int:
        """Number of vertices."""
        return 1 + sum(child.order for child in self.children)

    @property
    def density(self) -> int:
        r"""The density $\gamma$."""
        return self.order * prod(child.density for child in self.children)

    def __str__(self) -> str:
        """Butcher's bracket notation; a vertex of the second colour bears a prime."""
        prime = "'" * self.colour
        if not self.children:
            return "τ" + prime
        return "[" + ", ".join(map(str, self.children)) + "]" + prime


def _forests(vertices: int, trees: Sequence[RootedTree], first: int = 0) -> Iterator[tuple[RootedTree, ...]]:
    """All multisets of `trees[first:]` with the given total number of vertices."""
    if vertices == 0:
        yield ()
    for index in range(first, len(trees)):
        left = vertices - trees[index].order
        if left >= 0:
            for rest in _forests(left, trees, index):
                yield (trees[index], *rest)


@cache
def rooted_trees(order: int, colours: int = 1) -> tuple[RootedTree, ...]:
    """All rooted trees with `order` vertices.

    There are 1, 1, 2, 4, 9, 20, 48, 115 of orders 1 to 8, and 2, 4, 14, 52, 214, 916 in two colours.
    """
    smaller = [tree for k in range(1, order) for tree in rooted_trees(k, colours)]
    return tuple(
        RootedTree(colour, forest) for forest in _forests(order - 1, smaller) for colour in range(colours)
    )


class ElementaryWeights:
    """Order conditions of a method: one matrix and one vector of weights for each colour."""

    def __init__(self, matrices: Sequence[Matrix], weights: Sequence[Vector]):
        self._matrices = matrices
        self._weights = weights
        self._below: dict[RootedTree, Vector] = {}

    def _stages(self, tree: RootedTree) -> Vector:
        factors = [self._from_parent(child) for child in tree.children]
        return tuple(prod(values, start=Decimal(1)) for values in zip(*factors, strict=True)) or tuple(
            Decimal(1) for _ in self._weights[0]
        )

    def _from_parent(self, tree: RootedTree) -> Vector:
        if tree not in self._below:
            stages = self._stages(tree)
            self._below[tree] = tuple(
                sum((a * g for a, g in zip(row, stages, strict=True)), Decimal(0))
                for row in self._matrices[tree.colour]
            )
        return self._below[tree]

    def residual(self, tree: RootedTree) -> Decimal:
        r"""The defect $|\phi(\tau) - 1/\gamma(\tau)|$."""
        pairs = zip(self._weights[tree.colour], self._stages(tree), strict=True)
        return abs(sum((b * g for b, g in pairs), Decimal(0)) - Decimal(1) / tree.density)

    def worst(self, order: int) -> tuple[RootedTree, Decimal]:
        """The tree of the given order whose condition is violated most, and by how much."""
        trees = rooted_trees(order, len(self._matrices))
        return max(((tree, self.residual(tree)) for tree in trees), key=lambda pair: pair[1])

    def order(self, tolerance: float, max_order: int) -> int:
        """The largest order, up to `max_order`, whose conditions all hold."""
        for order in range(1, max_order + 1):
            if self.worst(order)[1] > tolerance:
                return order - 1
        return max_order
