r"""The joints of a system in twist space: gaps, rates, Jacobians and the solve for joint forces."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, Mobility, Rows, Twist, least_pivots, plain
from poinsot.kernels import alone
from poinsot.solvers import EliminationOrder, GraphFactors

from ._grip import Grip, Held
from ._placement import Placement
from ._tree import SpanningTree
from .joints import AbstractCondition, AbstractJoint, Frames
from .joints._site import Pose
from .potentials._marker import Marker

Visitor = Callable[..., Array]
"""A function of a condition, its joints, their frames and rates of these, and of rows of the condition."""


class Turning(NamedTuple):
    r"""How bodies turn whose coordinates may have left their internal constraints.

    Coordinates move by $S\,u$ along these constraints. On them $u$ is the body angular velocity, and
    $S^T M S = J$; elsewhere neither holds.
    """

    frame: Float[Array, "3 3 turning"]
    r"""Matrices $F$ with $\dot R = F\,\hat u$; the rotations themselves on the constraints."""
    mobility: Float[Array, "*three 3 turning"]
    r"""Inverse of $S^T M S$, or its diagonal where it has no more."""


class Linkage(eqx.Module):
    r"""Joints between the live bodies of a system.

    With the gaps $g(t, x, R)$ of the joints and a twist $u = (\dot x, \Omega)$ of the live bodies,

    $$ \dot g = G u + g_t, \qquad M \dot u = f + G^T \lambda, \qquad M = \operatorname{diag}(m, J) $$

    whatever the coordinates. Forces $\lambda$ of the joints solve a system with $A = G M^{-1} G^T$, which has
    a block for each pair of joints that share a body: it is factored in an order found once from the graph.
    """

    joints: tuple[AbstractJoint, ...]
    reference: dict[str, Pose]
    """Poses of bodies when the joints were put together, by name."""
    markers: tuple[tuple[Marker, Marker], ...]
    """Of each joint on its two bodies, as people gave them."""
    grips: tuple[tuple[Grip, Grip], ...]
    """Of each joint on its two bodies."""
    conditions: tuple[AbstractCondition, ...]
    """The joints, then drives and couplings."""
    placement: Placement
    weights: Twist
    """Diagonal of $M^{-1}$; with 1 for what a light body lacks, which serves to place it, not to move it."""
    seen: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    """Joints that each condition looks at."""
    parts: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    """Places in the twist of the numbers that move each condition."""
    order: EliminationOrder = eqx.field(static=True)
    tree: SpanningTree = eqx.field(static=True)
    names: tuple[str, ...] = eqx.field(static=True)
    """Of the bodies."""

    def __init__(
        self,
        conditions: Sequence[AbstractCondition],
        names: Sequence[str],
        reference: Mapping[str, Pose],
        placement: Placement,
        masses: Float[Array, " moving"],
    ):
        self.names, self.reference = tuple(names), dict(reference)
        self.conditions, self.placement, grips = tuple(conditions), placement, []
        self.joints = tuple(one for one in self.conditions if isinstance(one, AbstractJoint))
        self.markers = tuple(joint.site.markers(names, reference) for joint in self.joints)
        for joint, markers in zip(self.joints, self.markers, strict=True):
            first, second = (Grip.of(one, placement) for one in markers)
            if not first.live and not second.live:
                raise InputError(f"{joint.site} joins bodies that do not move; leave it out")
            grips.append((first, second))
        self.grips = tuple(grips)
        self.weights = _weights(masses, placement.inertia)
        known = [joint.name for joint in self.joints]
        self.seen = tuple(tuple(known.index(name) for name in one.joined) for one in self.conditions)
        # No method of this object is called before it is whole: each call would look through all of it.
        on = [[place for grip in pair for place in places_of(grip, placement)] for pair in grips]
        self.parts = tuple(
            tuple(dict.fromkeys(place for joint in seen for place in on[joint])) for seen in self.seen
        )
        moved_by: dict[int, list[int]] = {}
        for i, part in enumerate(self.parts):
            for place in part:
                moved_by.setdefault(place, []).append(i)
        pairs = {(i, j) for all_of_one in moved_by.values() for i in all_of_one for j in all_of_one if j < i}
        self.order = EliminationOrder.of(len(self.conditions), sorted(pairs))
        free = set(placement.translating) & set(placement.rotating)
        ends = [(first.body, second.body) for first, second in self.grips]
        able = [joint.freedoms is not None for joint in self.joints]
        self.tree = SpanningTree.of(len(names), free, ends, able)

    def with_conditions(self, more: Sequence[AbstractCondition]) -> "Linkage":
        """The same joints with further conditions on them."""
        if not more:
            return self
        masses = 1.0 / plain(self.weights)[: len(self.placement.translating)]
        return Linkage((*self.conditions, *more), self.names, self.reference, self.placement, masses)

    @property
    def held(self) -> dict[str, tuple[AbstractJoint, Marker, Marker]]:
        """Joints by name, with their markers."""
        pairs = zip(self.joints, self.markers, strict=True)
        return {joint.name: (joint, *markers) for joint, markers in pairs}

    def label(self, condition: int) -> str:
        """What messages call a condition, with the bodies that it is about."""
        return self.conditions[condition].label_in([self.joints[joint] for joint in self.seen[condition]])

    @property
    def held_together(self) -> list[tuple[int, ...]]:
        """Bodies that each condition takes hold of, without the ground."""
        on = [[grip.body for grip in pair if grip.body is not None] for pair in self.grips]
        return [tuple({body for joint in seen for body in on[joint]}) for seen in self.seen]

    @property
    def driven(self) -> bool:
        """Whether time enters a condition, or moves a body that a joint takes hold of."""
        return self.placement.driven or any(one.takes_time for one in self.conditions)

    @property
    def independent(self) -> bool:
        """Whether the conditions are independent wherever they hold.

        So they are if all are joints of the tree. Each has as many rows as it takes freedoms from the body
        that it moves, which has all six, and no row acts on a body further out: $G$ is triangular by blocks.
        """
        return len(self.conditions) == len(self.joints) and not self.tree.cut

    @property
    def looped(self) -> bool:
        """Joints of any kind are written out one by one."""
        return False

    @property
    def listed(self) -> range:
        """Place in the list of conditions of each row of `gaps`."""
        return range(len(self.conditions))

    def flat(self, rows: Rows) -> Float[Array, " k"]:
        """Numbers of all conditions in the order of their list."""
        return jnp.concatenate([jnp.zeros(0), *rows])

    def frames(self, joint: int, t, x: Array, R: Array) -> Frames:
        """What a joint sees of its bodies."""
        first, second = (grip.at(self.placement, t, x, R) for grip in self.grips[joint])
        return _frames(first, second)

    def _gap(self, condition: int) -> Callable[[Any, list[Frames]], Array]:
        """A condition as a function of time and what it sees of its joints."""
        joints = [self.joints[joint] for joint in self.seen[condition]]
        return lambda t, frames: self.conditions[condition].gap(t, joints, frames)

    def gaps(self, t, x: Array, R: Array) -> Rows:
        """What must vanish at position level, of each condition."""
        return [
            self._gap(i)(t, [self.frames(joint, t, x, R) for joint in seen])
            for i, seen in enumerate(self.seen)
        ]

    def rates(self, t, x: Array, R: Array, twist: Twist) -> Rows:
        r"""Rates $G u + g_t$ of the gaps."""
        rows = []
        for i in range(len(self.conditions)):
            (now, rate), _ = self._path(i, t, x, R, twist)
            rows.append(jax.jvp(self._gap(i), now, rate)[1])
        return rows

    def bends(self, t, x: Array, R: Array, twist: Twist) -> Rows:
        r"""Second rates of the gaps at a constant twist, $\ddot g - G \dot u$."""
        rows = []
        for i in range(len(self.conditions)):
            gap, ((now, rate), bend) = self._gap(i), self._path(i, t, x, R, twist)

            def slope(now, rate, gap=gap):
                return jax.jvp(gap, now, rate)[1]

            rows.append(jax.jvp(slope, (now, rate), (rate, bend))[1])
        return rows

    def _path(self, condition: int, t, x, R, twist: Twist):
        """Time and what a condition sees, their rate, and their second rate at a constant twist."""
        t = jnp.asarray(t, dtype=float)
        paths = []
        for joint in self.seen[condition]:
            first, second = (grip.path(self.placement, t, x, R, twist) for grip in self.grips[joint])
            paths.append([_frames(one, two) for one, two in zip(first, second, strict=True)])
        now, rate, bend = ([path[level] for path in paths] for level in range(3))
        return ((t, now), (jnp.ones_like(t), rate)), (jnp.zeros_like(t), bend)

    def visit(self, function: Visitor, t, x: Array, R: Array, twist: Twist, *given: Rows) -> list[Array]:
        """Results of a function of each condition, of what it sees of its joints, and of given rows.

        Args:
            function: of a condition, the joints that it looks at, their frames and the rates of these, and
                of its rows among those given.
            t: time.
            x: positions.
            R: rotations.
            twist: of the bodies.
            given: numbers for each condition.
        """
        found = []
        for i, (one, *rows) in enumerate(zip(self.conditions, *given, strict=True)):
            ((_, now), (_, rate)), _ = self._path(i, t, x, R, twist)
            found.append(function(one, [self.joints[joint] for joint in self.seen[i]], now, rate, *rows))
        return found

    def at(self, t, x: Array, R: Array, epsilon: float | Array, turning: Turning | None = None) -> "Reach":
        """Jacobians of the conditions at a pose.

        Args:
            t: time.
            x: positions.
            R: rotations.
            epsilon: of the solve.
            turning: how bodies turn where `R` need not be rotations; by angular velocities if left out.
        """
        frame, mobility = (R, None) if turning is None else turning
        jacobians = [self._jacobian(i, t, x, R, frame) for i in range(len(self.conditions))]
        return Reach(self, jacobians, epsilon, mobility)

    def closing(self, reach: "Reach", t, x: Array, R: Array, mobility: Mobility, share) -> "Closing":
        r"""The derivative $G_1 B G_0^T$ of the gaps at the end of a step in impulses at its start.

        Where conditions may be redundant its pivots have least magnitudes, see `Joints.closing`.
        """
        ends = [self._jacobian(i, t, x, R, R) for i in range(len(self.conditions))]
        shift = mobility.time * self.weights
        moved = [self.moved(shift, mobility.turn, i, G) for i, G in enumerate(reach.jacobians)]
        pairs = [(i, j) for i, near in enumerate(self.order.neighbours) for j in (i, *near)]
        blocks = {(i, j): self.block(i, ends[i], j, moved[j]) for i, j in pairs}
        least = None
        if not self.independent:
            rows = zip(reach.diagonal, reach.pivots, strict=True)
            least = [least_pivots(mobility.time, share, a, d) for a, d in rows]
        return Closing(self, ends, self.order.factored_general(blocks, least))

    def moved(self, shift: Twist, turn: Array, condition: int, G: Array) -> Array:
        r"""Move the bodies by the rows of a Jacobian as impulses: rows of $G B^T$.

        Args:
            shift: what $B$ makes of impulses on the positions.
            turn: what it makes of those on the rotations, by matrices or by their diagonals.
            condition: whose Jacobian it is.
            G: the Jacobian.
        """
        moving, part, columns = len(self.placement.translating), self.parts[condition], []
        for k in range(0, len(part), 3):
            three, place = G[:, k : k + 3], part[k]
            if place < 3 * moving:
                columns.append(three * shift[place])
            else:
                B = turn[..., place - 3 * moving]
                columns.append(three * B[None] if B.ndim == 1 else jnp.sum(three[:, None] * B[None], axis=2))
        return jnp.concatenate(columns, axis=1)

    def block(self, i: int, rows: Array, j: int, columns: Array) -> Array:
        """The product of two Jacobians over the numbers that move both conditions."""
        shared = [place for place in self.parts[i] if place in self.parts[j]]
        rows, columns = (
            G[:, np.array([self.parts[k].index(place) for place in shared])]
            for k, G in ((i, rows), (j, columns))
        )
        return jnp.sum(rows[:, None] * columns[None], axis=2)

    def _jacobian(self, condition: int, t, x: Array, R: Array, frame: Array) -> Float[Array, "rows part"]:
        """Differentiate a condition in the numbers of the twist that move it."""
        gap, seen = self._gap(condition), self.seen[condition]
        slopes = jax.jacrev(lambda frames: gap(t, frames))([self.frames(joint, t, x, R) for joint in seen])
        columns: dict[tuple[int, ...], Array] = {}
        for joint, slope in zip(seen, slopes, strict=True):
            first, second = self.grips[joint]
            for grip, on_place, on_directions in (
                (first, -slope.apart, slope.first),
                (second, slope.apart, slope.second),
            ):
                if grip.live:
                    places = places_of(grip, self.placement)
                    pulled = grip.pulled(frame, on_place, on_directions)
                    columns[places] = columns[places] + pulled if places in columns else pulled
        return jnp.concatenate([*columns.values()], axis=1)


@alone
def _weights(masses: Float[Array, " moving"], moments: Float[Array, "3 turning"]) -> Twist:
    """Reciprocals of masses and moments in the order of a twist, 1 for those that are zero."""
    inertia = jnp.concatenate([jnp.tile(masses, 3), moments.reshape(-1)])
    return 1.0 / jnp.where(inertia > 0.0, inertia, 1.0)


def places_of(grip: Grip, placement: Placement) -> tuple[int, ...]:
    """Places in the twist of what moves a grip."""
    moving, turning = len(placement.translating), len(placement.rotating)
    places: list[int] = []
    if grip.moving is not None:
        places += [k * moving + grip.moving for k in range(3)]
    if grip.turning is not None:
        places += [3 * moving + k * turning + grip.turning for k in range(3)]
    return tuple(places)


def _frames(first: Held, second: Held) -> Frames:
    """What a joint sees of two grips, or of their rates."""
    return Frames(second.place - first.place, first.directions, second.directions)


@dataclass(frozen=True)
class Reach:
    """What the joints reach at a pose: their Jacobians in the twist, and the factors of $A$."""

    linkage: Linkage
    jacobians: list[Float[Array, "rows part"]]
    epsilon: float | Array
    mobility: Float[Array, "*three 3 turning"] | None = None
    """Of a `Turning`; None for that of the principal moments."""

    @cached_property
    def factors(self) -> GraphFactors:
        """Of $A$, for those who solve."""
        linkage = self.linkage
        scaled = [self._weighted(i, G) for i, G in enumerate(self.jacobians)]
        blocks = {(i, j): linkage.block(i, scaled[i], j, self.jacobians[j]) for i, j in linkage.order.edges}
        return linkage.order.factored(blocks, self.epsilon)

    def _weighted(self, condition: int, G: Array) -> Array:
        r"""Rows of $G M^{-1}$."""
        linkage = self.linkage
        if self.mobility is None:
            return G * linkage.weights[np.array(linkage.parts[condition])][None]
        return linkage.moved(linkage.weights, self.mobility, condition, G)

    @cached_property
    def diagonal(self) -> Rows:
        """Diagonal of $A$."""
        return [jnp.sum(G * self._weighted(i, G), axis=1) for i, G in enumerate(self.jacobians)]

    @property
    def pivots(self) -> Rows:
        """Pivots of the factors of $A$."""
        return self.factors.pivots

    def ready(self) -> "Reach":
        """This: the system is factored when it is solved."""
        return self

    def push(self, twist: Twist) -> Rows:
        r"""The products $G u$."""
        return _pushed(self.linkage, self.jacobians, twist)

    def pull(self, forces: Rows) -> Twist:
        r"""The wrench $G^T \lambda$."""
        total = jnp.zeros_like(self.linkage.weights)
        for G, part, force in zip(self.jacobians, self.linkage.parts, forces, strict=True):
            total = total.at[np.array(part)].add(jnp.sum(G * force[:, None], axis=0))
        return total

    def solve(self, right: Rows, repetitions: int) -> Rows:
        r"""Forces $\lambda$ with $G M^{-1} G^T \lambda = b$."""
        return self.factors.solve(right, repetitions)


class Closing(NamedTuple):
    """How impulses at the start of a step move the gaps at its end."""

    linkage: Linkage
    jacobians: list[Float[Array, "rows part"]]
    """At the end."""
    factors: GraphFactors

    @property
    def pivots(self) -> Rows:
        """Pivots of the derivative."""
        return self.factors.pivots

    def push(self, twist: Twist) -> Rows:
        """What a further motion at the end adds to the gaps."""
        return _pushed(self.linkage, self.jacobians, twist)

    def solve(self, right: Rows) -> Rows:
        """Impulses at the start that open the joints by so much at the end."""
        return self.factors.solve(right, 1)


def _pushed(linkage: Linkage, jacobians: list[Array], twist: Twist) -> Rows:
    parts = zip(jacobians, linkage.parts, strict=True)
    return [jnp.sum(G * twist[np.array(part)][None], axis=1) for G, part in parts]
