"""Which bodies hold together: a chain may break while it is relaxed."""

from dataclasses import dataclass

import numpy as np

from ._linearisation import Linearisation

BROKEN = 1e-6
"""Stiffness between two bodies, relative to the largest, below which nothing binds them."""


@dataclass(frozen=True)
class Binding:
    """Bodies by what binds them."""

    groups: tuple[tuple[int, ...], ...]
    """Moving bodies that hold together."""
    held: tuple[int, ...]
    """Moving bodies bound to something that does not move."""

    def looser_than(self, other: "Binding") -> bool:
        """Whether there are more groups than in another binding, or fewer bodies held."""
        return len(self.groups) > len(other.groups) or len(self.held) < len(other.held)

    def __str__(self) -> str:
        """Groups by their first and last body, and the bodies bound to something fixed."""
        spans = ((min(group), max(group)) for group in self.groups)
        groups = " | ".join(f"{first} to {last}" if first < last else str(first) for first, last in spans)
        return f"{groups}; to what is fixed: {', '.join(map(str, self.held)) or 'none'}"


def binding(about: Linearisation, threshold: float = BROKEN) -> Binding:
    """What holds together where small motions are about: bodies between which there is some stiffness.

    What is bound to the world answers with forces when all bodies are displaced together.

    Args:
        about: the small motions.
        threshold: stiffness, relative to the largest, that counts.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    table = about.order.table
    owner = np.nonzero(table >= 0)[0]
    if about.basis is not None:
        # Joints hold their bodies together.
        return Binding((tuple(np.unique(owner).tolist()),), ())
    entries = about.matrix.tocoo()
    row, column = entries.coords
    least = threshold * float(np.max(np.abs(entries.data), initial=0.0))
    strong = np.abs(entries.data) > least
    links = np.ones(np.count_nonzero(strong)), (owner[row[strong]], owner[column[strong]])
    _, label = connected_components(coo_array(links, shape=(len(table),) * 2), directed=False)
    living = np.unique(owner)
    groups = [tuple(living[label[living] == one].tolist()) for one in np.unique(label[living])]
    held = np.unique(owner[_resistance(about) > max(least, 1e-12 * about.bound)])
    return Binding(tuple(groups), tuple(held.tolist()))


def _resistance(about: Linearisation) -> np.ndarray:
    """Largest acceleration of each component that answers to common displacements by one."""
    order = about.order
    still = np.zeros((3, len(order.rotating)))
    ones = np.ones(len(order.translating))
    moves = np.stack([order.flat(np.outer(axis, ones), still) for axis in np.eye(3)], axis=1)
    return np.max(np.abs(about.matrix @ (moves * about.roots[:, None])), axis=1) / about.roots
