"""The shape of a tree of joints: which node hangs on which, and where its numbers stand."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int


class Slot(NamedTuple):
    """Where the numbers of a joint, or of a body without one, stand in $q$ and in $v$."""

    name: str
    q: tuple[int, int]
    """First place and number of coordinates; four for the quaternion of a ball."""
    v: tuple[int, int]
    """First place and number of rates."""
    labels: tuple[str, ...]
    """Names of the rates, as of the joint."""
    ball: bool
    """Whether its last four coordinates are a quaternion."""


@dataclass(frozen=True)
class Structure:
    """Nodes, each after the one it hangs on.

    A node is one elementary motion, a turn about an axis or a slide along it, or a ball with three turns.
    Its rates are *columns*: one for an axis, three for a ball. A joint of several motions is several nodes.
    """

    parents: tuple[int, ...]
    """The node each hangs on; -1 for the ground."""
    balls: tuple[int, ...]
    """Nodes that are balls; the others are axes."""
    backward: tuple[bool, ...]
    """Of each ball, whether its quaternion turns the inner body against the outer one."""
    q_at: tuple[int, ...]
    """Place of the first coordinate of each node."""
    v_at: tuple[int, ...]
    """Place of the first rate of each node."""
    carriers: tuple[int, ...]
    """The node that carries each body; -1 for the ground."""
    slots: tuple[Slot, ...]
    q_size: int
    v_size: int

    @cached_property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of all coordinates and rates: that of the joint, with that of the coordinate after it."""
        q: list[str] = []
        v: list[str] = []
        for slot in self.slots:
            parts = [label for label in slot.labels if "turn" not in label]
            numbers = [*parts, "w", "i", "j", "k"] if slot.ball else parts
            q += [slot.name] if len(numbers) == 1 else [f"{slot.name} {part}" for part in numbers]
            v += [slot.name] if len(slot.labels) == 1 else [f"{slot.name} {label}" for label in slot.labels]
        return tuple(q), tuple(v)

    @property
    def count(self) -> int:
        """Number of nodes."""
        return len(self.parents)

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """Nodes with one column."""
        return tuple(node for node in range(self.count) if node not in self.balls)

    @cached_property
    def node_of(self) -> Int[np.ndarray, " n"]:
        """Node of each column; columns stand in the order of the nodes."""
        return np.repeat(np.arange(self.count), [3 if k in self.balls else 1 for k in range(self.count)])

    @cached_property
    def rate_of(self) -> Int[np.ndarray, " n"]:
        """Place in $v$ of each column: another order where a joint is passed from its second body."""
        starts, nodes = np.array(self.v_at, dtype=int), self.node_of
        first = np.searchsorted(nodes, nodes)
        return starts[nodes] + np.arange(len(nodes)) - first

    @cached_property
    def column_of(self) -> Int[np.ndarray, " n"]:
        """Column of each rate."""
        return np.argsort(self.rate_of)

    @cached_property
    def above(self) -> tuple[int, ...]:
        """The column each column hangs on; -1 for the ground."""
        last = {-1: -1} | {int(node): k for k, node in enumerate(self.node_of)}
        above = []
        for k, node in enumerate(self.node_of):
            inner = k > 0 and self.node_of[k - 1] == node
            above.append(k - 1 if inner else last[self.parents[node]])
        return tuple(above)

    @cached_property
    def path(self) -> Bool[np.ndarray, "n n"]:
        """Whether column k is column l or moves it: `path[k, l]`."""
        path = np.eye(len(self.above), dtype=bool)
        for k, above in enumerate(self.above):
            if above >= 0:
                path[:, k] |= path[:, above]
        return path

    @cached_property
    def moves(self) -> Bool[np.ndarray, "n body"]:
        """Whether a column moves a body."""
        last = np.searchsorted(self.node_of, np.array(self.carriers, dtype=int), side="right") - 1
        held = np.array(self.carriers) < 0
        return self.path[:, last] & ~held[None] if len(self.path) else np.zeros((0, len(held)), dtype=bool)

    @cached_property
    def same_ball(self) -> Bool[np.ndarray, "n n"]:
        """Whether two columns belong to one ball."""
        return self.node_of[:, None] == self.node_of[None]


def to_nodes(structure: Structure, at_bodies: Array) -> Array:
    """Sums over the bodies of each node."""
    carriers = np.array(structure.carriers, dtype=int)
    moved = carriers >= 0
    if list(carriers) == list(range(structure.count)):
        return at_bodies
    rows = jnp.zeros((structure.count, *at_bodies.shape[1:]))
    return rows.at[carriers[moved]].add(at_bodies[moved])
