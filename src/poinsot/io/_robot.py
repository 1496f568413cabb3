"""Robots from files: a tree of links as a system of bodies and joints."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from poinsot.core import InputError
from poinsot.io._robot_elements import JointElement, Link, Pose, placed_shape
from poinsot.model import Geometry, RigidBody, System, joints, loads, potentials

GROUND = "ground"
ROUND_OFF = 1e-14
FAR = 1e100
"""Distances and moments whose products are beyond double precision."""
KINDS: dict[str, Any] = {
    "revolute": joints.Revolute,
    "continuous": joints.Revolute,
    "prismatic": joints.Prismatic,
    "planar": joints.Planar,
    "ball": joints.Spherical,
}
ANGULAR = ("revolute", "continuous")
SINGLE = (*ANGULAR, "prismatic")


def by_name(elements: list[Any], file: str) -> dict[str, Any]:
    """Links or joints by name."""
    known: dict[str, Any] = {}
    for one in elements:
        if one.name in known:
            raise InputError(f"{file}: two elements are called {one.name!r}; names must differ")
        known[one.name] = one
    return known


class Robot:
    """Links and joints in order from the root outwards."""

    gravity: Any = (0.0, 0.0, -9.81)
    """Acceleration of free fall that the file gives."""
    says: tuple[str, ...] = ("limits", "largest_effort", "largest_velocity")
    """What a file of its kind says of joints."""

    def __init__(
        self,
        file: str,
        name: str,
        links: Mapping[str, Link],
        found: Mapping[str, JointElement],
        floating: bool,
    ):
        self.file, self.name, self.links, self.floating = file, name, links, floating
        for joint in found.values():
            for field in ("damping", "stiffness"):
                if not (value := getattr(joint, field)) >= 0.0:
                    raise InputError(
                        f"{file}: joint {joint.name!r}: {field} = {value:g}; it must not be negative"
                    )
        self.by_child = self._by_child(found)
        roots = [name for name in links if name not in self.by_child]
        if not links:
            raise InputError(f"{file} has no link; there is nothing to simulate")
        if len(roots) != 1:
            said = f"{len(roots)} roots: {', '.join(roots)}" if roots else "no root: its links are a cycle"
            raise InputError(f"{file} has {said}; a robot has one link that is no child")
        self.root = roots[0]
        self.poses = {self.root: Pose()}
        self.carrier = {self.root: self.root}
        """Innermost link that each link is fixed to."""
        self.order = self._grown(found)

    def _by_child(self, found: Mapping[str, JointElement]) -> dict[str, JointElement]:
        by_child: dict[str, JointElement] = {}
        for joint in found.values():
            for end, link in (("parent", joint.parent), ("child", joint.child)):
                if link not in self.links:
                    raise InputError(f"{self.file}: joint {joint.name!r}: {end} = {link!r}, which is no link")
            if joint.child in by_child:
                other = by_child[joint.child].name
                raise InputError(
                    f"{self.file}: link {joint.child!r} is the child of {other!r} and of {joint.name!r}; a "
                    "robot is a tree"
                )
            by_child[joint.child] = joint
        return by_child

    def _grown(self, found: Mapping[str, JointElement]) -> list[JointElement]:
        """Joints, each after that of its parent, with poses and carriers of the links."""
        outward: dict[str, list[tuple[int, JointElement]]] = {}
        for place, joint in enumerate(found.values()):
            outward.setdefault(joint.parent, []).append((place, joint))
        order: list[JointElement] = []
        level = [self.root]
        while level:
            # Those as far from the root as each other stand in the order of the file.
            ready = [one for link in level for one in outward.get(link, ())]
            level = []
            for _, joint in sorted(ready, key=lambda one: one[0]):
                self.poses[joint.child] = self.poses[joint.parent] @ joint.origin
                fixed = joint.kind == "fixed"
                self.carrier[joint.child] = self.carrier[joint.parent] if fixed else joint.child
                level.append(joint.child)
                order.append(joint)
        if len(order) < len(found):
            lost = [joint.child for joint in found.values() if joint.child not in self.poses]
            raise InputError(f"{self.file}: the links {', '.join(lost[:6])} are a cycle, apart from the root")
        return order

    def check_meshes(self) -> None:
        """Refuse meshes that are not to be had."""
        for link in self.links.values():
            for why in link.lost:
                raise InputError(why)

    def system(self, gravity: Any, damping: bool) -> System:
        """The robot as a system."""
        grounded = None if self.floating else self.root
        moving = [link for link in dict.fromkeys(self.carrier.values()) if link != grounded]
        if not moving:
            raise InputError(f"{self.file} has no joint that moves; there is nothing to simulate")
        if GROUND in moving:
            raise InputError(
                f"{self.file}: {GROUND!r} moves, and that is the name of space; give the link another one"
            )
        bodies, centres = {}, {}
        parts_of: dict[str, list[str]] = {}
        for link in self.links:
            parts_of.setdefault(self.carrier[link], []).append(link)
        for link in moving:
            bodies[link], centres[link] = self._body(link, parts_of[link])
        driven = [joint for joint in self.order if joint.kind not in ("fixed", "floating")]
        damped = [one for one in driven if damping and one.damping and one.kind in SINGLE]
        sprung = [one for one in driven if one.stiffness and one.kind in SINGLE]
        parts: dict[str, Any] = dict(
            joints=[*(self._joint(one) for one in driven), *self._couplings(driven)],
            reference={
                link: ((pose := self.poses[link]).place + pose.rotation @ centres[link], pose.rotation)
                for link in moving
            },
            frames={link: self._frame(link, centres) for link in self.links},
            potentials=[
                potentials.UniformGravity(gravity),
                *(potentials.JointSpring(one.name, one.stiffness, rest=one.rest) for one in sprung),
            ],
            loads=[loads.JointDamper(one.name, one.damping) for one in damped],
            geometry=self._geometry(centres),
            name=self.name,
        )
        try:
            return System(list(bodies.values()), **parts)
        except InputError as error:
            raise InputError(f"{self.file}: {error}") from None

    def _body(self, carrier: str, parts: Sequence[str]) -> tuple[RigidBody, np.ndarray]:
        """The links that are fixed to one, as one body, and its mass centre in the frame of that link."""
        own = [(self.links[link], self.poses[carrier].inverse @ self.poses[link]) for link in parts]
        mass = sum(link.mass for link, _ in own)
        inertia = sum(
            (pose.rotation @ link.inertia @ pose.rotation.T for link, pose in own), np.zeros((3, 3))
        )
        if not mass > 0.0:
            return self._made(0.0, inertia, carrier, light=True), np.zeros(3)
        centres = [pose.place + pose.rotation @ link.centre for link, pose in own]
        if not np.max(np.abs(centres)) < FAR:
            raise InputError(
                f"{self.file}: link {carrier!r} has a mass centre at {np.max(np.abs(centres)):.3g}; its "
                "moments are beyond double precision, bring it nearer"
            )
        weights = np.array([link.mass for link, _ in own]) / mass
        centre = np.sum(weights[:, None] * np.array(centres), axis=0)
        for (link, _), at in zip(own, centres, strict=True):
            arm = at - centre
            inertia += link.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        # What programs leave of an inertia that they moved by such arms, when it is that of a point.
        rest = ROUND_OFF * mass * max(float(np.max(np.abs(centre))), 1e-3) ** 2
        inertia = np.where(np.abs(inertia) > rest, inertia, 0.0)
        if not np.max(np.abs(inertia)) < FAR:
            raise InputError(
                f"{self.file}: link {carrier!r} has a moment of {np.max(np.abs(inertia)):.3g}; that is "
                "beyond what can be reckoned with"
            )
        light = not np.all(np.linalg.eigvalsh(0.5 * (inertia + inertia.T)) > 0.0)
        return self._made(mass, inertia, carrier, light=light), centre

    def _made(self, mass: float, inertia: np.ndarray, name: str, *, light: bool) -> RigidBody:
        """A body; one without mass or with moments that vanish is light."""
        try:
            return RigidBody(mass, 0.5 * (inertia + inertia.T), name=name, light=light)
        except InputError as error:
            raise InputError(f"{self.file}: {error}") from None

    def end(self, link: str) -> str:
        """The body that a link is part of, or the ground."""
        carrier = self.carrier[link]
        return GROUND if carrier == self.root and not self.floating else carrier

    def _joint(self, joint: JointElement) -> joints.AbstractJoint:
        pose = self.poses[joint.child]
        data = {
            "limits": None if joint.unfit else joint.limits,
            "largest_effort": joint.largest_effort,
            "largest_velocity": joint.largest_velocity,
        }
        further: dict[str, Any] = {field: value for field, value in data.items() if value is not None}
        if joint.kind != "ball":
            further["axis"] = pose.rotation @ joint.axis
        return KINDS[joint.kind](
            self.end(joint.parent),
            self.end(joint.child),
            at=pose.place + pose.rotation @ joint.point,
            name=joint.name,
            **further,
        )

    def _couplings(self, driven: list[JointElement]) -> list[joints.Coupling]:
        """Mimic joints, $c = f c' + c_0$."""
        driving = {joint.name: joint for joint in driven}
        found = []
        for joint in driven:
            if joint.mimic is None:
                continue
            other, factor, offset = joint.mimic
            if other not in driving:
                raise InputError(f"{self.file}: joint {joint.name!r} mimics {other!r}, which is no joint")
            if other == joint.name:
                raise InputError(f"{self.file}: joint {joint.name!r} mimics itself; name another joint")
            if factor == 0.0:
                raise InputError(
                    f"{self.file}: joint {joint.name!r} mimics {other!r} by the factor 0, so it does not "
                    "move; make it fixed"
                )
            weights = (1.0, -factor)
            about = _about(driving[other], weights) if joint.kind in ANGULAR else None
            found.append(joints.Coupling(joint.name, other, weights, offset, about=about))
        return found

    def _frame(self, link: str, centres: Mapping[str, np.ndarray]) -> tuple:
        """Body, point and rotation of the frame of a link."""
        end, pose = self._in_body(link, centres)
        return end, pose.place, pose.rotation

    def _in_body(self, link: str, centres: Mapping[str, np.ndarray]) -> tuple[str, Pose]:
        """The body of a link, and its pose there relative to the mass centre."""
        end = self.end(link)
        if end == GROUND:
            return GROUND, self.poses[link]
        own = self.poses[end].inverse @ self.poses[link]
        return end, Pose(own.rotation, own.place - centres[end])

    def _geometry(self, centres: Mapping[str, np.ndarray]) -> list[Geometry]:
        """Shapes of all links on their bodies."""
        shapes = []
        for name, link in self.links.items():
            end, pose = self._in_body(name, centres)
            shapes += [placed_shape(shape, end, pose @ own) for shape, own in link.shapes]
        return shapes


def _about(followed: JointElement, weights: tuple[float, float]) -> float | None:
    """The middle of the angles of a joint that another angle follows; None where gears turn round."""
    if followed.kind not in ANGULAR:
        return None
    low, high = (None if followed.unfit else followed.limits) or (-np.inf, np.inf)
    if high - low < 2.0 * np.pi:
        return 0.5 * (low + high)
    return 0.0 if joints.Coupling("first", "second", weights).unit is None else None
