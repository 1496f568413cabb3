"""What holds a tree of joints beyond the tree: joints that close loops, drives and couplings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import CLOSING, PLACING, PLACING_REPETITIONS, PUSHING, PUSHING_REPETITIONS, Printable
from poinsot.solvers import EliminationOrder, GraphFactors

from .._joint_coordinate import Held
from ..joints import AbstractCondition, Frames
from ..potentials._marker import joined as joined_bodies
from . import _dynamics as dynamics
from . import _kinematics as kinematics
from ._articulated import articulated, free_rates
from ._canonical import normalised
from ._coordinates import moved_by
from ._kinematics import Posture, Q, V
from ._spatial import applied, halves, joined

if TYPE_CHECKING:
    from .._linkage import Linkage
    from .._system import System
    from ._open_chain import OpenChain


class Loops(Printable):
    r"""Conditions $g(t, q) = 0$ on the coordinates of a tree, functions of the poses of its bodies; if any.

    With rates $v$ along the tree,

    $$ \dot g = G v + g_t, \qquad a\,\dot v = f + G^T\lambda, \qquad G\,a^{-1} G^T \lambda = b $$

    where rows of $G$ may depend on each other, or vanish: those of a plane mechanism across its plane do.
    So the last system is solved with $\varepsilon D$ added, in repetitions that take it back. $D$ is the
    diagonal that the matrix would have if all bodies were free, so that no row has a zero there.
    """

    conditions: tuple[AbstractCondition, ...]
    held: Held
    order: EliminationOrder = eqx.field(static=True)

    def gaps(self, t, x: Any, R: Any) -> list[Array]:
        """What must vanish, at positions and rotations of the bodies."""
        return [self._gap(condition, t, x, R) for condition in self.conditions]

    def _gap(self, condition: AbstractCondition, t, x: Any, R: Any) -> Array:
        joints = [self.held[name] for name in condition.joined]
        frames = [
            Frames(second.place(x, R) - first.place(x, R), first.directions(R), second.directions(R))
            for _, first, second in joints
        ]
        return condition.gap(t, [joint for joint, _, _ in joints], frames)

    def gap(self, chain: "OpenChain", t, q: Q) -> Float[Array, " m"]:
        """All conditions at coordinates."""
        posture = kinematics.posture(chain.nodes, q)
        return _stacked(self.gaps(t, posture.x, posture.R))

    def rate(self, chain: "OpenChain", t, q: Q, v: V) -> Float[Array, " m"]:
        r"""Rates $G v + g_t$."""
        t, along = jnp.asarray(t, dtype=float), kinematics.coordinate_rates(chain.structure, q, v)
        return jax.jvp(lambda t, q: self.gap(chain, t, q), (t, q), (jnp.ones_like(t), along))[1]

    def bend(self, chain: "OpenChain", t, q: Q, v: V) -> Float[Array, " m"]:
        r"""Second rates at constant rates, $\ddot g - G\dot v$."""
        t, along = jnp.asarray(t, dtype=float), kinematics.coordinate_rates(chain.structure, q, v)
        return jax.jvp(lambda t, q: self.rate(chain, t, q, v), (t, q), (jnp.ones_like(t), along))[1]

    def pulls(self, t, posture: Posture) -> Float[Array, "m body 6"]:
        """Wrenches on the bodies of a unit force of each condition."""
        rows = []
        for condition in self.conditions:
            bodies = dict.fromkeys(
                body for name in condition.joined for body in joined_bodies(*self.held[name][1:])
            )
            own = {body: posture.x[body] for body in bodies}, {body: posture.R[body] for body in bodies}
            on_x, on_R = jax.jacrev(
                lambda x, R, condition=condition: self._gap(condition, t, x, R), argnums=(0, 1)
            )(*own)
            wrenches = jnp.zeros((condition.rows, *posture.x.shape[:1], 6))
            for body in bodies:
                moments = jnp.sum(jnp.cross(posture.R[body][None], on_R[body], axis=1), axis=2)
                wrenches = wrenches.at[:, body].set(joined(moments, on_x[body]))
            rows.append(wrenches)
        return _stacked(rows, *posture.x.shape[:1], 6)

    def scale(self, chain: "OpenChain", posture: Posture, pulls: Array) -> Float[Array, " m"]:
        """What each condition alone would accelerate itself by, were all bodies free and none light."""
        moments, forces = halves(pulls)
        inertias, masses = dynamics.space_inertias(chain.nodes, posture), chain.nodes.masses
        light = np.array([body.light for body in chain.system.bodies], dtype=float)
        if np.any(light):
            inertias, masses = inertias + light[:, None, None] * jnp.eye(3)[None], masses + light
        turned = jnp.sum(moments * applied(_inverses(inertias)[None], moments), axis=(1, 2))
        return turned + jnp.sum(forces * forces / masses[None, :, None], axis=(1, 2))

    def free_scale(self, chain: "OpenChain", t, q: Q) -> Float[Array, " m"]:
        """The diagonal $D$ at coordinates."""
        posture = kinematics.posture(chain.nodes, q)
        return self.scale(chain, posture, self.pulls(t, posture))

    def at(self, chain: "OpenChain", t, q: Q, solve: tuple[float, int]) -> "Hold":
        """The conditions at coordinates, for a kind of solve: its epsilon and number of repetitions."""
        posture = kinematics.posture(chain.nodes, q)
        pulls = self.pulls(t, posture)
        G = jax.vmap(lambda one: dynamics.pulled(chain.structure, posture, one))(pulls)
        articulation = articulated(chain.nodes, posture)
        moved = jax.vmap(lambda row: free_rates(chain.structure, articulation, row))(G)
        scale, ends = self.split(self.scale(chain, posture, pulls)), self._ends
        A = jnp.sum(G[:, None] * moved[None], axis=2)
        blocks = {
            (i, j): A[ends[i] : ends[i + 1], ends[j] : ends[j + 1]]
            for i in range(len(ends) - 1)
            for j in range(i + 1)
        }
        return Hold(self, G, moved, scale, self.order.factored(blocks, solve[0], scale), solve[1])

    @property
    def _ends(self) -> list[int]:
        ends = [0]
        for condition in self.conditions:
            ends.append(ends[-1] + condition.rows)
        return ends

    def split(self, rows: Float[Array, " m"]) -> list[Array]:
        """Numbers of all conditions, condition by condition."""
        ends = self._ends
        return [rows[begin:end] for begin, end in zip(ends[:-1], ends[1:], strict=True)]

    def acceleration(self, chain: "OpenChain", t, q: Q, v: V, free: V) -> tuple[V, Float[Array, " m"]]:
        r"""The acceleration that keeps the conditions, and their forces $\lambda$.

        Args:
            chain: the tree.
            t: time.
            q: coordinates.
            v: rates.
            free: acceleration of the tree without them.
        """
        hold = self.at(chain, t, q, (PUSHING, PUSHING_REPETITIONS))
        forces = hold.solve(-(self.bend(chain, t, q, v) + hold.push(free)))
        return free + hold.pull(forces), forces

    def impulse(self, chain: "OpenChain", t, q: Q, v: V) -> tuple[V, V]:
        """The least change of rates, in the metric, that makes them keep the conditions; and its momentum."""
        hold = self.at(chain, t, q, (PLACING, PLACING_REPETITIONS))
        forces = hold.solve(-self.rate(chain, t, q, v))
        return hold.pull(forces), jnp.sum(hold.G * forces[:, None], axis=0)

    def closed(self, chain: "OpenChain", t, q: Q) -> Q:
        """Coordinates with closed loops, from such as are slightly open."""
        q = normalised(chain.structure, q)
        hold = self.at(chain, t, q, (PLACING, PLACING_REPETITIONS))
        for _ in range(CLOSING):
            by = hold.pull(hold.solve(-self.gap(chain, t, q)))
            q = normalised(chain.structure, moved_by(chain.structure, q, by))
        return q


class Hold(NamedTuple):
    """The conditions at some coordinates, ready to be solved for their forces."""

    loops: Loops
    G: Float[Array, "m nv"]
    moved: Float[Array, "m nv"]
    r"""Rows of $(a^{-1} G^T)^T$."""
    scale: list[Array]
    """The diagonal $D$."""
    factors: GraphFactors
    repetitions: int

    def push(self, v: V) -> Float[Array, " m"]:
        r"""The product $G v$."""
        return jnp.sum(self.G * v[None], axis=1)

    def pull(self, forces: Float[Array, " m"]) -> V:
        r"""The accelerations $a^{-1} G^T\lambda$."""
        return jnp.sum(self.moved * forces[:, None], axis=0)

    def solve(self, right: Float[Array, " m"]) -> Float[Array, " m"]:
        r"""Forces with $G a^{-1} G^T\lambda = b$."""
        return _stacked(self.factors.solve(self.loops.split(right), self.repetitions))


def loops_of(system: "System") -> Loops:
    """What holds the tree of a system beyond its joints."""
    linkage = system.linkage
    conditions = () if linkage is None else beyond_the_tree(linkage)
    pairs = [(i, j) for i in range(len(conditions)) for j in range(i)]
    held = {} if linkage is None else linkage.held
    return Loops(tuple(conditions), held, EliminationOrder.of(len(conditions), pairs))


def beyond_the_tree(linkage: "Linkage") -> Sequence[AbstractCondition]:
    """Joints that close loops, then drives and couplings."""
    cut = [linkage.joints[joint] for joint in linkage.tree.cut]
    return [*cut, *linkage.conditions[len(linkage.joints) :]]


def _stacked(rows: Sequence[Array], *shape: int) -> Array:
    """Rows one after the other, of this shape each, where there are any."""
    return jnp.concatenate(rows) if rows else jnp.zeros((0, *shape))


def _inverses(inertias: Float[Array, "body 3 3"]) -> Float[Array, "body 3 3"]:
    """Inverses of tensors of inertia, by their cofactors."""
    first, second, third = inertias[:, 0], inertias[:, 1], inertias[:, 2]
    rows = jnp.stack([jnp.cross(second, third), jnp.cross(third, first), jnp.cross(first, second)], axis=2)
    return rows / jnp.sum(first * rows[:, :, 0], axis=1)[:, None, None]
