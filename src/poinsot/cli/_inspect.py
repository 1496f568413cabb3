"""`poinsot inspect`: what a robot file says, as this package reads it."""

from pathlib import Path
from typing import Any

from poinsot.cli._tables import show_json, show_table
from poinsot.io import read_urdf
from poinsot.model import System


def inspect_robot(path: Path, *, floating: bool, as_json: bool) -> None:
    """Print the tree of joints, the masses of bodies and the frames of a robot."""
    robot = described(read_urdf(path, floating=floating))
    if as_json:
        show_json(robot)
        return
    print(
        f"{robot['name']}: {len(robot['bodies'])} bodies, {robot['mass']:.6g} in all, "
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
    """Bodies, joints along the tree and what joint coordinates cannot have, as plain data."""
    linkage = robot.linkage
    assert linkage is not None
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
    roots = len(linkage.tree.roots)
    further = linkage.conditions[len(linkage.joints) :]
    counted = sum(len(joint.freedoms or ()) for joint in linkage.joints) + 6 * roots - len(further)
    bodies = [
        {
            "name": name,
            "mass": float(body.mass),
            "moments": [float(moment) for moment in body.moments],
            "frames": [frame for frame, marker in robot.frames.items() if marker.body == place],
        }
        for place, (name, body) in enumerate(zip(robot.names, robot.bodies, strict=True))
    ]
    remarks = [
        f"{one.label} is a constraint: in joint coordinates take form 'index3' or 'index0'" for one in further
    ]
    return {
        "name": robot.name,
        "freedoms": counted,
        "mass": sum(body["mass"] for body in bodies),
        "bodies": bodies,
        "joints": joints,
        "remarks": remarks,
    }


def _limits(limits: list[list[float]]) -> str:
    return "; ".join(f"{low:.6g} to {high:.6g}" for low, high in limits)


def _numbers(numbers: list[float]) -> str:
    return ", ".join(f"{one:.4g}" for one in numbers)
