r"""Velocities along a tree of many joints: what `expanded` and `reduced` say, as loops over the branches."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Int

from poinsot.core import Twist

from ._condition_kind import Body, Stand, Stir, held_by
from ._linkage import Linkage, Visitor
from ._tree_motion import Rates
from .joints import AbstractJoint, Frames

Visit = Callable[[Visitor], Sequence[Array]]
"""Results of a function of each condition, as `Linkage.visit` gives them at a pose."""


class Twig(NamedTuple):
    """What a loop knows of a branch."""

    parent: Int[np.ndarray, "2"]
    """Places of its inner body among those that move and those that turn; of the ground after all bodies."""
    child: Int[np.ndarray, "2"]
    """Those of its outer body."""
    arm: Float[Array, "3"]
    """From the inner body to the joint, in the axes of that body."""
    own_arm: Float[Array, "3"]
    """The same in the outer body."""
    side: Float[np.ndarray, ""]
    """1 where the outer body is the second of the joint, else -1."""
    ball: Int[np.ndarray, ""]
    """Whether the rates are the body angular velocity of the outer body."""


class Moved(NamedTuple):
    """Where bodies are and how they move; the ground comes after them."""

    stand: Stand
    stir: Stir

    @classmethod
    def of(cls, x: Array, R: Array, stir: Stir) -> "Moved":
        """These bodies, and the ground."""
        still = jnp.zeros((3, 1))
        stand = Stand(_with(x, still), _with(R, jnp.eye(3)[:, :, None]))
        return cls(stand, Stir(_with(stir.v, still), _with(stir.w, still)))


class LongTree(eqx.Module):
    r"""The spanning tree of joints between free bodies.

    Motion subspaces are found by loops over the conditions of each kind. Then a loop along the branches adds
    the motion of each to that of its inner body, or takes it from that of its outer body.
    """

    arms: Float[Array, "branch 2 3"]
    roots: tuple[int, ...] = eqx.field(static=True)
    """Places in the twist of what moves bodies that hang on no branch, in the order of the rates."""
    ends: tuple[tuple[Body, Body], ...] = eqx.field(static=True)
    """Inner and outer body of each branch."""
    forward: tuple[bool, ...] = eqx.field(static=True)
    balls: tuple[bool, ...] = eqx.field(static=True)
    counts: tuple[int, ...] = eqx.field(static=True)
    """Number of rates of each branch."""
    joints: tuple[int, ...] = eqx.field(static=True)
    """Joint of each branch by its place among the results of a visit."""

    def __init__(self, linkage: Linkage, listed: Sequence[int]):
        placement, tree = linkage.placement, linkage.tree
        moving, turning = len(placement.translating), len(placement.rotating)
        roots, ends, arms = [], [], []
        for body in tree.roots:
            for first, among in ((0, placement.translating), (3 * moving, placement.rotating)):
                if body in among:
                    roots += [first + k * len(among) + among.index(body) for k in range(3)]
        for branch in tree.branches:
            pair = linkage.grips[branch.joint]
            held = [held_by(grip, linkage) for grip in (pair if branch.forward else pair[::-1])]
            arms.append(jnp.stack([mark.arm for mark, _ in held]))
            ends.append(tuple(body or Body(moving, turning) for _, body in held))
        own = [linkage.joints[branch.joint] for branch in tree.branches]
        self.arms, self.roots, self.ends = jnp.stack(arms), tuple(roots), tuple(ends)
        self.forward = tuple(branch.forward for branch in tree.branches)
        self.balls = tuple(joint.motions() is None for joint in own)
        self.counts = tuple(len(joint.freedoms or ()) for joint in own)
        place = {condition: k for k, condition in enumerate(listed)}
        self.joints = tuple(place[branch.joint] for branch in tree.branches)

    @property
    def wide(self) -> int:
        """Largest number of rates of a branch."""
        return max(self.counts)

    def expanded(self, visit: Visit, x: Array, R: Array, rates: Rates) -> Twist:
        """The twist of rates along the tree, see `_tree_motion.expanded`."""
        moving = x.shape[1]
        begun = jnp.zeros(x.size + 3 * R.shape[2]).at[np.array(self.roots, dtype=int)]
        stand, start = Moved.of(x, R, Stir.parted(begun.set(rates[: len(self.roots)]), moving))
        filled = jnp.append(rates, 0.0)[self._places(len(rates))]

        def each(stir: Stir, given):
            twig, own, (turn, slide) = given
            (x, R), (v, w), (own_x, own_R) = stand.of(twig.parent), stir.of(twig.parent), stand.of(twig.child)

            def ball() -> tuple[Array, Array]:
                # Each body at its own point of the joint, so that no gap and no drift opens it.
                return v + R @ jnp.cross(w, twig.arm) - own_R @ jnp.cross(own[:3], twig.own_arm), own[:3]

            def other() -> tuple[Array, Array]:
                point, carried = _second(twig, x + R @ twig.arm, own_x + own_R @ twig.own_arm), R @ w
                spin = carried + twig.side * jnp.sum(turn * own[None], axis=1)
                slid = twig.side * jnp.sum(slide * own[None], axis=1)
                velocity = v + jnp.cross(carried, point - x) + slid
                return velocity - jnp.cross(spin, point - own_x), own_R.T @ spin

            return _put(stir, twig.child, *self._either(twig, ball, other)), None

        stir = lax.scan(each, start, (self._twigs(), filled, self._subspaces(visit)))[0]
        return jnp.concatenate([stir.v[:, :-1].reshape(-1), stir.w[:, :-1].reshape(-1)])

    def reduced(self, visit: Visit, x: Array, R: Array, twist: Twist) -> Rates:
        """The rates along the tree of a twist, see `_tree_motion.reduced`."""
        stand, stir = Moved.of(x, R, Stir.parted(twist, x.shape[1]))
        missing = np.arange(self.wide)[None] >= np.array(self.counts)[:, None]

        def each(_, given):
            twig, (turn, slide), missing = given
            (x, R), (v, w) = stand.of(twig.parent), stir.of(twig.parent)
            (own_x, own_R), (own_v, own_w) = stand.of(twig.child), stir.of(twig.child)

            def ball() -> Array:
                return jnp.concatenate([own_w, jnp.zeros(self.wide - 3)])

            def other() -> Array:
                point = _second(twig, x + R @ twig.arm, own_x + own_R @ twig.own_arm)
                spin, own_spin = R @ w, own_R @ own_w
                slid = own_v + jnp.cross(own_spin, point - own_x) - v - jnp.cross(spin, point - x)
                along = jnp.sum(turn * (own_spin - spin)[:, None] + slide * slid[:, None], axis=0)
                return twig.side * along / (missing + jnp.sum(turn * turn + slide * slide, axis=0))

            return None, self._either(twig, ball, other)

        given = self._twigs(), self._subspaces(visit), missing.astype(float)
        rows = lax.scan(each, None, given)[1]
        return jnp.concatenate([twist[np.array(self.roots, dtype=int)], rows[~missing]])

    def _either(self, twig: Twig, ball: Callable, other: Callable) -> Any:
        """What belongs to a branch, as far as there are both kinds of them."""
        if all(self.balls):
            return ball()
        if not any(self.balls):
            return other()
        return jax.tree.map(lambda one, two: jnp.where(twig.ball, one, two), ball(), other())

    def _twigs(self) -> Twig:
        """The branches, along a first axis."""
        ends, side = np.array(self.ends), np.where(self.forward, 1.0, -1.0)
        arms = self.arms[:, 0], self.arms[:, 1]
        return Twig(ends[:, 0], ends[:, 1], *arms, side, np.array(self.balls))

    def _places(self, after: int) -> Int[np.ndarray, "branch wide"]:
        """Where the rates of each branch stand; those that it does not have, after all of them."""
        first = len(self.roots) + np.cumsum([0, *self.counts[:-1]])
        columns = np.arange(self.wide)[None]
        return np.where(columns < np.array(self.counts)[:, None], first[:, None] + columns, after)

    def _subspaces(self, visit: Visit) -> tuple[Array, Array]:
        """Motion subspaces of the branches; none where all are balls, which do without."""
        if all(self.balls):
            nothing = jnp.zeros((len(self.balls), 3, 0))
            return nothing, nothing

        def subspace(one, of, now: Sequence[Frames], rate) -> Float[Array, "2 3 wide"]:
            if not isinstance(one, AbstractJoint) or not one.freedoms:
                return jnp.zeros((2, 3, self.wide))
            found = jnp.stack([*one.subspace(now[0])])
            return jnp.concatenate([found, jnp.zeros((2, 3, self.wide - found.shape[2]))], axis=2)

        rows = jnp.concatenate([*visit(subspace)])[np.array(self.joints)]
        return rows[:, 0], rows[:, 1]


def _with(bodies: Array, ground: Array) -> Array:
    """Bodies and the ground along the last axis."""
    return jnp.concatenate([bodies, ground], axis=-1)


def _second(twig: Twig, inner: Array, outer: Array) -> Float[Array, "3"]:
    """Of the places of a joint in the bodies of a branch that in the second body of the joint."""
    return jnp.where(twig.side > 0.0, outer, inner)


def _put(stir: Stir, body, v: Array, w: Array) -> Stir:
    """The same with other velocities of one body."""
    return Stir(
        *(
            lax.dynamic_update_index_in_dim(part, own, place, 1, allow_negative_indices=False)
            for part, own, place in zip(stir, (v, w), body, strict=True)
        )
    )
