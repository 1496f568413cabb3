"""Elements of MJCF files: what they say after defaults, in the units of the compiler."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import jax.numpy as jnp
import numpy as np

from poinsot.core import InputError, did_you_mean, quoted
from poinsot.io._mjcf_attributes import check_attributes
from poinsot.io._robot_elements import JointElement, Pose, mesh_path
from poinsot.model import Geometry
from poinsot.rotation import to_matrix

DENSITY = 1000.0
"""Of geoms that give none: water."""
TURNS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
KINDS = {"hinge": "revolute", "slide": "prismatic", "ball": "ball", "free": "floating"}


@dataclass(frozen=True)
class Reading:
    """Attributes of an element, with what defaults say where it says nothing."""

    values: Mapping[str, str]
    where: str

    def text(self, name: str, otherwise: str) -> str:
        """A word."""
        return self.values.get(name, otherwise)

    def switch(self, name: str, otherwise: str) -> bool:
        """Whether it says true."""
        text = self.text(name, otherwise)
        if text not in ("true", "false"):
            raise InputError(f"{self.where}: {name} = {quoted(text)}; it is 'true' or 'false'")
        return text == "true"

    def nothing(self, *names: str) -> None:
        """Refuse attributes with another number than zero."""
        for name in names:
            if name in self.values and np.any(self.vector(name, (1, 2, 3), None)):
                raise InputError(f"{self.where}: {name} = {quoted(self.values[name])}; only 0 is read")

    def number(self, name: str, otherwise: float) -> float:
        """A number."""
        return otherwise if name not in self.values else float(self.vector(name, 1, np.zeros(1))[0])

    def amount(self, name: str, otherwise: float) -> float:
        """A number that is not negative."""
        amount = self.number(name, otherwise)
        if amount < 0.0:
            raise InputError(f"{self.where}: {name} = {amount:g}; it must not be negative")
        return amount

    def vector(self, name: str, count: int | tuple[int, ...], otherwise: Any) -> np.ndarray:
        """Numbers, as many as there must be."""
        text = self.values.get(name)
        if text is None:
            return np.asarray(otherwise)
        try:
            numbers = np.array([float(part) for part in text.split()])
        except ValueError:
            numbers = np.zeros(0)
        counts = (count,) if isinstance(count, int) else count
        if len(numbers) not in counts or not np.all(np.isfinite(numbers)):
            wanted = " or ".join(str(one) for one in counts)
            raise InputError(
                f"{self.where}: {name} = {quoted(text)}; it must be finite numbers, {wanted} of them"
            )
        return numbers


@dataclass(frozen=True)
class Compiler:
    """How angles are given, and where masses come from."""

    unit: float = np.pi / 180.0
    sequence: str = "xyz"
    autolimits: bool = True
    from_geoms: bool | None = None
    """True for geoms alone, False for inertials alone, None for geoms where there is no inertial."""
    meshes: str = ""
    stripped: bool = False
    """Whether folders in the names of meshes are left out."""

    @classmethod
    def of(cls, root: Element, file: str) -> "Compiler":
        """What the file says, all sections together."""
        values = {key: value for one in root.findall("compiler") for key, value in one.items()}
        reading = Reading(values, f"{file}: <compiler>")
        check_attributes("compiler", values, file)
        for name in ("boundmass", "boundinertia"):
            if reading.number(name, 0.0) != 0.0:
                raise InputError(f"{reading.where}: {name} changes masses and is not read; leave it out")
        if reading.number("settotalmass", -1.0) > 0.0:
            raise InputError(f"{reading.where}: settotalmass changes masses and is not read; leave it out")
        for name, only in (
            ("balanceinertia", "false"),
            ("coordinate", "local"),
            ("fusestatic", "false"),
            ("alignfree", "false"),
        ):
            if reading.text(name, only) != only:
                raise InputError(f"{reading.where}: {name} = {quoted(values[name])}; only {only!r} is read")
        if "inertiagrouprange" in values:
            raise InputError(f"{reading.where}: inertiagrouprange is not read; leave it out")
        angle, sequence = reading.text("angle", "degree"), reading.text("eulerseq", "xyz")
        if angle not in ("degree", "radian"):
            raise InputError(f"{reading.where}: angle = {quoted(angle)}; it is 'degree' or 'radian'")
        if len(sequence) != 3 or sequence.strip("xyzXYZ"):
            raise InputError(
                f"{reading.where}: eulerseq = {quoted(sequence)}; it has three letters of xyzXYZ"
            )
        source = reading.text("inertiafromgeom", "auto")
        if source not in ("auto", "true", "false"):
            raise InputError(
                f"{reading.where}: inertiafromgeom = {quoted(source)}; it is auto, true or false"
            )
        return cls(
            np.pi / 180.0 if angle == "degree" else 1.0,
            sequence,
            reading.switch("autolimits", "true"),
            None if source == "auto" else source == "true",
            reading.text("meshdir", reading.text("assetdir", "")),
            reading.switch("strippath", "false"),
        )


class Defaults:
    """Attributes by class and kind of element, those of outer classes filled in."""

    def __init__(self) -> None:
        self.classes: dict[str, dict[str, dict[str, str]]] = {"main": {}}

    @classmethod
    def of(cls, root: Element, file: str) -> "Defaults":
        """All classes of a file."""
        found = cls()
        for one in root.findall("default"):
            found._add(one, one.get("class", "main"), found.classes["main"], file)
        return found

    def _add(self, element: Element, name: str, outer: dict[str, dict[str, str]], file: str) -> None:
        own = {tag: dict(values) for tag, values in outer.items()}
        for one in element:
            if one.tag != "default":
                own[one.tag] = own.get(one.tag, {}) | dict(one.items())
        self.classes[name] = own
        for one in element.findall("default"):
            if not one.get("class"):
                raise InputError(f"{file}: a <default> inside another has no class; give class=...")
            self._add(one, one.get("class", ""), own, file)

    def reading(self, element: Element, inherited: str, where: str) -> Reading:
        """An element with its class, or that of the body around it."""
        name = element.get("class", inherited)
        if name not in self.classes:
            hint = did_you_mean(name, list(self.classes), f"there are {', '.join(self.classes)}")
            raise InputError(f"{where}: class = {quoted(name)}, which is no default; {hint}")
        values = self.classes[name].get(element.tag, {}) | dict(element.items())
        check_attributes(element.tag, values, where)
        return Reading(values, where)


@dataclass(frozen=True)
class Settings:
    """What all elements of a file are read with."""

    file: str
    compiler: Compiler
    defaults: Defaults
    meshes: Mapping[str, tuple[str, tuple[float, ...]]]
    """Files of meshes, with their scales, by name."""
    folder: Path | None
    """Where meshes are; None where shapes are not kept."""
    sprung: bool = True
    """Whether springs in joints are switched on."""
    damped: bool = True

    @staticmethod
    def reading(element: Element, where: str) -> Reading:
        """An element that has no defaults."""
        check_attributes(element.tag, element.keys(), where)
        return Reading(dict(element.items()), where)


def pose_of(reading: Reading, compiler: Compiler) -> Pose:
    """The pose that an element gives."""
    return Pose(_rotation(reading, compiler), reading.vector("pos", 3, np.zeros(3)))


def _rotation(reading: Reading, compiler: Compiler) -> np.ndarray:
    """Rotation in one of the five ways to give it."""
    given = [name for name in TURNS if name in reading.values]
    if len(given) > 1:
        raise InputError(f"{reading.where}: gives {' and '.join(given)}; a rotation is given once")
    if not given:
        return np.eye(3)
    count = {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}[given[0]]
    numbers = reading.vector(given[0], count, None)
    if given[0] == "quat":
        if not np.any(numbers):
            raise InputError(f"{reading.where}: quat is zero; it must be a rotation")
        return np.asarray(to_matrix(jnp.asarray(numbers / np.linalg.norm(numbers))))
    if given[0] == "axisangle":
        return _turn(_unit(numbers[:3], reading), numbers[3] * compiler.unit)
    if given[0] == "euler":
        return _euler(numbers * compiler.unit, compiler.sequence)
    if given[0] == "zaxis":
        return _towards(_unit(numbers, reading))
    x = _unit(numbers[:3], reading)
    y = _unit(numbers[3:] - (numbers[3:] @ x) * x, reading)
    return np.stack([x, y, np.cross(x, y)], axis=1)


def _unit(vector: np.ndarray, reading: Reading) -> np.ndarray:
    length = np.linalg.norm(vector)
    if not length > 0.0:
        raise InputError(f"{reading.where}: an axis is zero; it must have a direction")
    return vector / length


def _turn(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation about a unit vector."""
    skew = np.cross(axis, np.eye(3)).T
    return np.eye(3) + np.sin(angle) * skew + (1.0 - np.cos(angle)) * skew @ skew


def _towards(z: np.ndarray) -> np.ndarray:
    """The shortest rotation that turns the third axis into a direction."""
    axis, sine = np.cross([0.0, 0.0, 1.0], z), np.hypot(z[0], z[1])
    return _turn(axis / sine if sine > 0.0 else np.eye(3)[0], float(np.arctan2(sine, z[2])))


def _euler(angles: np.ndarray, sequence: str) -> np.ndarray:
    """Turns one after the other, about moving axes for small letters and fixed ones for capitals."""
    rotation = np.eye(3)
    for letter, angle in zip(sequence, angles, strict=True):
        turn = _turn(np.eye(3)["xyz".index(letter.lower())], angle)
        rotation = rotation @ turn if letter.islower() else turn @ rotation
    return rotation


def inertial_of(element: Element, settings: Settings, where: str) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, mass centre and inertia about it, in the frame of the body."""
    reading = Settings.reading(element, f"{where}: <inertial>")
    pose = pose_of(reading, settings.compiler)
    if "mass" not in reading.values:
        raise InputError(f"{reading.where} has no mass; give mass=...")
    mass = reading.amount("mass", 0.0)
    if "fullinertia" in reading.values:
        xx, yy, zz, xy, xz, yz = reading.vector("fullinertia", 6, None)
        own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:
        own = np.diag(reading.vector("diaginertia", 3, np.zeros(3)))
    return mass, pose.place, pose.rotation @ own @ pose.rotation.T


def joint_of(
    element: Element, settings: Settings, inherited: str, ends: tuple[str, str], origin: Pose
) -> JointElement:
    """The joint of a body in its parent."""
    parent, child = ends
    where = f"{settings.file}: joint {element.get('name') or 'of ' + child!r}"
    if element.tag == "freejoint":
        if Settings.reading(element, where).text("align", "false") == "true":
            raise InputError(
                f"{where}: align = 'true' turns the frame of the body and is not read; leave it out"
            )
        return JointElement(element.get("name") or child, "floating", parent, child, origin)
    reading = settings.defaults.reading(element, inherited, where)
    kind = reading.text("type", "hinge")
    if kind not in KINDS:
        raise InputError(f"{where}: type = {quoted(kind)}; it is one of {', '.join(KINDS)}")
    reading.nothing("armature", "frictionloss", "ref", "springdamper")
    spring, unit = kind in ("hinge", "slide"), settings.compiler.unit if kind == "hinge" else 1.0
    damping = reading.vector("damping", (1, 2, 3), np.zeros(1))
    stiffness = reading.vector("stiffness", (1, 2, 3), np.zeros(1))
    if (np.any(damping) or np.any(stiffness)) and (not spring or len(damping) > 1 or len(stiffness) > 1):
        raise InputError(
            f"{where}: springs and dampers are read for a hinge or a slide, with one number each"
        )
    limits, rest = _range(reading, settings.compiler, "range", kind), unit * reading.number("springref", 0.0)
    if kind == "hinge" and stiffness[0] and not abs(rest) < np.pi:
        raise InputError(
            f"{where}: springref = {quoted(reading.values['springref'])}; the spring of a hinge must be at "
            "rest within half a turn of zero"
        )
    return JointElement(
        element.get("name") or f"{child} joint",
        KINDS[kind],
        parent,
        child,
        origin,
        _unit(reading.vector("axis", 3, np.array([0.0, 0.0, 1.0])), reading),
        reading.vector("pos", 3, np.zeros(3)),
        limits=None if limits is None else (unit * limits[0], unit * limits[1]),
        largest_effort=_effort(reading, settings.compiler, kind),
        damping=float(damping[0]) if settings.damped else 0.0,
        stiffness=float(stiffness[0]) if settings.sprung else 0.0,
        rest=rest,
    )


def _range(reading: Reading, compiler: Compiler, field: str, kind: str) -> tuple[float, float] | None:
    """Two numbers that limit a hinge or slide, where they are meant to."""
    limited = reading.text(field.replace("range", "") + "limited", "auto")
    given = reading.vector(field, 2, np.zeros(2))
    wanted = limited == "true" or (limited == "auto" and compiler.autolimits and bool(np.any(given)))
    if not wanted or kind not in ("hinge", "slide"):
        return None
    if not given[0] < given[1]:
        raise InputError(
            f"{reading.where}: {field} = {quoted(reading.text(field, ''))}; the first number must be below "
            "the second"
        )
    return float(given[0]), float(given[1])


def _effort(reading: Reading, compiler: Compiler, kind: str) -> float | None:
    """Largest effort of a joint, where it is as large in both directions."""
    low, high = _range(reading, compiler, "actuatorfrcrange", kind) or (0.0, 0.0)
    return high if high > 0.0 and low == -high else None


@dataclass(frozen=True, eq=False)
class Geom:
    """A shape of a body, with the mass that it may have."""

    shape: Geometry
    pose: Pose
    mass: float | None
    """None where the density says."""
    density: float
    lost: str | None = None
    """Why its mesh is not to be had."""

    def inertia(self, where: str) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass, mass centre and inertia about it, in the frame of the body."""
        if self.mass == 0.0 or (self.mass is None and self.density == 0.0) or self.shape.kind == "plane":
            return 0.0, np.zeros(3), np.zeros((3, 3))
        volume, per_mass = _solid(self.shape, where)
        mass = self.density * volume if self.mass is None else self.mass
        own = np.diag(mass * per_mass)
        return mass, self.pose.place, self.pose.rotation @ own @ self.pose.rotation.T


def _solid(shape: Geometry, where: str) -> tuple[float, np.ndarray]:
    """Volume of a solid, and its moments of inertia over its mass."""
    size = np.array(shape.size)
    if shape.kind == "sphere":
        return 4.0 / 3.0 * np.pi * size[0] ** 3, 0.4 * size[0] ** 2 * np.ones(3)
    if shape.kind == "box":
        squares = size**2
        return float(np.prod(size)), (np.sum(squares) - squares) / 12.0
    if shape.kind == "ellipsoid":
        squares = size**2
        return 4.0 / 3.0 * np.pi * float(np.prod(size)), (np.sum(squares) - squares) / 5.0
    if shape.kind not in ("cylinder", "capsule"):
        raise InputError(f"{where}: the mass of a {shape.kind} is not known here; give an <inertial>")
    r, length = size
    tube = np.pi * r**2 * length
    across, along = tube * (3.0 * r**2 + length**2) / 12.0, 0.5 * tube * r**2
    if shape.kind == "cylinder":
        return tube, np.array([across, across, along]) / tube
    # Two half balls at the ends: their centres are 3/8 of the radius off the flat sides.
    ball = 4.0 / 3.0 * np.pi * r**3
    across += ball * (0.4 * r**2 + 0.25 * length**2 + 0.375 * length * r)
    return tube + ball, np.array([across, across, along + 0.4 * ball * r**2]) / (tube + ball)


def geom_of(element: Element, settings: Settings, inherited: str, where: str) -> Geom:
    """A geom of a body."""
    called = element.get("name")
    where = f"{where}: geom {called!r}" if called else f"{where}: a geom"
    reading = settings.defaults.reading(element, inherited, where)
    kind = reading.text("type", "mesh" if "mesh" in reading.values else "sphere")
    pose, mesh, lost = pose_of(reading, settings.compiler), None, None
    sizes = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3, "plane": 3}
    if kind == "mesh":
        name = reading.text("mesh", "")
        if name not in settings.meshes:
            hint = did_you_mean(name, list(settings.meshes), "name one of <asset>")
            raise InputError(f"{where}: mesh = {quoted(name)}, which is no mesh; {hint}")
        named, size = settings.meshes[name]
        file = str(Path(settings.compiler.meshes) / named)
        mesh, lost = (file, None) if settings.folder is None else mesh_path(file, settings.folder, where)
    elif "mesh" in reading.values:
        raise InputError(f"{where}: fits a {kind} to a mesh, which is not read; give its size")
    elif kind in sizes:
        given = reading.vector("size", (1, 2, 3), np.zeros(3))
        if "fromto" in reading.values:
            pose, given = _between(reading, kind, given)
        if len(given) < sizes[kind]:
            raise InputError(f"{where}: size has {len(given)} numbers; a {kind} has {sizes[kind]}")
        # Half-lengths become lengths.
        scale = {"box": (2, 2, 2), "plane": (2, 2, 2), "capsule": (1, 2), "cylinder": (1, 2)}.get(
            kind, (1, 1, 1)
        )
        _check_size(reading, kind, given[: sizes[kind]])
        size = tuple(float(a * b) for a, b in zip(given[: sizes[kind]], scale, strict=False))
    else:
        raise InputError(
            f"{where}: type = {quoted(kind)} is not read; it is one of {', '.join((*sizes, 'mesh'))}"
        )
    if len(element):
        raise InputError(f"{where}: <{element[0].tag}> in a geom is not read; leave it out")
    if reading.switch("shellinertia", "false"):
        raise InputError(f"{where}: shellinertia is not read; geoms are solid here")
    mass = reading.amount("mass", 0.0) if "mass" in reading.values else None
    role = (
        "visual" if reading.text("contype", "1") == "0" == reading.text("conaffinity", "1") else "collision"
    )
    shape = Geometry("", kind, size, role=role, mesh=mesh)
    return Geom(shape, pose, mass, reading.amount("density", DENSITY), lost)


def _check_size(reading: Reading, kind: str, size: np.ndarray) -> None:
    """Refuse a size that is missing or not positive, which no solid has; that of a plane is only drawn."""
    if kind == "plane" or np.all(size > 0.0):
        return
    given = f"size = {quoted(reading.values['size'])}" if "size" in reading.values else "it has no size"
    raise InputError(f"{reading.where}: {given}; the size of a {kind} is positive numbers")


def _between(reading: Reading, kind: str, size: np.ndarray) -> tuple[Pose, np.ndarray]:
    """Pose and size of a geom that reaches from one point to another."""
    ends = reading.vector("fromto", 6, None).reshape(2, 3)
    if kind not in ("capsule", "cylinder", "box", "ellipsoid"):
        raise InputError(
            f"{reading.where}: fromto is for a capsule, cylinder, box or ellipsoid, not a {kind}"
        )
    along = ends[0] - ends[1]
    turn, half = _towards(_unit(along, reading)), 0.5 * np.linalg.norm(along)
    full = [size[0], half] if kind in ("capsule", "cylinder") else [size[0], size[0], half]
    return Pose(turn, ends.mean(axis=0)), np.array(full)
