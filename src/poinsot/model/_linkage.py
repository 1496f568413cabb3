r"""The joints of a system in twist space: gaps, rates, Jacobians and the solve for joint forces."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, Rows, Twist
from poinsot.solvers import EliminationOrder, GraphFactors

from ._grip import Grip, Held
from ._placement import Placement
from .joints import AbstractJoint, Frames
from .joints._site import Pose


class Linkage(eqx.Module):
    r"""Joints between the live bodies of a system.

    With the gaps $g(t, x, R)$ of the joints and a twist $u = (\dot x, \Omega)$ of the live bodies,

    $$ \dot g = G u + g_t, \qquad M \dot u = f + G^T \lambda, \qquad M = \operatorname{diag}(m, J) $$

    whatever the coordinates. Forces $\lambda$ of the joints solve a system with $A = G M^{-1} G^T$, which has
    a block for each pair of joints that share a body: it is factored in an order found once from the graph.
    """

    joints: tuple[AbstractJoint, ...]
    grips: tuple[tuple[Grip, Grip], ...]
    """Of each joint on its two bodies."""
    placement: Placement
    weights: Twist
    """Diagonal of $M^{-1}$."""
    parts: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    """Places in the twist of the numbers that move each joint."""
    order: EliminationOrder = eqx.field(static=True)

    def __init__(
        self,
        joints: Sequence[AbstractJoint],
        names: Sequence[str],
        reference: Mapping[str, Pose],
        placement: Placement,
        masses: Float[Array, " moving"],
    ):
        self.joints, self.placement, grips = tuple(joints), placement, []
        for joint in self.joints:
            first, second = (Grip.of(one, placement) for one in joint.site.markers(names, reference))
            if not first.live and not second.live:
                raise InputError(f"{joint.site} joins bodies that do not move; leave it out")
            grips.append((first, second))
        self.grips = tuple(grips)
        self.weights = 1.0 / jnp.concatenate([jnp.tile(masses, 3), placement.inertia.reshape(-1)])
        self.parts = tuple(first_part + second_part for first_part, second_part in map(self._places, grips))
        sets = [set(part) for part in self.parts]
        pairs = [(i, j) for i in range(len(sets)) for j in range(i) if sets[i] & sets[j]]
        self.order = EliminationOrder.of(len(sets), pairs)

    def _places(self, grips: tuple[Grip, Grip]) -> list[tuple[int, ...]]:
        """Places in the twist of what moves each of two grips."""
        moving, turning = len(self.placement.translating), len(self.placement.rotating)
        found = []
        for grip in grips:
            places: list[int] = []
            if grip.moving is not None:
                places += [k * moving + grip.moving for k in range(3)]
            if grip.turning is not None:
                places += [3 * moving + k * turning + grip.turning for k in range(3)]
            found.append(tuple(places))
        return found

    def gaps(self, t, x: Array, R: Array) -> Rows:
        """What must vanish at position level, of each joint."""
        return [
            joint.residual(_frames(*(grip.at(self.placement, t, x, R) for grip in grips)))
            for joint, grips in zip(self.joints, self.grips, strict=True)
        ]

    def rates(self, t, x: Array, R: Array, twist: Twist) -> Rows:
        r"""Rates $G u + g_t$ of the gaps."""
        rows = []
        for joint, grips in zip(self.joints, self.grips, strict=True):
            now, rate, _ = self._path(grips, t, x, R, twist)
            rows.append(jax.jvp(joint.residual, (now,), (rate,))[1])
        return rows

    def bends(self, t, x: Array, R: Array, twist: Twist) -> Rows:
        r"""Second rates of the gaps at a constant twist, $\ddot g - G \dot u$."""
        rows = []
        for joint, grips in zip(self.joints, self.grips, strict=True):
            now, rate, bend = self._path(grips, t, x, R, twist)

            def slope(frames, rate, residual=joint.residual):
                return jax.jvp(residual, (frames,), (rate,))[1]

            rows.append(jax.jvp(slope, (now, rate), (rate, bend))[1])
        return rows

    def _path(self, grips: tuple[Grip, Grip], t, x, R, twist: Twist) -> tuple[Frames, Frames, Frames]:
        """What a joint sees, its rate, and its second rate at a constant twist."""
        first, second = (grip.path(self.placement, t, x, R, twist) for grip in grips)
        now, rate, bend = (_frames(one, two) for one, two in zip(first, second, strict=True))
        return now, rate, bend

    def at(self, t, x: Array, R: Array, epsilon: float) -> "Reach":
        """Jacobians of the joints at a pose, factored for the solve."""
        jacobians = []
        for joint, (first, second) in zip(self.joints, self.grips, strict=True):
            frames = _frames(*(grip.at(self.placement, t, x, R) for grip in (first, second)))
            slope = jax.jacrev(joint.residual)(frames)
            rows = [first.pulled(R, -slope.apart, slope.first)] if first.live else []
            rows += [second.pulled(R, slope.apart, slope.second)] if second.live else []
            jacobians.append(jnp.concatenate(rows, axis=1))
        blocks = {}
        for i, j in self.order.edges:
            shared = [place for place in self.parts[i] if place in self.parts[j]]
            rows, columns = (
                jacobians[k][:, np.array([self.parts[k].index(place) for place in shared])] for k in (i, j)
            )
            scaled = rows * self.weights[np.array(shared)][None]
            blocks[i, j] = jnp.sum(scaled[:, None] * columns[None], axis=2)
        return Reach(self, jacobians, self.order.factored(blocks, epsilon))


def _frames(first: Held, second: Held) -> Frames:
    """What a joint sees of two grips, or of their rates."""
    return Frames(second.place - first.place, first.directions, second.directions)


class Reach(NamedTuple):
    """What the joints reach at a pose: their Jacobians in the twist, and the factors of $A$."""

    linkage: Linkage
    jacobians: list[Float[Array, "rows part"]]
    factors: GraphFactors

    def push(self, twist: Twist) -> Rows:
        r"""The products $G u$."""
        parts = zip(self.jacobians, self.linkage.parts, strict=True)
        return [jnp.sum(G * twist[np.array(part)][None], axis=1) for G, part in parts]

    def pull(self, forces: Rows) -> Twist:
        r"""The wrench $G^T \lambda$."""
        total = jnp.zeros_like(self.linkage.weights)
        for G, part, force in zip(self.jacobians, self.linkage.parts, forces, strict=True):
            total = total.at[np.array(part)].add(jnp.sum(G * force[:, None], axis=0))
        return total

    def solve(self, right: Rows, repetitions: int) -> Rows:
        r"""Forces $\lambda$ with $G M^{-1} G^T \lambda = b$."""
        return self.factors.solve(right, repetitions)
