r"""The joints of a system in twist space: gaps, rates, Jacobians and the solve for joint forces."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError
from poinsot.rotation import hat
from poinsot.solvers import EliminationOrder, GraphFactors

from ._placement import Placement
from .joints import AbstractJoint, Frames
from .joints._site import Pose
from .potentials._marker import Marker

Twist = Float[Array, " n"]
"""Velocities of the translating bodies, then body angular velocities of the rotating ones, each (3, bodies)."""
Rows = list[Float[Array, " rows"]]
"""Numbers for the conditions of each joint."""


class Linkage(eqx.Module):
    r"""Joints between the live bodies of a system.

    With the gaps $g(t, x, R)$ of the joints and a twist $u = (\dot x, \Omega)$ of the live bodies,

    $$ \dot g = G u + g_t, \qquad M \dot u = f + G^T \lambda, \qquad M = \operatorname{diag}(m, J) $$

    whatever the coordinates. Forces $\lambda$ of the joints solve a system with $A = G M^{-1} G^T$, which has a
    block for each pair of joints that share a body: it is factored in an order found once from the graph.
    """

    joints: tuple[AbstractJoint, ...]
    markers: tuple[tuple[Marker, Marker], ...]
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
        self.joints = tuple(joints)
        self.markers = tuple(joint.site.markers(names, reference) for joint in self.joints)
        self.placement = placement
        self.weights = 1.0 / jnp.concatenate([jnp.tile(masses, 3), placement.inertia.reshape(-1)])
        self.parts = tuple(self._places(joint) for joint in range(len(self.joints)))
        sets = [set(part) for part in self.parts]
        pairs = [(i, j) for i in range(len(sets)) for j in range(i) if sets[i] & sets[j]]
        self.order = EliminationOrder.of(len(sets), pairs)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the joints."""
        return tuple(joint.name for joint in self.joints)

    def _places(self, joint: int) -> tuple[int, ...]:
        moving, turning = self.placement.translating, self.placement.rotating
        found: list[int] = []
        for marker in self.markers[joint]:
            if marker.body in moving:
                found += [k * len(moving) + moving.index(marker.body) for k in range(3)]
            if marker.body in turning:
                slot = 3 * len(moving) + turning.index(marker.body)
                found += [slot + k * len(turning) for k in range(3)]
        if not found:
            raise InputError(f"{self.joints[joint].site} joins bodies that do not move; leave it out")
        return tuple(found)

    def gaps(self, t, x: Array, R: Array) -> Rows:
        """What must vanish at position level, of each joint."""
        return [self._moved(joint, t, x, R)(jnp.zeros(len(part)), t) for joint, part in enumerate(self.parts)]

    def _moved(self, joint: int, t, x: Array, R: Array) -> Callable[[Array, Array], Array]:
        """Gap of a joint as a function of a small motion of its bodies, exact to second order, and of time."""
        first, second = self.markers[joint]

        def gap(twist: Array, t: Array) -> Array:
            parts = iter([twist[k : k + 3] for k in range(0, len(twist), 3)])
            (one, d), (two, e) = (self._seen(marker, t, x, R, parts) for marker in (first, second))
            return self.joints[joint].residual(Frames(two - one, d, e))

        return gap

    def _seen(self, marker: Marker, t, x: Array, R: Array, parts: Iterator[Array]) -> Pose:
        """Place and directions of a marker in space, its body moved by the next parts of a twist."""
        body, placement = marker.body, self.placement
        if body is None:
            return marker.place({}, {}), marker.directions({})
        positions, rotations = placement.given(t)
        if body in placement.translating:
            positions[body] = x[:, placement.translating.index(body)] + next(parts)
        if body in placement.rotating:
            slot, turn = placement.rotating.index(body), hat(next(parts))
            own = R[:, :, slot] @ (jnp.eye(3) + turn + 0.5 * (turn @ turn))
            rotations[body] = own if placement.axes is None else own @ placement.axes[:, :, slot].T
        if body in placement.pinned:
            arm = rotations[body] @ placement.points[placement.pinned.index(body)]
            positions[body] = positions[body] - arm
        return marker.place(positions, rotations), marker.directions(rotations)

    def rates(self, t, x: Array, R: Array, twist: Twist) -> Rows:
        r"""Rates $G u + g_t$ of the gaps."""
        return [self._along(joint, t, x, R, twist)[1] for joint in range(len(self.joints))]

    def bends(self, t, x: Array, R: Array, twist: Twist) -> Rows:
        r"""Second rates of the gaps at a constant twist, $\ddot g - G \dot u$."""
        return [self._along(joint, t, x, R, twist)[2] for joint in range(len(self.joints))]

    def _along(self, joint: int, t, x: Array, R: Array, twist: Twist) -> tuple[Array, Array, Array]:
        """Gap of a joint, its rate and its second rate at a constant twist."""
        moved, own = self._moved(joint, t, x, R), twist[np.array(self.parts[joint])]
        t, zero, one = jnp.asarray(t, dtype=float), jnp.zeros(()), jnp.ones(())

        def after(time):
            return moved(time * own, t + time)

        def rate(time):
            return jax.jvp(after, (time,), (one,))

        (gap, first), (_, second) = jax.jvp(rate, (zero,), (one,))
        return gap, first, second

    def at(self, t, x: Array, R: Array, epsilon: float) -> "Reach":
        """Jacobians of the joints at a pose, factored for the solve."""
        jacobians = [
            jax.jacfwd(self._moved(joint, t, x, R))(jnp.zeros(len(part)), jnp.asarray(t, dtype=float))
            for joint, part in enumerate(self.parts)
        ]
        blocks = {}
        for i, j in self.order.edges:
            shared = [place for place in self.parts[i] if place in self.parts[j]]
            rows, columns = (
                jacobians[k][:, np.array([self.parts[k].index(place) for place in shared])] for k in (i, j)
            )
            scaled = rows * self.weights[np.array(shared)][None]
            blocks[i, j] = jnp.sum(scaled[:, None] * columns[None], axis=2)
        return Reach(self, jacobians, self.order.factored(blocks, epsilon))


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
