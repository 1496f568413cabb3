"""Robots from MJCF files, the format of MuJoCo: a subset."""

from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from poinsot.core import InputError, checked
from poinsot.io._mjcf_attributes import check_attributes
from poinsot.io._mjcf_elements import Compiler, Defaults, Settings, geom_of, inertial_of, joint_of, pose_of
from poinsot.io._mjcf_option import Option
from poinsot.io._robot import Robot, by_name
from poinsot.io._robot_elements import JointElement, Link, Pose
from poinsot.io._xml import check_number, read_xml
from poinsot.model import System

WORLD = "world"
UNREAD = (
    "compiler", "option", "size", "visual", "statistic", "default", "asset", "worldbody", "contact", "sensor",
    "keyframe", "custom", "actuator",
)  # fmt: skip
"""Sections that are read, or that say nothing of how bodies move by themselves."""
HELD = ("geom", "joint", "freejoint", "inertial", "body", "site", "camera", "light")
"""Elements of a body; the last three are left out."""
STILL = ("joint", "freejoint", "inertial")
"""Of these, what the world has not, which does not move."""


@checked
def read_mjcf(path: str | Path, *, geometry: bool = True) -> System:
    """A robot from an MJCF file of MuJoCo.

    Bodies with hinges, slides, ball or free joints, masses from `inertial` or from simple geoms with
    their density, gravity, springs and dampers of hinges and slides, limits as data, defaults and classes,
    angles and Euler sequences of the compiler. Bodies without a joint become one with the body that they are
    in, and every body has a frame of its name: `pt.OpenChain(robot).pose(q, "hand")`. Coordinates are those
    of MuJoCo for hinges and slides. A body with several joints hangs on links without mass, one between two
    joints each: such a robot has equations in joint coordinates only.

    There are no contacts here. Sensors, keyframes, pictures and actuators are left out: forces of motors are
    loads of a run. What would change the motion and is not known, such as tendons, equalities, armature or
    friction in a joint, is refused, and so is an attribute that MuJoCo does not have. Flags that switch off
    gravity, springs or dampers are heeded.

    Args:
        path: of the file.
        geometry: whether shapes are kept, `robot.geometry`.

    Raises:
        InputError: one line that names the file, the element and what is wrong with it.
    """
    robot = mjcf_robot(path, geometry=geometry)
    robot.check_meshes()
    return robot.system(robot.gravity, damping=True)


def mjcf_robot(path: str | Path, *, geometry: bool = True) -> Robot:
    """The links and joints of an MJCF file; see `read_mjcf`."""
    place = Path(path)
    file, root = place.name, read_xml(place)
    if root.tag != "mujoco":
        raise InputError(f"{file} begins with <{root.tag}>; an MJCF file begins with <mujoco>")
    for section in root:
        if section.tag not in UNREAD:
            raise InputError(f"{file}: <{section.tag}> is not read; leave it out, or write what it does here")
    if root.find(".//include") is not None:
        raise InputError(f"{file}: <include> is not read; put what it includes into the file")
    check_number(root, "body", file)
    compiler, defaults, option = Compiler.of(root, file), Defaults.of(root, file), Option.of(root, file)
    meshes = _meshes(root, file, defaults, compiler)
    folder = place.parent if geometry else None
    settings = Settings(file, compiler, defaults, meshes, folder, option.sprung, option.damped)
    found = _Tree(settings)
    for world in root.findall("worldbody"):
        found.body(world, WORLD, "main")
    links, joints = by_name(found.links, file), by_name(found.joints, file)
    robot = Robot(file, root.get("model", "robot"), links, joints, floating=False)
    robot.gravity, robot.says = option.gravity, ("limits",)
    return robot


def _meshes(
    root: Element, file: str, defaults: Defaults, compiler: Compiler
) -> dict[str, tuple[str, tuple[float, ...]]]:
    """Files of meshes and their scales, by name."""
    meshes = {}
    for mesh in (one for asset in root.findall("asset") for one in asset.findall("mesh")):
        where = f"{file}: mesh {mesh.get('name') or mesh.get('file', '')!r}"
        reading = defaults.reading(mesh, "main", where)
        reading.nothing("refpos")
        if not np.array_equal(reading.vector("refquat", 4, (1.0, 0.0, 0.0, 0.0)), (1.0, 0.0, 0.0, 0.0)):
            raise InputError(f"{where}: refquat is not read; turn its geoms")
        name, scale = reading.text("file", ""), reading.vector("scale", 3, np.ones(3))
        name = Path(name).name if compiler.stripped else name
        meshes[mesh.get("name") or Path(name).stem] = name, tuple(float(one) for one in scale)
    return meshes


class _Tree:
    """Links and joints as they are found, each body after the one it is in."""

    def __init__(self, settings: Settings):
        self.settings = settings
        self.links: list[Link] = []
        self.joints: list[JointElement] = []

    def body(self, element: Element, name: str, inherited: str) -> None:
        """A body and all that is in it.

        Args:
            element: of the body.
            name: of the body.
            inherited: class of the elements that name none.
        """
        settings, where = self.settings, f"{self.settings.file}: body {name!r}"
        check_attributes(element.tag, element.keys(), where)
        for one in element:
            if one.tag not in HELD:
                raise InputError(f"{where}: <{one.tag}> is not read; leave it out")
            if element.tag == "worldbody" and one.tag in STILL:
                raise InputError(f"{where}: <{one.tag}> is in no body; put it into the one that it is of")
        geoms = [geom_of(one, settings, inherited, where) for one in element.findall("geom")]
        given = element.findall("inertial")
        if len(given) > 1:
            raise InputError(f"{where} has {len(given)} <inertial>; give one")
        use_geoms = settings.compiler.from_geoms or (settings.compiler.from_geoms is None and not given)
        mass = centre = inertia = None
        if given and not use_geoms:
            mass, centre, inertia = inertial_of(given[0], settings, where)
        elif use_geoms and name != WORLD:
            mass, centre, inertia = _summed([geom.inertia(where) for geom in geoms])
        shapes = tuple((geom.shape, geom.pose) for geom in geoms if settings.folder is not None)
        lost = tuple(geom.lost for geom in geoms if geom.lost is not None)
        if mass is None or centre is None or inertia is None:
            self.links.append(Link(name, shapes=shapes, lost=lost))
        else:
            self.links.append(Link(name, mass, centre, inertia, shapes, lost))
        for number, child in enumerate(element.findall("body")):
            called = child.get("name") or f"{name} {number + 1}"
            self._joined(child, name, called, child.get("childclass", inherited))

    def _joined(self, element: Element, parent: str, name: str, inherited: str) -> None:
        """A body in another: its joint, then what is in it."""
        settings, where = self.settings, f"{self.settings.file}: body {name!r}"
        reading = Settings.reading(element, where)
        reading.nothing("gravcomp")
        if reading.switch("mocap", "false"):
            raise InputError(f"{where}: mocap = 'true' is not read; leave it out")
        origin = pose_of(reading, settings.compiler)
        held = [one for one in element if one.tag in ("joint", "freejoint")]
        if not held:
            self.joints.append(JointElement(f"{name} on {parent}", "fixed", parent, name, origin))
        for number, one in enumerate(held):
            # Each joint but the last moves a link without mass, which carries the next joint.
            last = number == len(held) - 1
            child = name if last else f"{name}, joint {number + 1}"
            joint = joint_of(one, settings, inherited, (parent, child), origin)
            if joint.kind == "floating" and (parent != WORLD or len(held) > 1):
                raise InputError(f"{where}: a free joint is alone in its body, and the body in the world")
            self.joints.append(joint)
            if not last:
                self.links.append(Link(child))
            parent, origin = child, Pose()
        self.body(element, name, inherited)


def _summed(parts: list[tuple[float, np.ndarray, np.ndarray]]) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, mass centre and inertia about it of several solids."""
    mass = sum(part[0] for part in parts)
    if not mass > 0.0:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    centre = sum((part[0] * part[1] for part in parts), start=np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for own, at, tensor in parts:
        arm = at - centre
        inertia += tensor + own * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return mass, centre, inertia
