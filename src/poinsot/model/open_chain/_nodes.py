"""The nodes of a system along its tree of joints: what they turn about, and what they carry."""

from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, Printable, concrete, joined, on_device
from poinsot.kernels import at_once
from poinsot.rotation import hat

from .._checks import stacked
from .._grip import Grip
from .._placement import Placement
from .._tree import Branch
from ..freedom import AbstractFreedom, Clamped, FixedPoint, Free, Translation
from ..joints import Motion
from ..joints._motion import X, Y, Z
from ._spatial import Inertia, product
from ._structure import Slot, Structure, to_nodes

if TYPE_CHECKING:
    from .._system import System

Pose = tuple[Array, Array]
"""A rotation matrix and a place."""
TURNS = ("turn_x", "turn_y", "turn_z")
WAYS = ("x", "y", "z")


class Nodes(Printable):
    r"""Nodes and bodies with their constant numbers.

    A node has a frame. With $B$ and $r$ constant in the frame of its parent, it is turned and placed by

    $$ R = R_{\rm parent}\,B\,A(q), \qquad o = o_{\rm parent} + R_{\rm parent}(r + B\,s\,q) $$

    with $A(q) = \exp(q\,\hat w)$ about an axis, or the matrix of the quaternion of a ball.
    """

    rotations: Float[Array, "node 3 3"]
    """The matrices $B$."""
    places: Float[Array, "node 3"]
    """The vectors $r$."""
    columns: Float[Array, "axis 6"]
    """The vectors $w$ of those that are axes, then their vectors $s$."""
    body_rotations: Float[Array, "body 3 3"]
    """Rotation of each body in the frame of its node."""
    body_places: Float[Array, "body 3"]
    """Its mass centre there."""
    masses: Float[Array, "body"]
    inertias: Float[Array, "body 3 3"]
    """About the mass centres, in the body frames."""
    carried: Inertia
    """Inertias of all bodies of each node about its point, in its frame, where they are constant."""
    structure: Structure = eqx.field(static=True)

    @property
    def turns(self) -> Float[Array, "axis 3"]:
        """The vectors $w$."""
        return self.columns[:, :3]

    @property
    def slides(self) -> Float[Array, "axis 3"]:
        """The vectors $s$."""
        return self.columns[:, 3:]


def nodes_of(system: "System") -> Nodes:
    """The nodes of a system along the spanning tree of its joints; see `loops_of` for what that leaves out.

    Raises:
        InputError: a freedom cannot stand in joint coordinates.
    """
    linkage = system.linkage
    built = _Building(system.count)
    roots = range(system.count) if linkage is None else linkage.tree.roots
    for body in roots:
        built.root(body, system.names[body], system.freedom[body])
    if linkage is not None:
        for branch in linkage.tree.branches:
            built.branch(branch, linkage.joints[branch.joint], linkage.grips[branch.joint], system.placement)
    return built.nodes(system)


class _Building:
    """Nodes as they are found."""

    def __init__(self, bodies: int):
        self.parents: list[int] = []
        self.fixed: list[Pose] = []
        self.motions: list[Motion] = []
        self.balls: list[int] = []
        self.backward: list[bool] = []
        self.q_at: list[int] = []
        self.v_at: list[int] = []
        self.carried: list[tuple[int, Pose]] = [(-1, _unmoved())] * bodies
        self.slots: list[Slot] = []
        self.q_size = self.v_size = 0

    def root(self, body: int, name: str, freedom: AbstractFreedom) -> None:
        """A body that no joint moves, with the freedom it has."""
        slides = tuple(Motion(slide=one) for one in (X, Y, Z))
        if isinstance(freedom, Free):
            self._slot(name, len(slides) + 3, (*WAYS, *TURNS), ball=True)
            node = self._axes(-1, _unmoved(), slides)
            node = self._ball(node, _unmoved(), False)
            self.carried[body] = node, _unmoved()
        elif isinstance(freedom, FixedPoint):
            self._slot(name, 3, TURNS, ball=True)
            node = self._ball(-1, (on_device(np.eye(3)), freedom.at), False)
            self.carried[body] = node, (on_device(np.eye(3)), -freedom.point)
        elif isinstance(freedom, Translation):
            self._slot(name, 3, WAYS, ball=False)
            node = self._axes(-1, _unmoved(), slides)
            self.carried[body] = node, (freedom.rotation, on_device(np.zeros(3)))
        elif isinstance(freedom, Clamped):
            self.carried[body] = -1, (freedom.rotation, freedom.position)
        else:
            raise InputError(
                f"freedom of {name!r} is {type(freedom).__name__}, a function of time, which has no place in "
                "joint coordinates; move a joint by pt.joints.Drive, or take pt.coordinates.Group()"
            )

    def branch(self, branch: Branch, joint: Any, grips: tuple[Grip, Grip], placement: Placement) -> None:
        """A joint, from the body that is known to the one it moves."""
        ends = grips if branch.forward else grips[::-1]
        inner, outer = (_marker(grip, placement) for grip in ends)
        node, frame = (-1, _unmoved()) if branch.parent is None else self.carried[branch.parent]
        frame = _composed(frame, inner)
        motions = joint.motions()
        self._slot(joint.name, len(joint.freedoms), joint.freedoms, ball=motions is None)
        if motions is None:
            node, frame = self._ball(node, frame, not branch.forward), _unmoved()
        elif motions:
            node, frame = self._axes(node, frame, motions, reverse=not branch.forward), _unmoved()
        self.carried[branch.child] = node, _composed(frame, _inverted(outer))

    def _slot(self, name: str, rates: int, labels: tuple[str, ...], *, ball: bool) -> None:
        if any(slot.name == name for slot in self.slots):
            raise InputError(
                f"joint {name!r} has the name of a body that no joint carries, and coordinates are given by "
                "name; give the joint another one"
            )
        self.slots.append(Slot(name, (self.q_size, rates + ball), (self.v_size, rates), labels, ball))
        self.q_next, self.v_next = self.q_size, self.v_size
        self.q_size, self.v_size = self.q_size + rates + ball, self.v_size + rates

    def _axes(self, node: int, frame: Pose, motions: tuple[Motion, ...], *, reverse: bool = False) -> int:
        """One node for each motion; from the second body to the first they are undone, the last first."""
        order = range(len(motions))
        for k in reversed(order) if reverse else order:
            xp: Any = np if concrete(motions[k]) else jnp
            turn, slide = map(xp.asarray, motions[k])
            self.motions.append(Motion(-turn, -slide) if reverse else Motion(turn, slide))
            node = self._node(node, frame, self.q_next + k, self.v_next + k)
            frame = _unmoved()
        self.q_next, self.v_next = self.q_next + len(motions), self.v_next + len(motions)
        return node

    def _ball(self, node: int, frame: Pose, backward: bool) -> int:
        node = self._node(node, frame, self.q_next, self.v_next)
        self.balls.append(node)
        self.backward.append(backward)
        return node

    def _node(self, parent: int, frame: Pose, q_at: int, v_at: int) -> int:
        self.parents.append(parent)
        self.fixed.append(frame)
        self.q_at.append(q_at)
        self.v_at.append(v_at)
        return len(self.parents) - 1

    def nodes(self, system: "System") -> Nodes:
        """All of them."""
        structure = Structure(
            tuple(self.parents),
            tuple(self.balls),
            tuple(self.backward),
            tuple(self.q_at),
            tuple(self.v_at),
            tuple(node for node, _ in self.carried),
            tuple(self.slots),
            self.q_size,
            self.v_size,
        )
        turns, places = (stacked([pose[k] for _, pose in self.carried], (3, 3)[k:]) for k in (0, 1))
        masses, inertias = system.body_masses, system.body_inertias
        return Nodes(
            stacked([rotation for rotation, _ in self.fixed], (3, 3)),
            stacked([place for _, place in self.fixed], (3,)),
            stacked([joined(motion) for motion in self.motions], (6,)),
            turns,
            places,
            masses,
            inertias,
            _carried(structure, masses, inertias, turns, places),
            structure,
        )


@at_once
def _carried(structure: Structure, masses: Array, inertias: Array, turns: Array, places: Array) -> Inertia:
    r"""Inertias $J + m\,(r^2 1 - r r^T)$, $m\,\hat r$, $m 1$ of the bodies of each node, about its point."""
    inertias = product(product(turns, inertias), jnp.swapaxes(turns, 1, 2))
    weight, unit = masses[:, None, None], jnp.eye(3)[None]
    square = jnp.sum(places * places, axis=1)[:, None, None] * unit
    about = inertias + weight * (square - places[:, :, None] * places[:, None])
    return Inertia(*(to_nodes(structure, part) for part in (about, weight * hat(places), weight * unit)))


def _unmoved() -> Pose:
    return on_device(np.eye(3)), on_device(np.zeros(3))


@at_once
def _composed(first: Pose, second: Pose) -> Pose:
    """A pose given in the frame of another."""
    return first[0] @ second[0], first[1] + first[0] @ second[1]


@at_once
def _inverted(pose: Pose) -> Pose:
    return pose[0].T, -(pose[0].T @ pose[1])


def _marker(grip: Grip, placement: Placement) -> Pose:
    """Frame and point of a grip in the frame of its body, relative to the mass centre."""
    frame, arm, body = grip.frame, grip.arm, grip.body
    if grip.turning is not None:
        if placement.axes is not None:
            axes = placement.axes[:, :, grip.turning]
            frame, arm = axes @ frame, axes @ arm
        if body in placement.pinned:
            arm = arm + placement.points[placement.pinned.index(body)]
    return frame, arm
