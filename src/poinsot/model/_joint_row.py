"""Bodies in a row, such that joints and forces act within a place and between neighbouring ones."""

from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Int

from .potentials import AbstractPotential

Groups = Iterable[Sequence[int]]
"""Bodies that stand in equations together."""


def row_of(count: int, groups: Groups) -> Int[np.ndarray, "body"]:
    """A place for each body, equal or neighbouring for bodies of a group.

    Places are distances from a body at the end of the graph, and parts of the graph that do not meet come one
    after the other. A chain has one body in a place, whichever of its bodies is joined to the ground.
    """
    near: list[set[int]] = [set() for _ in range(count)]
    for group in groups:
        for body in group:
            near[body].update(other for other in group if other != body)
    row = np.full(count, -1)
    for body in range(count):
        if row[body] < 0:
            # The last body that a search from anywhere reaches is an end.
            part = _distances(near, _farthest(_distances(near, body)))
            first = int(row.max()) + 1
            for member, distance in part.items():
                row[member] = first + distance
    return row


def _distances(near: list[set[int]], start: int) -> dict[int, int]:
    """Number of steps along the graph from a body to all that it reaches."""
    found = {start: 0}
    layer = [start]
    while layer:
        following = sorted({other for body in layer for other in near[body]} - found.keys())
        found |= dict.fromkeys(following, found[layer[0]] + 1)
        layer = following
    return found


def _farthest(distances: dict[int, int]) -> int:
    return max(distances, key=lambda body: distances[body])


def acting_together(potentials: Sequence[AbstractPotential]) -> list[tuple[int, ...]] | None:
    """Bodies that each potential acts between; None where one may act between any."""
    shared = [one.bodies for one in potentials if not one.separable]
    groups = [bodies for bodies in shared if bodies is not None]
    return groups if len(groups) == len(shared) else None
