"""`poinsot inspect`: what a robot file says, as this package reads it."""

from pathlib import Path
from typing import Any

from poinsot.cli._tables import show_json, show_table
from poinsot.io import describe_robot


def inspect_robot(path: Path, *, floating: bool, as_json: bool) -> None:
    """Print the tree of joints, the masses of bodies and the frames of a robot."""
    robot = describe_robot(path, floating=floating)
    if as_json:
        show_json(robot)
        return
    print(
        f"{robot['name']}: {len(robot['bodies'])} {'body' if len(robot['bodies']) == 1 else 'bodies'}, "
        f"{robot['mass']:.6g} in all, "
        f"{robot['freedoms']} degrees of freedom"
    )
    show_table(
        ("joint", "kind", "from", "to", "limits", ">effort", ">velocity"),
        (
            (
                " " * 2 * one["depth"] + one["name"],
                one["kind"],
                one["from"],
                one["to"],
                _limits(one["limits"]),
                _number(one["largest_effort"]),
                _number(one["largest_velocity"]),
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


def _limits(limits: Any) -> str:
    return "" if limits is None else f"{limits[0]:.6g} to {limits[1]:.6g}"


def _number(number: float | None) -> str:
    return "" if number is None else f"{number:.6g}"


def _numbers(numbers: list[float]) -> str:
    return ", ".join(f"{one:.4g}" for one in numbers)
