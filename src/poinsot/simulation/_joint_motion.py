"""What a run shows of its joints: coordinates with their rates, and reactions."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, known_names, quoted
from poinsot.equations import Formulation
from poinsot.model import (
    AnyLinkage,
    Linkage,
    Passed,
    free_wrench,
    in_loops,
    joint_forces,
    joints,
    passed_along,
    passed_on,
    seen_rates,
)
from poinsot.model.joints import Frames
from poinsot.model.loads import AbstractControl
from poinsot.model.open_chain import beyond_the_tree
from poinsot.simulation._evaluation import at_states
from poinsot.simulation._singularities import Singularity, dead_point, singularities
from poinsot.simulation._turns import nearest_turn, turned_on

QUICK = 2**29
"""Operations on Jacobians, in orders of magnitude, that find their ranks in about a second."""


@dataclass(frozen=True, eq=False)
class JointMotion:
    """How a joint moves along a run.

    Each coordinate is an attribute, such as `angle` or `position`, and so is its rate, `angle_rate`. Angles
    go on beyond a turn: as in the run where it has joint coordinates, as the function of a drive, else as far
    as the saved states show. A warning says where these are too few.
    """

    name: str
    kind: str
    bodies: tuple[str, str]
    """The first and the second."""
    names: tuple[str, ...]
    """Of the coordinates."""
    values: np.ndarray
    """The coordinates (time, k); of a ball joint its rotation vector."""
    rates: np.ndarray
    """Their rates (time, k); of a ball joint the relative angular velocity in the second's directions."""
    rotation: np.ndarray
    """Of the joint's directions in the second body against those in the first, (time, 3, 3)."""
    displacement: np.ndarray
    """From the joint's point in the first body to that in the second, in its directions in the first."""

    @property
    def rate(self) -> np.ndarray:
        """Rate of the coordinate (time,), or of all (time, k) where there are several."""
        return self.rates[:, 0] if len(self.names) == 1 else self.rates

    def __getattr__(self, name: str) -> np.ndarray:
        names = self.__dict__.get("names", ())
        for arrays, known in (("values", names), ("rates", [f"{one}_rate" for one in names])):
            if name in known:
                return self.__dict__[arrays][:, list(known).index(name)]
        has = ", ".join([*names, *(f"{one}_rate" for one in names), "rotation", "displacement"])
        raise AttributeError(f"joint {self.__dict__.get('name')!r} has no {name!r}; it has {has}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.names, *(f"{name}_rate" for name in self.names)})

    def __repr__(self) -> str:
        what = ", ".join(self.names) or "no coordinate"
        return f"{self.kind} joint {self.name!r} of {' and '.join(self.bodies)}: {what}"


@dataclass(frozen=True, eq=False, repr=False)
class Wrenches:
    """A force and a torque along a run, (time, 3) each."""

    force: np.ndarray
    torque: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Reaction(Wrenches):
    """What the second body of a joint does to the first through it.

    Force and torque are those on the first body by the second, about the joint's point in the first body, in
    space. Torques and forces of drives, couplings and loads in the joint are not among them. Where conditions
    are redundant there are many; these are the smallest, each condition weighed by the acceleration that it
    would cause alone.
    """

    name: str
    bodies: tuple[str, str]
    """The first, on which it acts, and the second."""
    local: Wrenches
    """The same in the directions of the joint in the first body; the third is its axis."""

    def __repr__(self) -> str:
        return f"reaction of joint {self.name!r} on {self.bodies[0]} by {self.bodies[1]}"


@dataclass(frozen=True, eq=False, repr=False)
class DriveReaction:
    """What a drive does: the torque about its axis, or the force along it, that moves the coordinate up."""

    name: str
    joint: str
    kind: str
    """"torque" or "force"."""
    effort: np.ndarray
    """The torque or force, (time,)."""
    power: np.ndarray
    """What it puts into the system, (time,)."""

    def __getattr__(self, name: str) -> np.ndarray:
        if name == self.__dict__.get("kind"):
            return self.effort
        own = self.__dict__
        raise AttributeError(f"drive {own.get('name')!r} has no {name!r}; it has a {own.get('kind')}")

    def __repr__(self) -> str:
        return f"{self.kind} of drive {self.name!r} in joint {self.joint!r}"


@dataclass(frozen=True, eq=False, repr=False)
class CouplingReaction:
    """What a coupling does to its two joint coordinates: torques or forces that move them up."""

    name: str
    joints: tuple[str, str]
    efforts: np.ndarray
    """On the first and on the second coordinate, (time, 2)."""

    def __repr__(self) -> str:
        return f"efforts of coupling {self.name!r} on {' and '.join(self.joints)}"


@dataclass(eq=False)
class SeenJoints:
    """The joints of a system along a run, computed when they are asked for.

    Args:
        formulation: of the bodies.
        times: of the saved states.
        packed: the states.
    """

    formulation: Formulation
    times: np.ndarray
    packed: np.ndarray

    @cached_property
    def _linkage(self) -> Linkage:
        return _linkage(self.formulation)

    def _place(self, name: str, known: Sequence[str], what: str) -> int:
        if name not in known:
            raise InputError(f"no {what} is called {quoted(name)}; {known_names(name, known)}")
        return list(known).index(name)

    @cached_property
    def _coordinates(self) -> list[np.ndarray]:
        rows = at_states(_coordinates, self.formulation, self.times, self.packed)
        wide = [2 * len(joint.freedoms or ()) + 12 for joint in self._linkage.joints]
        return self._in_order(rows, wide + [0] * (len(self._linkage.conditions) - len(wide)))

    @cached_property
    def _reactions(self) -> list[np.ndarray]:
        rows = at_states(_reactions, self.formulation, self.times, self.packed)
        wide = [12 if isinstance(one, joints.AbstractJoint) else 2 for one in self._linkage.conditions]
        return self._in_order(rows, wide)

    def _in_order(self, rows: np.ndarray, wide: Sequence[int]) -> list[np.ndarray]:
        """Columns of each condition, of so many each, from those in the order of loops over them."""
        listed = _held(self.formulation).listed
        parts = _parts(rows, [wide[place] for place in listed])
        return [parts[k] for k in np.argsort(listed)]

    @cached_property
    def efforts(self) -> np.ndarray:
        """Forces of controllers along all rates."""
        system = self.formulation.bodies.system
        if not any(isinstance(load, AbstractControl) for load in system.loads):
            raise InputError(f"{system.name} has no controller; give one, pt.simulate(..., control=...)")
        return at_states(_efforts, self.formulation, self.times, self.packed)

    def joint(self, name: str) -> JointMotion:
        """The motion of a joint."""
        linkage = self._linkage
        place = self._place(name, [one.name for one in linkage.joints], "joint")
        joint, rows = linkage.joints[place], self._coordinates[place]
        names = joint.freedoms or ()
        values, rates, rotation, apart = _parts(rows, [len(names), len(names), 9, 3])
        values = values.copy()
        for k, coordinate in enumerate(names):
            if "angle" in coordinate:
                values[:, k] = self._unwrapped(joint, k, values[:, k], rates[:, k])
        kind, ends = joint.site.kind, joint.site.ends
        return JointMotion(name, kind, ends, names, values, rates, rotation.reshape(-1, 3, 3), apart)

    def _unwrapped(
        self, joint: joints.AbstractJoint, place: int, angles: np.ndarray, rates: np.ndarray
    ) -> np.ndarray:
        """Angles that go on beyond a turn: those of the run, of a drive, or by their rates."""
        slots = () if self.formulation.bodies.nodes is None else self.formulation.bodies.nodes.structure.slots
        for slot in slots:
            if slot.name == joint.name and not slot.ball:
                return nearest_turn(angles, np.asarray(self.packed)[:, slot.q[0] + place])
        for one in self._linkage.conditions:
            if isinstance(one, joints.Drive) and one.joint == joint.name and one.place_in(joint) == place:
                driven = np.asarray(jax.vmap(one.function)(jnp.asarray(self.times)))
                return nearest_turn(angles, driven + nearest_turn(angles[0], driven[0]) - driven[0])
        turned, doubtful = turned_on(self.times, angles, rates)
        if doubtful is not None:
            warnings.warn(
                f"the turns of {(joint.freedoms or ())[place]!r} in {joint.label} cannot be told from so few "
                f"saved states, first from t = {self.times[doubtful]:.6g} to "
                f"{self.times[doubtful + 1]:.6g}; save more of them, or take coordinates='joint'",
                stacklevel=5,
            )
        return turned

    def reaction(self, name: str) -> Reaction | DriveReaction | CouplingReaction:
        """The reaction of a joint, a drive or a coupling."""
        linkage = self._linkage
        if self.no_reactions is not None:
            raise InputError(self.no_reactions)
        place = self._place(name, [one.name for one in linkage.conditions], "joint, drive or coupling")
        one, rows = linkage.conditions[place], self._reactions[place]
        if isinstance(one, joints.Drive):
            joint = linkage.joints[linkage.seen[place][0]]
            kind = "torque" if joints.angular((joint.freedoms or ())[one.place_in(joint)]) else "force"
            return DriveReaction(name, one.joint, kind, rows[:, 0], rows[:, 1])
        if isinstance(one, joints.Coupling):
            return CouplingReaction(name, one.ends, rows)
        force, torque, *local = _parts(rows, [3, 3, 3, 3])
        return Reaction(force, torque, name, linkage.joints[place].site.ends, Wrenches(*local))

    @property
    def no_reactions(self) -> str | None:
        """Why reactions cannot be found, or None: with more than a tree they are shared by masses."""
        light = self.formulation.bodies.system.light
        further = beyond_the_tree(self._linkage)
        if not light or not further:
            return None
        return (
            f"no reactions: {light[0]!r} is light, and with {further[0].label} the joints are no tree; give "
            "the body mass and inertia"
        )

    @property
    def few_conditions(self) -> bool:
        """Whether there are so few states and conditions in loops that their ranks are quickly found."""
        return self._quick(len(self.times))

    def _quick(self, states: int) -> bool:
        linkage = self._linkage
        rows = sum(linkage.conditions[i].rows for i in in_loops(linkage))
        return rows**2 * linkage.weights.size * states <= QUICK

    @cached_property
    def singularities(self) -> list[Singularity]:
        """Where the joints lose rank."""
        return singularities(self.formulation, self._linkage, self.times, self.packed)

    def dead_point(self, reach: float) -> Singularity | None:
        """The singular configuration so little time behind the last state, if it is quickly found."""
        if not self._quick(2):
            return None
        return dead_point(self.formulation, self._linkage, self.times, self.packed, reach)


def described(linkage: Linkage) -> dict[str, Any]:
    """Of each joint its name and kind, the bodies it joins, its points and axes in them; names of the others.

    Points are relative to the mass centre, those of the ground in space.
    """
    found = []
    for joint, grips in zip(linkage.joints, linkage.grips, strict=True):
        held = [grip.in_body(linkage.placement) for grip in grips]
        found.append(
            {
                "name": joint.name,
                "kind": joint.site.kind,
                "bodies": list(joint.site.ends),
                "points": [np.asarray(one.place).tolist() for one in held],
                "axes": [np.asarray(one.directions)[:, 2].tolist() for one in held],
            }
        )
    others = {
        table: [one.name for one in linkage.conditions if isinstance(one, kind)]
        for table, kind in (("drives", joints.Drive), ("couplings", joints.Coupling))
    }
    return {"joints": found} | others


def _parts(rows: np.ndarray, widths: Sequence[int]) -> list[np.ndarray]:
    """Columns of an array in groups of these widths."""
    return np.split(rows, np.cumsum(widths)[:-1], axis=1)


def _linkage(formulation: Formulation) -> Linkage:
    """The joints of the system.

    Raises:
        InputError: it has none.
    """
    linkage = formulation.bodies.system.linkage
    if linkage is None:
        raise InputError(f"{formulation.bodies.system.name} has no joints; give the system joints=[...]")
    return linkage


def _held(formulation: Formulation) -> AnyLinkage:
    """The same in loops where there are many."""
    joints = formulation.bodies.joints
    assert joints is not None
    return joints


def _live(formulation: Formulation, t, y) -> tuple[Array, Array, Array, Array]:
    """Live positions, rotations, velocities and angular velocities at a packed state."""
    bodies = formulation.bodies
    q, rate, Omega = formulation.rates(t, y)
    x, c = bodies.split(q)
    return x, bodies.rotation(c), bodies.split(rate)[0], Omega


def _coordinates(formulation: Formulation, grid, at) -> Array:
    """Coordinates, rates, relative rotation and displacement of all joints, one after the other."""
    t, y = at
    x, R, v, Omega = _live(formulation, t, y)
    twist = jnp.concatenate([v.reshape(-1), Omega.reshape(-1)])

    def seen(one, of, now: Sequence[Frames], rate: Sequence[Frames]) -> Array:
        if not isinstance(one, joints.AbstractJoint):
            return jnp.zeros(0)
        frames = now[0]
        own = [one.coordinates(frames), seen_rates(one, frames, rate[0])] if one.freedoms else []
        return jnp.concatenate(
            [*own, (frames.first.T @ frames.second).reshape(-1), frames.apart @ frames.first]
        )

    return _flat(_held(formulation).visit(seen, t, x, R, twist))


def _efforts(formulation: Formulation, grid, at) -> Array:
    """Forces of all controllers along all rates."""
    t, y = at
    controls = [load for load in formulation.bodies.system.loads if isinstance(load, AbstractControl)]
    q, v = formulation.joint_coordinates(t, y, controls[0].chain)
    return sum((one.efforts(t, q, v) for one in controls), start=jnp.zeros_like(v))


def _reactions(formulation: Formulation, grid, at) -> Array:
    """What all joints, drives and couplings do, one after the other."""
    t, y = at
    bodies, linkage = formulation.bodies, _linkage(formulation)
    held = _held(formulation)
    if bodies.nodes is not None and not beyond_the_tree(linkage):
        return _tree_reactions(formulation, linkage, t, y)
    x, R, v, Omega = _live(formulation, t, y)
    twist = jnp.concatenate([v.reshape(-1), Omega.reshape(-1)])
    forces = joint_forces(held, t, x, R, twist, free_wrench(bodies.system, t, x, R, v, Omega))

    def effect(one, of, now: Sequence[Frames], rate, force: Array) -> Array:
        own = force[: one.rows]
        if isinstance(one, joints.Drive):
            return jnp.concatenate([own, own * one.rate(t)])
        if isinstance(one, joints.Coupling):
            return one.shared(own)
        return _shown(passed_on(one, now[0], own), now[0])

    return _flat(held.visit(effect, t, x, R, twist, forces))


def _tree_reactions(formulation: Formulation, linkage: Linkage, t, y) -> Array:
    """What the joints of a tree do in joint coordinates, from the accelerations there."""
    system = formulation.bodies.system

    def twist(t, y):
        _, _, v, Omega = _live(formulation, t, y)
        return jnp.concatenate([v.reshape(-1), Omega.reshape(-1)])

    t = jnp.asarray(t, dtype=float)
    rate = jax.jvp(twist, (t, y), (jnp.ones_like(t), formulation.problem.vector_field(t, y)))[1]
    x, R, v, Omega = _live(formulation, t, y)
    inertia = jnp.concatenate([jnp.tile(system.masses, 3), system.inertia.reshape(-1)])
    wrench = inertia * rate - free_wrench(system, t, x, R, v, Omega)
    found = passed_along(linkage, t, x, R, wrench)
    return jnp.concatenate([_shown(one, linkage.frames(k, t, x, R)) for k, one in enumerate(found)])


def _shown(own: Passed, frames: Frames) -> Float[Array, "12"]:
    """Force and torque of a joint in space, then in its directions in the first body."""
    return jnp.concatenate([*own, *own.seen_from(frames.first)])


def _flat(parts: Sequence[Array]) -> Array:
    """All numbers of some arrays, one after the other."""
    return jnp.concatenate([part.reshape(-1) for part in parts])
