"""Robots to URDF files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from poinsot.core import InputError, checked
from poinsot.io._robot_elements import Pose
from poinsot.io._write_numbers import origin_of, text_of
from poinsot.io._write_shapes import ShapeWriter
from poinsot.model import Geometry, Linkage, System, joints, loads

GROUND = "ground"
KINDS = {
    joints.Revolute: "revolute",
    joints.Prismatic: "prismatic",
    joints.Planar: "planar",
    joints.Fixed: "fixed",
}
SINGLE = (joints.Revolute, joints.Prismatic)
"""Joints with one coordinate, of which URDF knows limits, damping and what mimics what."""


@checked
def write_urdf(system: System, path: str | Path, *, geometry: bool = True) -> None:
    """Write a robot to a URDF file.

    Bodies become links, whose frames are at the joint that carries them, along the axes of the body. Named
    frames become links without mass that are fixed to these. Limits, largest efforts and velocities are
    written, where zero says that an effort or a velocity is not known; couplings become mimic joints, and
    dampers of joints their damping, which `read_urdf(..., damping=True)` makes loads again. Other forces have
    no place in URDF: gravity, springs and further loads are not written.

    The ground, if a joint is on it, is a link called after a frame at its origin, or "ground". A robot
    without joints on the ground has its free body for root and is read again with `floating=True`; frames
    and shapes of the ground are left out then. Of a planar joint URDF has the axis alone: directions of its x
    and y are chosen when it is read.

    Meshes that are not in the folder of the file are copied to a folder "meshes" in it; a capsule becomes a
    cylinder with two balls.

    Args:
        system: bodies on hinges, slides, planar and fixed joints that form a tree.
        path: of the file; folders that are missing are made.
        geometry: whether shapes are written.

    Raises:
        InputError: something that URDF cannot say.
    """
    root, shapes = Element("robot", name=system.name), ShapeWriter(Path(path).parent) if geometry else None
    for element in _Writer(system, shapes).elements():
        root.append(element)
    ElementTree.indent(root)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    if shapes is not None:
        shapes.copy()
    Path(path).write_text(ElementTree.tostring(root, encoding="unicode") + "\n", encoding="utf-8")


class _Writer:
    """The links and joints of a system."""

    def __init__(self, system: System, shapes: ShapeWriter | None):
        self.system, self.shapes, linkage = system, shapes, system.linkage
        if linkage is None:
            raise InputError("system has no joints; URDF is for robots, bodies on joints")
        self.linkage: Linkage = linkage
        self.by_name = {joint.name: joint for joint in linkage.joints}
        self.mimics, self.damping = self._mimics(), self._damping()
        roots = linkage.tree.roots
        grounded = [branch for branch in linkage.tree.branches if branch.parent is None]
        if len(roots) + bool(grounded) != 1:
            names = ", ".join(system.names[body] for body in roots)
            raise InputError(f"a URDF robot has one root, but {names} move by themselves; join them")
        if len(system.translating) + len(system.rotating) < 2 * system.count:
            raise InputError("a body has a freedom of its own, which URDF cannot say; give it a joint")
        if linkage.tree.cut:
            label = linkage.joints[linkage.tree.cut[0]].label
            raise InputError(f"{label} closes a loop, and URDF has trees alone; leave it out")
        self.root = None if grounded else system.names[roots[0]]
        self.shapes_of: dict[str, list[Geometry]] = {}
        for shape in system.geometry:
            self.shapes_of.setdefault(shape.body, []).append(shape)
        self.ground = self._ground()
        self.origins = {name: np.zeros(3) for name in (self.ground, *system.names)}
        """Of the frame of each link in its body, relative to the mass centre."""
        for branch in linkage.tree.branches:
            child = linkage.markers[branch.joint][1 if branch.forward else 0]
            self.origins[system.names[branch.child]] = np.asarray(child.point)
        if self.root in system.frames:
            self.origins[self.root] = self._root_frame(self.root)

    def _ground(self) -> str:
        """The link that is the ground: a frame there that is not moved, as the root of a file is."""
        for name, marker in self.system.frames.items():
            straight = marker.rotation is None or np.array_equal(np.asarray(marker.rotation), np.eye(3))
            if marker.body is None and straight and not np.any(np.asarray(marker.point)):
                return name
        return GROUND if GROUND not in self.system.frames else f"{GROUND} link"

    def _root_frame(self, root: str) -> np.ndarray:
        """Place of the frame of a free root, which has its name."""
        marker = self.system.frames[root]
        straight = marker.rotation is None or np.allclose(marker.rotation, np.eye(3), rtol=0, atol=1e-12)
        if marker.body != self.system.names.index(root) or not straight:
            raise InputError(
                f"frame {root!r} has the name of the root, and is not along its axes; give it another name"
            )
        return np.asarray(marker.point)

    def _mimics(self) -> dict[str, dict[str, str]]:
        """Attributes of mimic elements, by the joint that follows: the first of its coupling."""
        found: dict[str, dict[str, str]] = {}
        for condition in self.linkage.conditions[len(self.linkage.joints) :]:
            if not isinstance(condition, joints.Coupling):
                raise InputError(f"{condition.label}: URDF cannot say it; leave it out")
            follower, other = condition.ends
            if not all(isinstance(self.by_name[name], SINGLE) for name in condition.ends):
                raise InputError(f"{condition.label}: URDF couples hinges and slides alone; leave it out")
            if follower in found:
                raise InputError(
                    f"{condition.label}: joint {follower!r} follows {found[follower]['joint']!r} already, "
                    "and a URDF joint mimics one; exchange the joints of one coupling, or leave it out"
                )
            first, second = np.asarray(condition.weights)
            found[follower] = {
                "joint": other,
                "multiplier": text_of(-second / first),
                "offset": text_of(np.asarray(condition.offset) / first),
            }
        return found

    def _damping(self) -> dict[str, float]:
        """Damping of joints by name."""
        found: dict[str, float] = {}
        for load in self.system.loads:
            if isinstance(load, loads.JointDamper):
                if not isinstance(self.by_name[load.joint], SINGLE):
                    label = self.by_name[load.joint].label
                    raise InputError(f"damper in {label}: URDF has them in hinges and slides; leave it out")
                found[load.joint] = found.get(load.joint, 0.0) + float(np.asarray(load.damping))
        return found

    def elements(self) -> Iterator[Element]:
        """Links, then joints."""
        if self.root is None:
            yield self._link(self.ground)
        for body, name in zip(self.system.bodies, self.system.names, strict=True):
            link = self._link(name)
            inertial = SubElement(link, "inertial")
            origin_of(inertial, Pose(place=-self.origins[name]))
            SubElement(inertial, "mass", value=text_of(body.mass))
            J = np.asarray(body.inertia_matrix)
            places = {
                "ixx": (0, 0),
                "ixy": (0, 1),
                "ixz": (0, 2),
                "iyy": (1, 1),
                "iyz": (1, 2),
                "izz": (2, 2),
            }
            SubElement(inertial, "inertia", {key: text_of(J[at]) for key, at in places.items()})
            yield link
        yield from self._frames()
        for branch in self.linkage.tree.branches:
            yield self._joint(branch)

    def _link(self, name: str) -> Element:
        """A link with its shapes."""
        link = Element("link", name=name)
        if self.shapes is not None:
            for shape in self.shapes_of.get(GROUND if name == self.ground else name, ()):
                self.shapes.add(link, shape, self.origins[name])
        return link

    def _frames(self) -> Iterator[Element]:
        """Named frames that are not the links themselves."""
        for name, marker in self.system.frames.items():
            body = self.ground if marker.body is None else self.system.names[marker.body]
            if name == body or (marker.body is None and self.root is not None):
                continue
            if name in self.origins:
                raise InputError(f"frame {name!r} has the name of another body; URDF has one name for each")
            yield Element("link", name=name)
            rotation = np.eye(3) if marker.rotation is None else np.asarray(marker.rotation)
            pose = Pose(rotation, np.asarray(marker.point) - self.origins[body])
            yield _tied(f"{name} frame", "fixed", (body, name), pose)

    def _joint(self, branch: Any) -> Element:
        joint = self.linkage.joints[branch.joint]
        kind = KINDS.get(type(joint))
        if kind is None:
            raise InputError(f"{joint.label}: URDF has hinges, slides, planar and fixed joints; replace it")
        ends = self.linkage.markers[branch.joint]
        inner, outer = ends if branch.forward else ends[::-1]
        parent: str = self.ground if branch.parent is None else str(self.system.names[branch.parent])
        child = str(self.system.names[branch.child])
        frames = [np.eye(3) if end.rotation is None else np.asarray(end.rotation) for end in (inner, outer)]
        pose = Pose(frames[0] @ frames[1].T, np.asarray(inner.point) - self.origins[parent])
        kind = "continuous" if kind == "revolute" and not joint.site.limits else kind
        element = _tied(joint.name, kind, (parent, child), pose)
        if kind == "fixed":
            return element
        SubElement(element, "axis", xyz=text_of(frames[1][:, 2] * (1.0 if branch.forward else -1.0)))
        if kind == "planar":
            _check_planar(joint, forward=branch.forward)
        elif limit := _limit(joint):
            SubElement(element, "limit", limit)
        if joint.name in self.damping:
            SubElement(element, "dynamics", damping=text_of(self.damping[joint.name]))
        if joint.name in self.mimics:
            SubElement(element, "mimic", self.mimics[joint.name])
        return element


def _limit(joint: joints.AbstractJoint) -> dict[str, str]:
    """Attributes of the limits of a joint, if it has any; effort and velocity must be there in URDF."""
    site, found = joint.site, {}
    for _, low, high in site.limits:
        found |= {"lower": text_of(low), "upper": text_of(high)}
    for key, sizes in (("effort", site.largest_effort), ("velocity", site.largest_velocity)):
        for _, size in sizes:
            found[key] = text_of(size)
    slides = isinstance(joint, joints.Prismatic)
    return {"effort": "0", "velocity": "0"} | found if found or slides else {}


def _check_planar(joint: joints.AbstractJoint, *, forward: bool) -> None:
    """Refuse what URDF does not know of planar joints."""
    site = joint.site
    if not forward:
        raise InputError(f"{joint.label} goes from the outer body to the inner one; exchange them for URDF")
    if site.limits or site.largest_effort or site.largest_velocity:
        raise InputError(f"{joint.label}: URDF has no limits of planar joints; leave them out")


def _tied(name: str, kind: str, ends: tuple[str, str], pose: Pose) -> Element:
    element = Element("joint", name=name, type=kind)
    SubElement(element, "parent", link=ends[0])
    SubElement(element, "child", link=ends[1])
    origin_of(element, pose)
    return element
