"""Robots from URDF files."""

from pathlib import Path
from typing import Any

from poinsot.core import InputError, checked
from poinsot.io._robot import Robot, by_name
from poinsot.io._urdf_elements import joint_of, link_of
from poinsot.io._xml import check_number, read_xml
from poinsot.model import System


@checked
def read_urdf(
    path: str | Path,
    *,
    floating: bool = False,
    gravity: Any = (0.0, 0.0, -9.81),
    damping: bool = False,
    geometry: bool = True,
) -> System:
    """A robot from a URDF file.

    Links that are fixed to each other become one body, called after the innermost one; its frame has the
    axes of that link and its origin in the common mass centre. The frame of every link has the link's name:
    `pt.OpenChain(robot).pose(q, "hand")`. Limits of any width, largest efforts and largest velocities are
    data of the joints; an effort or velocity of zero or less is one that is not known. A mimic joint becomes
    a coupling. Shapes are kept as data, `robot.geometry`. Friction and transmissions are not read. A root
    that moves freely has coordinates by the name of its link, the place of its mass centre and its rotation:
    `robot.joint_state({"base": [0, 0, 1, 0, 0, 0]})`.

    Args:
        path: of the file.
        floating: whether the root link moves freely; else it is the ground.
        gravity: acceleration of free fall.
        damping: whether the damping of joints is a load.
        geometry: whether shapes are read. Meshes are looked for in the folder of the file alone, and named,
            not opened.

    Raises:
        InputError: one line that names the file, the element and what is wrong with it.
    """
    robot = urdf_robot(path, floating=floating, geometry=geometry)
    robot.check_meshes()
    return robot.system(gravity, damping)


def urdf_robot(path: str | Path, *, floating: bool = False, geometry: bool = True) -> Robot:
    """The links and joints of a URDF file; see `read_urdf`."""
    place = Path(path)
    root = read_xml(place)
    if root.tag != "robot":
        raise InputError(f"{place.name} begins with <{root.tag}>; a URDF file begins with <robot>")
    check_number(root, "link", place.name)
    folder = place.parent if geometry else None
    links = by_name([link_of(one, place.name, folder) for one in root.findall("link")], place.name)
    found = by_name([joint_of(one, place.name) for one in root.findall("joint")], place.name)
    return Robot(place.name, root.get("name", "robot"), links, found, floating)
