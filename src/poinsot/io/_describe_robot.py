"""What a robot file says, as it is read here, and what is missing in it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from poinsot.core import checked
from poinsot.io._mjcf import WORLD
from poinsot.io._read_robot import robot_of
from poinsot.io._robot import GROUND, SINGLE, Robot
from poinsot.model import Linkage, System
from poinsot.model.joints import AbstractCondition

SAID = {"limits": "limits", "largest_effort": "largest effort", "largest_velocity": "largest velocity"}


@checked
def describe_robot(path: str | Path, *, floating: bool = False) -> dict[str, Any]:
    """Bodies and joints of a robot file along the tree, and remarks, as plain data.

    A body that moves freely stands among the joints, by its name: that is the name of its coordinates. Meshes
    that are not to be had are remarks here, where reading the robot refuses them.

    Args:
        path: of a file in URDF or MJCF.
        floating: whether the root of URDF moves freely.

    Raises:
        InputError: the file cannot be read.
    """
    robot = robot_of(path, **({"floating": True} if floating else {}))
    system = robot.system(robot.gravity, damping=False)
    linkage = system.linkage
    bodies = [
        {
            "name": name,
            "mass": float(body.mass),
            "moments": [float(moment) for moment in body.moments],
            "frames": [frame for frame, marker in system.frames.items() if marker.body == place],
        }
        for place, (name, body) in enumerate(zip(system.names, system.bodies, strict=True))
    ]
    roots = range(system.count) if linkage is None else linkage.tree.roots
    further = () if linkage is None else linkage.conditions[len(linkage.joints) :]
    counted = sum(len(joint.freedoms or ()) for joint in system.joints) + 6 * len(roots) - len(further)
    return {
        "name": system.name,
        "freedoms": counted,
        "mass": sum(body["mass"] for body in bodies),
        "bodies": bodies,
        "joints": [*(_free(system.names[root]) for root in roots), *_joints(system, linkage)],
        "remarks": [*_remarks(robot, system, further)],
    }


def _free(body: str) -> dict[str, Any]:
    """A body that no joint carries."""
    empty = {"limits": None, "largest_effort": None, "largest_velocity": None}
    return {"name": body, "kind": "free", "from": GROUND, "to": body, "depth": 0, **empty}


def _joints(system: System, linkage: Linkage | None) -> list[dict[str, Any]]:
    """Joints along the tree, each after that of the body it hangs on."""
    if linkage is None:
        return []
    depth: dict[int | None, int] = {None: 0} | dict.fromkeys(linkage.tree.roots, 1)
    joints = []
    for branch in linkage.tree.branches:
        joint = linkage.joints[branch.joint]
        depth[branch.child] = depth[branch.parent] + 1
        site = joint.site
        joints.append(
            {
                "name": joint.name,
                "kind": type(joint).__name__,
                "from": GROUND if branch.parent is None else system.names[branch.parent],
                "to": system.names[branch.child],
                "depth": depth[branch.parent],
                "limits": next((list(limits) for _, *limits in site.limits), None),
                "largest_effort": next((size for _, size in site.largest_effort), None),
                "largest_velocity": next((size for _, size in site.largest_velocity), None),
            }
        )
    return joints


def _remarks(robot: Robot, system: System, further: Sequence[AbstractCondition]) -> Iterator[str]:
    """What joint coordinates cannot have, what is light, and what the file does not say."""
    for one in further:
        yield f"{one.label} is a constraint: in joint coordinates take form 'index3' or 'index0'"
    if system.light:
        yield (
            "bodies without mass, or with moments of inertia that vanish, so in joint coordinates only: "
            f"{_some(system.light)}"
        )
    yield from _massless(robot, system)
    driven = [joint for joint in robot.order if joint.kind in SINGLE]
    for field in robot.says:
        lacking = [joint.name for joint in driven if _missing(joint, field)]
        if lacking:
            yield f"joints without {SAID[field]}: {_some(lacking)}"
    still = [joint.name for joint in driven if joint.limits and joint.limits[0] == joint.limits[1]]
    if still:
        yield f"joints with one value between their limits, which nothing holds: {_some(still)}"
    for why in dict.fromkeys(joint.unfit for joint in driven if joint.unfit):
        unfit = [joint.name for joint in driven if joint.unfit == why]
        yield f"joints {why}, so their limits are left out: {_some(unfit)}"
    rubbing = [joint.name for joint in driven if joint.friction]
    if rubbing:
        yield f"joints with friction, which is not read: {_some(rubbing)}"
    yield from _meshes(robot, system)


def _massless(robot: Robot, system: System) -> Iterator[str]:
    """Links without inertia that are parts of a body with some, or of the ground."""
    empty = [name for name, link in robot.links.items() if link.massless]
    # A link called "world" stands for the ground itself.
    ground = [name for name in empty if robot.end(name) == GROUND and name != WORLD]
    parts = [name for name in empty if robot.end(name) not in (GROUND, *system.light)]
    if ground:
        yield f"links without inertia on the ground: {_some(ground)}"
    if parts:
        yield f"links without inertia, fixed to others that have some: {_some(parts)}"


def _missing(joint: Any, field: str) -> bool:
    """Whether a joint lacks what it should have; one that is continuous has no limits."""
    return getattr(joint, field) is None and not (field == "limits" and joint.kind == "continuous")


def _meshes(robot: Robot, system: System) -> Iterator[str]:
    lost = [why for link in robot.links.values() for why in link.lost]
    if lost:
        yield f"meshes that are not to be had, so read with geometry=False: {len(lost)}"
        yield from (why.removeprefix(f"{robot.file}: ").split(";")[0] for why in lost[:5])
    named = [shape.mesh for shape in system.geometry if shape.mesh and "://" in shape.mesh]
    if named:
        yield f"meshes of packages, not in the folder and not drawn: {_some([*dict.fromkeys(named)])}"
    if not system.geometry:
        yield "no shapes: pictures show lines between the joints"


def _some(names: Sequence[str]) -> str:
    """The first few of some names."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
