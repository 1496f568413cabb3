"""Robots to URDF files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import jax.numpy as jnp
import numpy as np

from poinsot.core import InputError
from poinsot.io._robot_elements import Pose
from poinsot.model import Geometry, Linkage, System, joints
from poinsot.rotation import to_matrix

GROUND = "ground"
KINDS = {joints.Revolute: "revolute", joints.Prismatic: "prismatic", joints.Fixed: "fixed"}
SIZES = {
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
}


def write_urdf(system: System, path: str | Path) -> None:
    """Write a robot to a URDF file.

    Bodies become links, whose frames are at the joint that carries them, along the axes of the body. Named
    frames become links without mass that are fixed to these, and couplings become mimic joints. The ground,
    if a joint is on it, is a link called "ground"; a robot without joints on the ground has its free body for
    root and is read again with `floating=True`. URDF has no potentials and no loads: gravity, springs and
    dampers are not written.

    Args:
        system: bodies on hinges, slides and fixed joints that form a tree.
        path: of the file.

    Raises:
        InputError: something that URDF cannot say.
    """
    root = Element("robot", name=system.name)
    for element in _Writer(system).elements():
        root.append(element)
    ElementTree.indent(root)
    Path(path).write_text(ElementTree.tostring(root, encoding="unicode") + "\n", encoding="utf-8")


class _Writer:
    """The links and joints of a system."""

    def __init__(self, system: System):
        self.system, linkage = system, system.linkage
        if linkage is None:
            raise InputError("system has no joints; URDF is for robots, bodies on joints")
        self.linkage: Linkage = linkage
        self.couplings = self._couplings()
        roots = linkage.tree.roots
        grounded = [branch for branch in linkage.tree.branches if branch.parent is None]
        if len(roots) + bool(grounded) != 1:
            names = ", ".join(system.names[body] for body in roots)
            raise InputError(f"a URDF robot has one root, but {names} move by themselves; join them")
        if roots and len(system.translating) + len(system.rotating) < 2 * system.count:
            raise InputError("a body has a freedom of its own, which URDF cannot say; give it a joint")
        if linkage.tree.cut:
            label = linkage.joints[linkage.tree.cut[0]].label
            raise InputError(f"{label} closes a loop, and URDF has trees alone; leave it out")
        self.root = None if grounded else system.names[roots[0]]
        self.origins = {name: np.zeros(3) for name in (GROUND, *system.names)}
        """Of the frame of each link in its body, relative to the mass centre."""
        for branch in linkage.tree.branches:
            child = linkage.markers[branch.joint][1 if branch.forward else 0]
            self.origins[system.names[branch.child]] = np.asarray(child.point)

    def _couplings(self) -> dict[str, joints.Coupling]:
        """Couplings by the joint that follows."""
        found = {}
        for condition in self.linkage.conditions[len(self.linkage.joints) :]:
            if not isinstance(condition, joints.Coupling):
                raise InputError(f"{condition.label}: URDF cannot say it; leave it out")
            found[condition.ends[0]] = condition
        return found

    def elements(self) -> Iterator[Element]:
        """Links, then joints."""
        if self.root is None:
            yield self._link(GROUND)
        for body, name in zip(self.system.bodies, self.system.names, strict=True):
            link = self._link(name)
            inertial = SubElement(link, "inertial")
            _origin(inertial, Pose(place=-self.origins[name]))
            SubElement(inertial, "mass", value=_text(body.mass))
            J = np.asarray(body.inertia_matrix)
            places = {
                "ixx": (0, 0),
                "ixy": (0, 1),
                "ixz": (0, 2),
                "iyy": (1, 1),
                "iyz": (1, 2),
                "izz": (2, 2),
            }
            SubElement(inertial, "inertia", {key: _text(J[at]) for key, at in places.items()})
            yield link
        yield from self._frames()
        for branch in self.linkage.tree.branches:
            yield self._joint(branch)

    def _link(self, name: str) -> Element:
        """A link with its shapes."""
        link = Element("link", name=name)
        for shape in (one for one in self.system.geometry if one.body == name):
            _shape(link, shape, self.origins[name])
        return link

    def _frames(self) -> Iterator[Element]:
        """Named frames that are not the links themselves."""
        for name, marker in self.system.frames.items():
            body = GROUND if marker.body is None else self.system.names[marker.body]
            if name == body:
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
            raise InputError(f"{joint.label}: URDF has hinges, slides and fixed joints; replace it")
        ends = self.linkage.markers[branch.joint]
        inner, outer = ends if branch.forward else ends[::-1]
        parent: str = GROUND if branch.parent is None else str(self.system.names[branch.parent])
        child = str(self.system.names[branch.child])
        frames = [np.eye(3) if end.rotation is None else np.asarray(end.rotation) for end in (inner, outer)]
        pose = Pose(frames[0] @ frames[1].T, np.asarray(inner.point) - self.origins[parent])
        limits = [limit[1:] for limit in joint.site.limits]
        kind = "continuous" if kind == "revolute" and not limits else kind
        element = _tied(joint.name, kind, (parent, child), pose)
        if kind == "fixed":
            return element
        SubElement(element, "axis", xyz=_text(frames[1][:, 2] * (1.0 if branch.forward else -1.0)))
        if kind != "continuous":
            given = dict(zip(("lower", "upper"), map(_text, limits[0]), strict=True)) if limits else {}
            SubElement(element, "limit", {**given, "effort": "0", "velocity": "0"})
        if joint.name in self.couplings:
            coupling = self.couplings[joint.name]
            first, second = np.asarray(coupling.weights)
            SubElement(
                element,
                "mimic",
                joint=coupling.ends[1],
                multiplier=_text(-second / first),
                offset=_text(np.asarray(coupling.offset) / first),
            )
        return element


def _tied(name: str, kind: str, ends: tuple[str, str], pose: Pose) -> Element:
    element = Element("joint", name=name, type=kind)
    SubElement(element, "parent", link=ends[0])
    SubElement(element, "child", link=ends[1])
    _origin(element, pose)
    return element


def _shape(link: Element, shape: Geometry, origin: np.ndarray) -> None:
    """A shape of a link; planes and ellipsoids have no place in URDF and are left out."""
    if shape.kind != "mesh" and shape.kind not in SIZES:
        return
    element = SubElement(link, shape.role)
    rotation = np.asarray(to_matrix(jnp.asarray(shape.quaternion)))
    _origin(element, Pose(rotation, np.asarray(shape.position) - origin))
    geometry = SubElement(element, "geometry")
    if shape.kind == "mesh":
        SubElement(geometry, "mesh", filename=shape.mesh or "", scale=_text(shape.size))
    else:
        keys = SIZES[shape.kind]
        values = [shape.size] if len(keys) == 1 else shape.size
        SubElement(geometry, shape.kind, {key: _text(value) for key, value in zip(keys, values, strict=True)})


def _origin(element: Element, pose: Pose) -> None:
    """A pose with its angles of roll, pitch and yaw."""
    R = pose.rotation
    level = np.hypot(R[0, 0], R[1, 0])
    pitch = np.arctan2(-R[2, 0], level)
    if level > 1e-9:
        roll, yaw = np.arctan2(R[2, 1], R[2, 2]), np.arctan2(R[1, 0], R[0, 0])
    else:
        # Upright: roll and yaw turn about one axis.
        roll, yaw = 0.0, np.arctan2(-R[0, 1], R[1, 1])
    SubElement(element, "origin", xyz=_text(pose.place), rpy=_text((roll, pitch, yaw)))


def _text(numbers: Any) -> str:
    """Numbers with all their digits."""
    return " ".join(repr(float(number)) for number in np.asarray(numbers).reshape(-1))
