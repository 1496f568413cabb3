"""The robots of the package example-robot-data, read here and by Pinocchio: one mechanics, or a refusal.

As a program it writes the table of the documentation: `make robots`.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.kernels import _recursion, once

_recursion.LONG = 8
"""Recursions of most robots as loops: written out they take ten times longer to compile, and are the same."""
pin: Any = pytest.importorskip("pinocchio")
FOLDER = Path("cmeel.prefix") / "share" / "example-robot-data" / "robots"
TABLE = Path(__file__).parents[2] / "docs" / "robots-table.md"
QUANTITIES = ("mass matrix", "bias forces", "gravity", "inverse dynamics", "forward dynamics")


def robots() -> list[Path]:
    """All URDF files of the package; none where it is not installed."""
    folders = [Path(place) / FOLDER for place in sys.path]
    return sorted(file for folder in folders if folder.is_dir() for file in folder.rglob("*.urdf"))


@dataclass(frozen=True)
class Comparison:
    """A robot with fixed or floating base: relative differences, or why it is refused."""

    robot: str
    """Folder and name of its file."""
    floating: bool
    bodies: int = 0
    freedoms: int = 0
    errors: tuple[float, ...] = ()
    refusal: str | None = None


def label(file: Path) -> str:
    """Folder of the robot, and name of the file."""
    return f"{file.parents[1].name}/{file.name}"


def compared(file: Path, *, floating: bool) -> Comparison:
    """Read a file here and by Pinocchio, and compare the quantities at random coordinates and rates."""
    try:
        robot = pt.io.read_urdf(file, floating=floating, geometry=False)
    except pt.InputError as error:
        return Comparison(label(file), floating, refusal=str(error))
    chain = pt.OpenChain(robot, cut=True)
    draw = np.random.default_rng(len(file.name))
    q = np.asarray(chain.random(jax.random.key(1))[0])
    v, a, tau = draw.standard_normal((3, chain.v_size))
    ours = quantities(chain, q, v, a, tau)
    theirs = of_pinocchio(file, robot, chain, floating, (q, v, a, tau))
    errors = tuple(
        float(np.max(np.abs(one - two)) / max(np.max(np.abs(two)), 1e-300))
        for one, two in zip(ours, theirs, strict=True)
    )
    return Comparison(label(file), floating, robot.count, chain.v_size, errors)


@once
def quantities(chain: pt.OpenChain, q, v, a, tau) -> tuple[jax.Array, ...]:
    """Our quantities, in one program."""
    return (
        chain.metric(q),
        chain.inverse_dynamics(q, v, jnp.zeros_like(v)),
        chain.gravity(q),
        chain.inverse_dynamics(q, v, a),
        chain.forward_dynamics(q, v, tau),
    )


def of_pinocchio(
    file: Path, robot: pt.System, chain: pt.OpenChain, floating: bool, numbers: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, ...]:
    """Their quantities at our coordinates, along our rates.

    Their free joint has the velocity of the frame of the root link along the axes of that link, ours that of
    the mass centre along those of space.
    """
    q, v, a, tau = numbers
    root = pin.JointModelFreeFlyer() if floating else None
    model = pin.buildModelFromUrdf(str(file), root) if floating else pin.buildModelFromUrdf(str(file))
    data, theirs = model.createData(), pin.neutral(model)
    A, drift = np.zeros((model.nv, chain.v_size)), np.zeros(model.nv)
    for slot in chain.slots:
        own, at = q[slot.q[0] : slot.q[0] + slot.q[1]], slot.v[0]
        joint = model.joints[1 if slot.ball else model.getJointId(slot.name)]
        if slot.ball:
            frame: Any = robot.frames[slot.name]
            R, centre = (
                np.asarray(pt.rotation.to_matrix(jax.numpy.asarray(own[3:]))),
                -np.asarray(frame.point),
            )
            theirs[joint.idx_q : joint.idx_q + 7] = [*(own[:3] - R @ centre), *np.roll(own[3:], -1)]
            A[joint.idx_v : joint.idx_v + 3, at : at + 3] = R.T
            A[joint.idx_v : joint.idx_v + 3, at + 3 : at + 6] = np.cross(centre, np.eye(3)).T
            A[joint.idx_v + 3 : joint.idx_v + 6, at + 3 : at + 6] = np.eye(3)
            drift[joint.idx_v : joint.idx_v + 3] = -np.cross(v[at + 3 : at + 6], R.T @ v[at : at + 3])
        else:
            turn = [np.cos(own[0]), np.sin(own[0])]
            theirs[joint.idx_q : joint.idx_q + joint.nq] = turn if joint.nq == 2 else own
            A[joint.idx_v, at] = 1.0
    upper = pin.crba(model, data, theirs)
    mass = np.triu(upper) + np.triu(upper, 1).T
    gravity = pin.computeGeneralizedGravity(model, data, theirs).copy()
    bias = pin.rnea(model, data, theirs, A @ v, drift).copy()
    needed = pin.rnea(model, data, theirs, A @ v, A @ a + drift).copy()
    moved = pin.aba(model, data, theirs, A @ v, np.linalg.solve(A.T, tau)).copy()
    return A.T @ mass @ A, A.T @ bias, A.T @ gravity, A.T @ needed, np.linalg.solve(A, moved - drift)


def table(found: list[Comparison]) -> Iterator[str]:
    """Lines of the page in the documentation."""
    yield from (
        "# Robots of other people",
        "",
        "URDF files of the package `example-robot-data`, version 6.0.0, with fixed and with floating base,",
        f"{len(found)} cases: the largest difference from Pinocchio at random coordinates, rates and forces,",
        "relative to the largest number of each quantity. Mimic joints are joints by themselves in this",
        "comparison, as Pinocchio has them. Written by `make robots`.",
        "",
        f"| file | base | bodies | freedoms | {' | '.join(QUANTITIES)} |",
        f"| --- | --- | ---: | ---: |{' ---: |' * len(QUANTITIES)}",
    )
    for one in (one for one in found if one.refusal is None):
        base = "floating" if one.floating else "fixed"
        numbers = " | ".join(f"{error:.0e}" for error in one.errors)
        yield f"| {one.robot} | {base} | {one.bodies} | {one.freedoms} | {numbers} |"
    yield from ("", "These are refused, each with a reason that is true of the file:", "")
    yield from ("| file | base | reason |", "| --- | --- | --- |")
    for one in (one for one in found if one.refusal is not None):
        name = one.robot.split("/")[-1]
        reason = (one.refusal or "").removeprefix(f"{name}: ").removeprefix(f"{name} ")
        yield f"| {one.robot} | {'floating' if one.floating else 'fixed'} | {reason} |"


def main() -> None:
    """Compare all robots and write the table."""
    found = []
    for file in robots():
        for floating in (False, True):
            found.append(compared(file, floating=floating))
            print(found[-1], flush=True)
    TABLE.write_text("\n".join(table(found)) + "\n")


if __name__ == "__main__":
    main()
