"""A spanning tree of the joint graph: which joint moves which body, and which joints close loops."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Branch(NamedTuple):
    """A joint of the tree, from a body or the ground outwards to the next body."""

    joint: int
    """Its place among the joints."""
    parent: int | None
    """The inner body; None for the ground."""
    child: int
    """The body that it moves."""
    forward: bool
    """Whether the child is the second body of the joint."""


@dataclass(frozen=True)
class SpanningTree:
    """Every body hangs on one branch, or is a root that moves by itself."""

    roots: tuple[int, ...]
    """Bodies that no branch moves: free ones, and those with a freedom of their own such as a fixed point."""
    branches: tuple[Branch, ...]
    """Each after the branch of its parent."""
    cut: tuple[int, ...]
    """Joints that are not in the tree: each closes a loop."""

    @classmethod
    def of(
        cls,
        count: int,
        free: Collection[int],
        ends: Sequence[tuple[int | None, int | None]],
        able: Sequence[bool],
    ) -> "SpanningTree":
        """Grow a tree from the ground and from the bodies that are held, breadth first.

        Args:
            count: number of bodies.
            free: places of the bodies with all six freedoms; only these hang on branches.
            ends: bodies of each joint, None for the ground.
            able: whether each joint has a motion subspace.
        """
        roots = [body for body in range(count) if body not in free]
        on: dict[int | None, list[int]] = {}
        for joint, pair in enumerate(ends):
            for body in pair:
                on.setdefault(body, []).append(joint)
        known: set[int | None] = {None, *roots}
        branches: list[Branch] = []
        fresh, next_alone = set(known), 0
        while fresh:
            # Bodies one joint away from those that came last; joints of earlier ones have been looked at.
            begun = len(branches)
            for joint in sorted({joint for body in fresh for joint in on.get(body, ())}):
                first, second = ends[joint]
                for parent, child, forward in ((first, second, True), (second, first, False)):
                    if able[joint] and parent in fresh and child is not None and child not in known:
                        branches.append(Branch(joint, parent, child, forward))
                        known.add(child)
            fresh = {branch.child for branch in branches[begun:]}
            if not fresh:
                while next_alone in known:
                    next_alone += 1
                if next_alone < count:
                    roots.append(next_alone)
                    known.add(next_alone)
                    fresh = {next_alone}
        used = {branch.joint for branch in branches}
        cut = tuple(joint for joint in range(len(ends)) if joint not in used)
        return cls(tuple(roots), tuple(branches), cut)
