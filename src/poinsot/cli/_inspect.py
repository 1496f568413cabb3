"""`poinsot inspect`: what a robot file says, as this package reads it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from poinsot.cli._tables import show_json, show_table
from poinsot.io import read_robot
from poinsot.model import Linkage, System
from poinsot.model.joints import AbstractCondition


def inspect_robot(path: Path, *, floating: bool, as_json: bool) -> None:
    """Print the tree of joints, the masses of bodies and the frames of a robot."""
    robot = described(read_robot(path, **({"floating": True} if floating else {})))
    if as_json:
        show_json(robot)
        return
    print(
        f"{robot['name']}: {len(robot['bodies'])} {'body' if len(robot['bodies']) == 1 else 'bodies'}, "
        f"{robot['mass']:.6g} in all, "
        f"{robot['freedoms']} degrees of freedom"
    )
    show_table(
        ("joint", "kind", "from", "to", "limits"),
        (
            (
                " " * 2 * one["depth"] + one["name"],
                one["kind"],
                one["from"],
                one["to"],
                _limits(one["limits"]),
            )
            for one in robot["joints"]
        ),
        flexible="from",
    )
    show_table(
        ("body", ">mass", ">principal moments", "frames"),
        (
            (one["name"], f"{one['mass']:.6g}", _numbers(one["moments"]), ", ".join(one["frames"]))
            for one in robot["bodies"]
        ),
        flexible="frames",
    )
    for remark in robot["remarks"]:
        print(remark)


def described(robot: System) -> dict[str, Any]:
    """Bodies, joints along the tree and what is to be known of them, as plain data."""
    linkage = robot.linkage
    bodies = [
        {
            "name": name,
            "mass": float(body.mass),
            "moments": [float(moment) for moment in body.moments],
            "frames": [frame for frame, marker in robot.frames.items() if marker.body == place],
        }
        for place, (name, body) in enumerate(zip(robot.names, robot.bodies, strict=True))
    ]
    joints = [] if linkage is None else _joints(robot, linkage)
    further = () if linkage is None else linkage.conditions[len(linkage.joints) :]
    roots = robot.count if linkage is None else len(linkage.tree.roots)
    counted = sum(len(joint.freedoms or ()) for joint in robot.joints) + 6 * roots - len(further)
    return {
        "name": robot.name,
        "freedoms": counted,
        "mass": sum(body["mass"] for body in bodies),
        "bodies": bodies,
        "joints": joints,
        "remarks": [*_remarks(robot, further)],
    }


def _joints(robot: System, linkage: Linkage) -> list[dict[str, Any]]:
    """Joints along the tree, each after that of the body it hangs on."""
    depth: dict[int | None, int] = {None: 0} | dict.fromkeys(linkage.tree.roots, 0)
    joints = []
    for branch in linkage.tree.branches:
        joint = linkage.joints[branch.joint]
        depth[branch.child] = depth[branch.parent] + 1
        joints.append(
            {
                "name": joint.name,
                "kind": type(joint).__name__,
                "from": "ground" if branch.parent is None else robot.names[branch.parent],
                "to": robot.names[branch.child],
                "depth": depth[branch.parent],
                "limits": [list(limit[1:]) for limit in joint.site.limits],
            }
        )
    return joints


def _remarks(robot: System, further: Sequence[AbstractCondition]) -> Iterator[str]:
    """What joint coordinates cannot have, what is light, and meshes that are not there."""
    for one in further:
        yield f"{one.label} is a constraint: in joint coordinates take form 'index3' or 'index0'"
    if robot.light:
        yield f"without mass or with too little inertia, so in joint coordinates only: {_some(robot.light)}"
    lost = [str(shape.mesh) for shape in robot.geometry if shape.mesh and not Path(shape.mesh).is_file()]
    if lost:
        yield f"meshes that are not in the folder of the file, and not drawn: {_some([*dict.fromkeys(lost)])}"
    if not robot.geometry:
        yield "no shapes: pictures show lines between the joints"


def _some(names: Sequence[str]) -> str:
    """The first few of some names."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _limits(limits: list[list[float]]) -> str:
    return "; ".join(f"{low:.6g} to {high:.6g}" for low, high in limits)


def _numbers(numbers: list[float]) -> str:
    return ", ".join(f"{one:.4g}" for one in numbers)
