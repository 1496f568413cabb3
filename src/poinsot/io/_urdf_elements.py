"""Elements of URDF files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from poinsot.core import InputError, quoted
from poinsot.io._robot_elements import BOUNDLESS, JointElement, Link, Pose, mesh_path
from poinsot.model import Geometry
from poinsot.rotation import euler

SIZES = {
    "box": (("size", 3),),
    "sphere": (("radius", 1),),
    "cylinder": (("radius", 1), ("length", 1)),
    "capsule": (("radius", 1), ("length", 1)),
}
"""Attributes of the shapes, with how many numbers each has."""
KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")


def link_of(element: Element, file: str, folder: Path | None) -> Link:
    """A link from its element.

    Args:
        element: of the link.
        file: its name, for messages.
        folder: where meshes are; None where shapes are not wanted.
    """
    name = _named(element, file)
    where = f"{file}: link {name!r}"
    found = [] if folder is None else list(_shapes(element, where, folder))
    shapes = tuple((shape, pose) for shape, pose, _ in found)
    lost = tuple(why for *_, why in found if why is not None)
    inertial = element.find("inertial")
    if inertial is None:
        return Link(name, shapes=shapes, lost=lost)
    origin = _origin(inertial, where)
    mass = _number(_child(inertial, "mass", where), "value", where)
    tensor = _child(inertial, "inertia", where)
    i = {key: _number(tensor, key, where) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
    own = np.array(
        [
            [i["ixx"], i["ixy"], i["ixz"]],
            [i["ixy"], i["iyy"], i["iyz"]],
            [i["ixz"], i["iyz"], i["izz"]],
        ]
    )
    if mass < 0.0:
        raise InputError(f"{where}: mass = {mass:g}; it must not be negative")
    return Link(name, mass, origin.place, origin.rotation @ own @ origin.rotation.T, shapes, lost)


def _shapes(element: Element, where: str, folder: Path) -> Iterator[tuple[Geometry, Pose, str | None]]:
    """Visual and collision shapes of a link, and why the mesh of one is not to be had."""
    for role in ("visual", "collision"):
        for one in element.findall(role):
            given = one.find("geometry")
            if given is None or len(given) != 1:
                raise InputError(f"{where}: a <{role}> has no <geometry> with one shape in it")
            pose, shape, at = _origin(one, where), given[0], f"{where}: <{role}>"
            if shape.tag == "mesh":
                scale = _vector(shape, "scale", at, np.ones(3))
                mesh, why = mesh_path(shape.get("filename", ""), folder, at)
                yield Geometry("", "mesh", tuple(scale.tolist()), role=role, mesh=mesh), pose, why
            elif shape.tag in SIZES:
                size = np.concatenate(
                    [_numbers(shape.get(key), count, f"{at}: {key}") for key, count in SIZES[shape.tag]]
                )
                yield Geometry("", shape.tag, tuple(size.tolist()), role=role), pose, None
            else:
                raise InputError(
                    f"{at} is a <{shape.tag}>; shapes are {', '.join((*SIZES, 'mesh'))}; read with "
                    "geometry=False to leave them out"
                )


def joint_of(element: Element, file: str) -> JointElement:
    """A joint from its element."""
    name = _named(element, file)
    where = f"{file}: joint {name!r}"
    kind = element.get("type", "")
    if kind not in KINDS:
        raise InputError(f"{where}: type = {quoted(kind)}; it must be one of {', '.join(KINDS)}")
    axis = np.array([1.0, 0.0, 0.0])
    if (given := element.find("axis")) is not None:
        axis = _vector(given, "xyz", where, axis)
    if kind not in ("fixed", "floating") and not np.any(axis):
        raise InputError(f"{where}: axis is zero; it must have a direction")
    dynamics = element.find("dynamics")
    return JointElement(
        name,
        kind,
        _child(element, "parent", where).get("link", ""),
        _child(element, "child", where).get("link", ""),
        _origin(element, where),
        axis,
        damping=0.0 if dynamics is None else _number(dynamics, "damping", where, 0.0),
        friction=0.0 if dynamics is None else _number(dynamics, "friction", where, 0.0),
        mimic=_mimic(element, where),
        **_limits(element, kind, where),
    )


def _limits(element: Element, kind: str, where: str) -> dict[str, Any]:
    """Limits, largest effort and largest velocity of a joint with one coordinate, as far as it says them.

    An effort and a velocity must be there, so files that know none say zero, or -1 as SDF does; joints
    without limits have such as 1e16 or the largest number there is.
    """
    given = element.find("limit")
    if given is None or kind not in ("revolute", "continuous", "prismatic"):
        return {}
    sizes = {key: _bound(given, key, where) for key in ("effort", "velocity")}
    found: dict[str, Any] = {f"largest_{key}": size for key, size in sizes.items() if 0.0 < size < BOUNDLESS}
    if kind != "continuous" and {"lower", "upper"} & {*given.keys()}:
        low, high = (_bound(given, key, where) for key in ("lower", "upper"))
        if -BOUNDLESS < low or high < BOUNDLESS:
            found["limits"] = low, high
    return found


def _bound(element: Element, key: str, where: str) -> float:
    """A number that may be infinite, zero where it is not given."""
    text = element.get(key, "0")
    if text.strip().lower().lstrip("+-") in ("inf", "infinity"):
        return float(text)
    return _number(element, key, where, 0.0)


def _mimic(element: Element, where: str) -> tuple[str, float, float] | None:
    given = element.find("mimic")
    if given is None:
        return None
    other = given.get("joint")
    if not other:
        raise InputError(f"{where}: mimic names no joint; give joint=...")
    return other, _number(given, "multiplier", where, 1.0), _number(given, "offset", where, 0.0)


def _origin(element: Element, where: str) -> Pose:
    origin = element.find("origin")
    if origin is None:
        return Pose(np.eye(3), np.zeros(3))
    roll, pitch, yaw = _vector(origin, "rpy", where, np.zeros(3))
    return Pose(np.asarray(euler("zyx", (yaw, pitch, roll))), _vector(origin, "xyz", where, np.zeros(3)))


def _named(element: Element, file: str) -> str:
    name = element.get("name", "")
    if not name:
        raise InputError(f"{file}: a {element.tag} has no name; give name=...")
    return name


def _child(element: Element, tag: str, where: str) -> Element:
    found = element.find(tag)
    if found is None:
        raise InputError(f"{where} has no <{tag}>")
    return found


def _number(element: Element, key: str, where: str, otherwise: float | None = None) -> float:
    text = element.get(key)
    if text is None and otherwise is not None:
        return otherwise
    return float(_numbers(text, 1, f"{where}: {key} of <{element.tag}>")[0])


def _vector(element: Element, key: str, where: str, otherwise: np.ndarray) -> np.ndarray:
    text = element.get(key)
    return otherwise if text is None else _numbers(text, 3, f"{where}: {key} of <{element.tag}>")


def _numbers(text: Any, count: int, field: str) -> np.ndarray:
    try:
        numbers = np.array([float(part) for part in str(text).split()])
    except ValueError:
        numbers = np.zeros(0)
    if numbers.shape != (count,) or not np.all(np.isfinite(numbers)):
        raise InputError(f"{field} = {quoted(text)}; it must be {count} finite number{'s' * (count > 1)}")
    return numbers
