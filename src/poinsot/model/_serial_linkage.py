r"""Long open chains of equal joints: what `Linkage` says of any joints, as loops along the links."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import Mobility, Rows, Twist
from poinsot.solvers import Corner

from ._grip import Grip
from ._linkage import Turning, Visitor
from ._long_tree import LongTree
from ._placement import Placement
from .joints import AbstractJoint, Frames


class Link(NamedTuple):
    """What belongs to a link of a chain, or to all of them along a first axis."""

    before: tuple[Array, Array]
    """Arm and frame of its joint in the body before it, in the principal axes of that."""
    own: tuple[Array, Array]
    """The same in the link itself."""
    weight: tuple[Array, Array]
    """One over its mass and over its principal moments."""
    joint: Any
    """The numbers of its joint."""


class Pose(NamedTuple):
    """Position and rotation matrix of a body."""

    x: Float[Array, "3"]
    R: Float[Array, "3 3"]
    frame: Float[Array, "3 3"] | None = None
    """Of a `Turning`; None where it is the rotation."""

    @property
    def turning(self) -> Float[Array, "3 3"]:
        r"""Matrix $F$ with $\dot R = F\,\hat u$."""
        return self.R if self.frame is None else self.frame


class Motion(NamedTuple):
    """Velocity and body angular velocity of a body, or force and body torque on it."""

    v: Float[Array, "3"]
    w: Float[Array, "3"]


class Slopes(NamedTuple):
    """Rows of a joint's Jacobian: in a shift of its second body against the first, and in turns of both."""

    shift: Float[Array, "rows 3"]
    before: Float[Array, "rows 3"]
    own: Float[Array, "rows 3"]

    def push(self, before: Motion, own: Motion) -> Float[Array, " rows"]:
        """Rates of the gaps at motions of both bodies."""
        turned = jnp.sum(self.before * before.w[None] + self.own * own.w[None], axis=1)
        return jnp.sum(self.shift * (own.v - before.v)[None], axis=1) + turned

    def pull(self, force: Float[Array, " rows"]) -> tuple[Motion, Motion]:
        """What a force of the joint does to both bodies."""
        along, before, own = (jnp.sum(part * force[:, None], axis=0) for part in self)
        return Motion(-along, before), Motion(along, own)


class Factor(NamedTuple):
    """A row of the factors of a matrix that is tridiagonal by blocks."""

    left: Float[Array, "rows rows"]
    right: Float[Array, "rows rows"]
    """Above the diagonal, in the column of this row."""
    corner: Corner


class SerialLinkage(eqx.Module):
    r"""Equal joints in a row: each link hangs on the one before, the first on the ground or on a free body.

    The methods are those of `Linkage`, but what they return for each condition there is one array here, with
    a row for each joint: `Rows` of one element. Each of them is a scan along the links, so that the code does
    not grow with their number and the cost is proportional to it. The matrix $G M^{-1} G^T$ is tridiagonal by
    blocks; the joints are eliminated one after the other. The ground counts as a body of infinite mass.
    """

    links: Link
    base: Grip
    weights: Twist
    placement: Placement
    template: AbstractJoint
    """A joint without its numbers."""
    tree: LongTree
    count: int = eqx.field(static=True)
    varied: tuple[bool, ...] = eqx.field(static=True)
    """Which numbers of the links have a row for each of them; the others are the same for all."""

    @property
    def independent(self) -> bool:
        """Conditions of a tree are, see `Linkage.independent`."""
        return True

    @property
    def looped(self) -> bool:
        """Links are gone through in loops."""
        return True

    @property
    def listed(self) -> range:
        """Place in the list of conditions of each row."""
        return range(self.count)

    def flat(self, rows: Rows) -> Float[Array, " k"]:
        """Numbers of all conditions, joint by joint."""
        return rows[0].reshape(-1)

    @property
    def carriers(self) -> int:
        """Live bodies in front of the links: one where the chain hangs on a free body."""
        return int(self.base.live)

    def gaps(self, t, x: Array, R: Array) -> Rows:
        """What must vanish at position level."""

        def gap(before: Pose, link: Link, own: Pose):
            return own, self._residual(link)(_frames(link, before, own))

        return [self.scan(gap, self._first_pose(t, x, R), self._poses(x, R))[1]]

    def rates(self, t, x: Array, R: Array, twist: Twist) -> Rows:
        r"""Rates $G u$ of the gaps."""

        def rate(residual, now, first, second):
            return jax.jvp(residual, (now,), (first,))[1]

        return self._along(rate, t, x, R, twist)

    def bends(self, t, x: Array, R: Array, twist: Twist) -> Rows:
        r"""Second rates of the gaps at a constant twist."""

        def bend(residual, now, first, second):
            def slope(now, first):
                return jax.jvp(residual, (now,), (first,))[1]

            return jax.jvp(slope, (now, first), (first, second))[1]

        return self._along(bend, t, x, R, twist)

    def _along(self, derivative: Callable, t, x: Array, R: Array, twist: Twist) -> Rows:
        """Derivatives of the gaps along a motion."""

        def each(joint: AbstractJoint, *path: Frames):
            return derivative(joint.residual, *path)

        return self._followed(each, t, x, R, twist)

    def visit(self, function: Visitor, t, x: Array, R: Array, twist: Twist, *given: Rows) -> list[Array]:
        """Results of a function of each joint, as `Linkage.visit`, with a row for each."""

        def each(joint: AbstractJoint, now: Frames, rate: Frames, _, *rows: Array):
            return function(joint, [joint], [now], [rate], *rows)

        return self._followed(each, t, x, R, twist, *(rows for (rows,) in given))

    def _followed(
        self, function: Callable, t, x: Array, R: Array, twist: Twist, *columns: Array
    ) -> list[Array]:
        """Results of a function of each joint, of what it sees, and of first and second rates of that."""

        def each(before: tuple[Pose, Motion], link: Link, own: tuple[Pose, Motion], *rows: Array):
            first, second = _path(link.before, *before), _path(link.own, *own)
            seen = [Frames(b.x - a.x, a.R, b.R) for a, b in zip(first, second, strict=True)]
            return own, function(eqx.combine(link.joint, self.template), *seen, *rows)

        start = self._first_pose(t, x, R), self._first_motion(twist)
        return [self.scan(each, start, (self._poses(x, R), self.motions(twist)), *columns)[1]]

    def at(
        self, t, x: Array, R: Array, epsilon: float | Array, turning: Turning | None = None
    ) -> "SerialReach":
        """Jacobians of the conditions at a pose; independent ones need no epsilon."""
        return SerialReach(self, (t, x, R), turning)

    def closing(
        self, reach: "SerialReach", t, x: Array, R: Array, mobility: Mobility, share
    ) -> "SerialClosing":
        r"""The derivative $G_1 B G_0^T$ of the gaps at the end of a step in impulses at its start."""
        turns = jnp.moveaxis(mobility.turn, -1, 0)
        first = turns[0] if self.carriers else jnp.zeros((3, 3))

        def moved(levers, link: Link, turn: Array):
            return mobility.time * link.weight[0], turn

        levers = mobility.time * self._first_weight()[0], first
        eliminate, nothing = self._elimination(False, levers, moved)

        def each(carry, link: Link, own: Pose, start: Slopes, turn: Array):
            end = self._slope(carry[0], link, own)
            rest, factor = eliminate(carry[1], link, start, end, turn)
            return (own, rest), (end, factor)

        columns = self._poses(x, R), reach.slopes, self._of_links(turns)
        ends, factors = self.scan(each, (self._first_pose(t, x, R), nothing), *columns)[1]
        return SerialClosing(self, ends, factors)

    def slopes(self, t, x: Array, R: Array, turning: Turning | None = None) -> Slopes:
        """Jacobians of the joints."""

        def slope(before: Pose, link: Link, own: Pose):
            return own, self._slope(before, link, own)

        return self.scan(slope, self._first_pose(t, x, R, turning), self._poses(x, R, turning))[1]

    def _slope(self, before: Pose, link: Link, own: Pose) -> Slopes:
        """Jacobian of the joint of a link."""
        pulled = jax.jacrev(self._residual(link))(_frames(link, before, own))
        return Slopes(
            pulled.apart,
            _torques(link.before, before.turning, -pulled.apart, pulled.first),
            _torques(link.own, own.turning, pulled.apart, pulled.second),
        )

    def factored(self, t, x: Array, R: Array, turning: Turning | None = None) -> tuple[Slopes, Factor]:
        r"""Jacobians, and factors of $G M^{-1} G^T$, in one pass.

        A processor works out Jacobians while it waits for the factors of the link before.
        """

        def weight(levers, link: Link, *mobility: Array):
            return (link.weight[0], *mobility) if mobility else link.weight

        first: tuple[Array, Array] = self._first_weight()
        columns: list[Any] = [self._poses(x, R, turning)]
        if turning is not None:
            rows = jnp.moveaxis(turning.mobility, -1, 0)
            first = first[0], rows[0] if self.carriers else jnp.zeros_like(rows[0])
            columns.append(self._of_links(rows))
        eliminate, nothing = self._elimination(True, first, weight)

        def each(carry, link: Link, own: Pose, *mobility: Array):
            slope = self._slope(carry[0], link, own)
            rest, factor = eliminate(carry[1], link, slope, slope, *mobility)
            return (own, rest), (slope, factor)

        return self.scan(each, (self._first_pose(t, x, R, turning), nothing), *columns)[1]

    def _elimination(self, symmetric: bool, levers, of_link: Callable) -> tuple[Callable, Any]:
        """What eliminates one joint after the other, for a scan, and what it starts from.

        Args:
            symmetric: whether Jacobians where impulses act and where gaps are measured are the same.
            levers: by how much an impulse moves and turns the body before the first link.
            of_link: the same of a link, from those before, the link, and what comes beside the Jacobians.
        """
        rows = self.template.rows

        def each(carry, link: Link, start: Slopes, end: Slopes, *given):
            levers, before_end, before_moved, corner = carry
            own_levers = of_link(levers, link, *given)
            own = own_levers[0] * start.shift, _levered(own_levers[1], start.own)
            back = -levers[0] * start.shift, _levered(levers[1], start.before)
            diagonal = _across(end.shift, own[0] - back[0]) + (
                _across(end.own, own[1]) + _across(end.before, back[1])
            )
            lower = _across(end.before, before_moved[1]) - _across(end.shift, before_moved[0])
            if symmetric:
                right = corner.forward(lower.T)
                left = (right * jnp.stack(corner.reciprocals)[:, None]).T
            else:
                upper = _across(before_end[0], back[0]) + _across(before_end[1], back[1])
                right, left = corner.forward(upper), corner.forward_turned(lower.T).T
            rest = diagonal - jnp.sum(left[:, :, None] * right[None], axis=1)
            following = Corner.symmetric(rest) if symmetric else Corner.of(rest)
            return (own_levers, (end.shift, end.own), own, following), Factor(left, right, following)

        nothing = jnp.zeros((rows, 3)), jnp.zeros((rows, 3))
        return each, (levers, nothing, nothing, Corner.unit(rows))

    def scan(self, function: Callable, start, *columns, reverse: bool = False):
        """Go along the links: `function(carry, link, *rows)` returns the next carry and a row of results."""
        leaves, structure = jax.tree.flatten(self.links)
        rows = [leaf for leaf, one in zip(leaves, self.varied, strict=True) if one]

        def each(carry, given):
            rows, columns = iter(given[0]), given[1]
            own = [next(rows) if one else leaf for leaf, one in zip(leaves, self.varied, strict=True)]
            return function(carry, jax.tree.unflatten(structure, own), *columns)

        return lax.scan(each, start, (rows, columns), length=self.count, reverse=reverse)

    def motions(self, twist: Twist) -> Motion:
        """Of the links, a row each."""
        half = twist.size // 2
        return Motion(*(self._of_links(part.reshape(3, -1).T) for part in (twist[:half], twist[half:])))

    def _first_motion(self, twist: Twist) -> Motion:
        """Of the body before the first link."""
        if not self.carriers:
            return Motion(jnp.zeros(3), jnp.zeros(3))
        half = twist.size // 2
        return Motion(*(part.reshape(3, -1)[:, 0] for part in (twist[:half], twist[half:])))

    def twist(self, carrier: Motion, links: Motion) -> Twist:
        """One vector of what belongs to the links, a row each, and to the body that carries them."""
        first = zip(carrier, links, strict=True)
        parts = [jnp.concatenate([a[None], b]) if self.carriers else b for a, b in first]
        return jnp.concatenate([part.T.reshape(-1) for part in parts])

    def _poses(self, x: Array, R: Array, turning: Turning | None = None) -> Pose:
        """Of the links, a row each."""
        own = [R] if turning is None else [R, turning.frame]
        return Pose(self._of_links(x.T), *(self._of_links(jnp.moveaxis(part, -1, 0)) for part in own))

    def _of_links(self, rows: Array) -> Array:
        """Rows without that of the body that carries the chain."""
        return rows[1:] if self.carriers else rows

    def _first_pose(self, t, x: Array, R: Array, turning: Turning | None = None) -> Pose:
        """Of the body before the first link; of the ground such that its mark is where it should be."""
        if self.carriers:
            return Pose(x[:, 0], R[:, :, 0], None if turning is None else turning.frame[:, :, 0])
        place, directions = self.base.at(self.placement, t, x, R)
        leaves, structure = jax.tree.flatten(self.links)
        first = [leaf[0] if one else leaf for leaf, one in zip(leaves, self.varied, strict=True)]
        arm, frame = jax.tree.unflatten(structure, first).before
        turn = directions @ frame.T
        return Pose(place - turn @ arm, turn, None if turning is None else turn)

    def _first_weight(self) -> tuple[Array, Array]:
        """One over mass and moments of the body before the first link."""
        if not self.carriers:
            return jnp.zeros(()), jnp.zeros(3)
        half = self.weights.size // 2
        return self.weights[0], self.weights[half:].reshape(3, -1)[:, 0]

    def _residual(self, link: Link) -> Callable[[Frames], Array]:
        """The conditions of the joint of a link."""
        return eqx.combine(link.joint, self.template).residual


@dataclass(frozen=True)
class SerialReach:
    """Jacobians of the joints at a pose, and the factors of $A$."""

    linkage: SerialLinkage
    pose: tuple[Any, Array, Array]
    turning: Turning | None = None

    @cached_property
    def slopes(self) -> Slopes:
        """Jacobians; those of a system that is factored come with its factors."""
        return self.linkage.slopes(*self.pose, self.turning)

    @cached_property
    def factors(self) -> Factor:
        """Of $A$, for those who solve."""
        self.__dict__["slopes"], factors = self.linkage.factored(*self.pose, self.turning)
        return factors

    def ready(self) -> "SerialReach":
        """This with its system factored."""
        assert self.factors is not None
        return self

    def push(self, twist: Twist) -> Rows:
        r"""The products $G u$."""
        return _pushed(self.linkage, self.slopes, twist)

    def pull(self, forces: Rows) -> Twist:
        r"""The wrench $G^T \lambda$."""

        def each(from_outside: Motion, link: Link, slopes: Slopes, force: Array):
            before, own = slopes.pull(force)
            return before, Motion(own.v + from_outside.v, own.w + from_outside.w)

        nothing = Motion(jnp.zeros(3), jnp.zeros(3))
        carrier, links = self.linkage.scan(each, nothing, self.slopes, forces[0], reverse=True)
        return self.linkage.twist(carrier, links)

    def solve(self, right: Rows, repetitions: int) -> Rows:
        r"""Forces $\lambda$ with $G M^{-1} G^T \lambda = b$; once is enough."""
        return _solved(self.linkage, self.factors, right)


class SerialClosing(NamedTuple):
    """How impulses at the start of a step move the gaps at its end."""

    linkage: SerialLinkage
    slopes: Slopes
    factors: Factor

    def push(self, twist: Twist) -> Rows:
        """What a further motion at the end adds to the gaps."""
        return _pushed(self.linkage, self.slopes, twist)

    def solve(self, right: Rows) -> Rows:
        """Impulses at the start that open the joints by so much at the end."""
        return _solved(self.linkage, self.factors, right)


def _pushed(linkage: SerialLinkage, slopes: Slopes, twist: Twist) -> Rows:
    def each(before: Motion, link: Link, slopes: Slopes, own: Motion):
        return own, slopes.push(before, own)

    return [linkage.scan(each, linkage._first_motion(twist), slopes, linkage.motions(twist))[1]]


def _solved(linkage: SerialLinkage, factors: Factor, right: Rows) -> Rows:
    """Forward and backward substitution."""

    def down(before: Array, link: Link, factor: Factor, b: Array):
        z = factor.corner.forward(b - jnp.sum(factor.left * before[None], axis=1))
        return z, z

    def up(from_outside: Array, link: Link, factor: Factor, z: Array):
        x = factor.corner.backward(z - from_outside)
        return jnp.sum(factor.right * x[None], axis=1), x

    nothing = jnp.zeros(right[0].shape[1])
    z = linkage.scan(down, nothing, factors, right[0])[1]
    return [linkage.scan(up, nothing, factors, z, reverse=True)[1]]


def _frames(link: Link, before: Pose, own: Pose) -> Frames:
    """What the joint of a link sees."""
    (arm, frame), (own_arm, own_frame) = link.before, link.own
    apart = own.x + own.R @ own_arm - (before.x + before.R @ arm)
    return Frames(apart, before.R @ frame, own.R @ own_frame)


def _path(mark: tuple[Array, Array], pose: Pose, motion: Motion) -> list[Pose]:
    """Place and directions of a mark on a body, their rates, and their second rates at a constant motion."""
    (arm, frame), levels = mark, []
    for place in (pose.x, motion.v, jnp.zeros(3)):
        levels.append(Pose(place + pose.R @ arm, pose.R @ frame))
        arm, frame = jnp.cross(motion.w, arm), jnp.cross(motion.w[:, None], frame, axis=0)
    return levels


def _torques(mark: tuple[Array, Array], R: Array, on_place: Array, on_directions: Array) -> Array:
    """Rows of a Jacobian in the turn of a body, from those in place and directions of a mark on it."""
    arm, frame = mark
    torque = jnp.cross(arm[None], on_place @ R)
    twists = jnp.sum(R[None, :, :, None] * on_directions[:, :, None, :], axis=1)
    for k in range(3):
        torque = torque + jnp.cross(frame[:, k][None], twists[:, :, k])
    return torque


def _levered(lever: Array, rows: Array) -> Array:
    """Turns that torques lead to, by principal values or by a matrix."""
    if lever.ndim == 1:
        return rows * lever[None]
    return jnp.sum(rows[:, None] * lever[None], axis=2)


def _across(A: Array, B: Array) -> Array:
    """The product $A B^T$."""
    return jnp.sum(A[:, None] * B[None], axis=2)
