"""Bodies with less inertia than a rigid body has, which move only as joints and what they carry let them."""

from typing import TYPE_CHECKING

import numpy as np

from poinsot.core import InputError, concrete, few

from .open_chain import Nodes, nodes_of

if TYPE_CHECKING:
    from ._system import System

DRAWS = 3
"""Configurations at which the mass matrix is looked at: it may be singular at some, as Euler angles are."""
NOTHING = 1e-13
"""Least eigenvalue of a mass matrix with ones on its diagonal, at the best of these configurations."""
ROUND_OFF = 1e-14
"""What is left of an inertia that cancels, relative to what a joint moves."""
PART = 0.2
"""Share of a joint in a motion without inertia, relative to the largest, above which it is named."""


def check_light(system: "System") -> None:
    """Refuse light bodies where a motion of the joints would take no force.

    Raises:
        InputError: the mass matrix in joint coordinates is singular, whatever the coordinates.
    """
    if not system.light or not concrete((system.bodies, system.mechanism)):
        return
    nodes, draw = nodes_of(system), np.random.default_rng(0)
    structure = nodes.structure
    # Tuples of a number and a direction: of the draws the one with the largest number.
    least, idle = max((_least(*_mass_matrix(nodes, draw)) for _ in range(DRAWS)), key=lambda one: one[0])
    if least > NOTHING:
        return
    columns = np.flatnonzero(idle > PART * np.max(idle))
    rates = structure.rate_of[columns].tolist()
    holders = [
        repr(slot.name)
        for slot in structure.slots
        if any(slot.v[0] <= rate < slot.v[0] + slot.v[1] for rate in rates)
    ]
    if len(holders) > 1:
        raise InputError(
            f"{few(holders, 3)} can move together without any inertia against it; give what is between them "
            "mass and inertia, or make one of them fixed"
        )
    moved = [repr(system.names[body]) for body in np.flatnonzero(structure.moves[columns[0]]).tolist()]
    raise InputError(
        f"{holders[0]} moves {few(moved, 3)} without any inertia against it; give what it moves mass and "
        "inertia, or make it fixed"
    )


def _least(matrix: np.ndarray, scale: np.ndarray) -> tuple[float, np.ndarray]:
    """Least eigenvalue of a mass matrix with ones on its diagonal, and sizes of the parts of its vector."""
    diagonal = np.diag(matrix)
    empty = diagonal <= ROUND_OFF * scale
    if np.any(empty):
        # One of these by itself.
        return 0.0, (np.arange(len(diagonal)) == np.argmax(empty)).astype(float)
    values, vectors = np.linalg.eigh(matrix / np.sqrt(diagonal[:, None] * diagonal[None]))
    return float(values[0]), np.abs(vectors[:, 0])


def _mass_matrix(nodes: Nodes, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    r"""The matrix $\sum_b m J_v^T J_v + J_\omega^T I J_\omega$ at coordinates drawn at random.

    With it, for each column, how large its diagonal would be if nothing that it moves were on an axis.

    In NumPy: a program of its own for one look at a robot would take seconds to compile.
    """
    structure = nodes.structure
    B, r, turns, slides, own, centres, masses, inertias = (
        np.asarray(part)
        for part in (
            nodes.rotations, nodes.places, nodes.turns, nodes.slides,
            nodes.body_rotations, nodes.body_places, nodes.masses, nodes.inertias,
        )
    )  # fmt: skip
    poses = {-1: (np.eye(3), np.zeros(3))}
    columns: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for node, parent in enumerate(structure.parents):
        R, o = poses[parent]
        if node in structure.balls:
            turned, way, w, s = np.linalg.qr(draw.standard_normal((3, 3)))[0], r[node], np.eye(3), 0.0 * B[0]
        else:
            axis, by = structure.axes.index(node), draw.uniform(-1.0, 1.0)
            w, s = turns[axis][:, None], slides[axis][:, None]
            turned, way = _turned(turns[axis], 2.0 * by), r[node] + by * B[node] @ slides[axis]
        poses[node] = R, o = R @ B[node] @ turned, o + R @ way
        columns += [(R @ w[:, k], R @ s[:, k], o) for k in range(w.shape[1])]
    turn, slide, points = (np.array([column[k] for column in columns]) for k in range(3))
    matrix, scale = np.zeros((len(columns), len(columns))), np.zeros(len(columns))
    for body, carrier in enumerate(structure.carriers):
        R, o = poses[carrier]
        moves, A = structure.moves[:, body, None], R @ own[body]
        arms = o + R @ centres[body] - points
        velocity = moves * (slide + np.cross(turn, arms))
        spin = moves * turn @ A
        matrix += masses[body] * velocity @ velocity.T + spin @ inertias[body] @ spin.T
        reach = np.sum(slide**2, axis=1) + np.sum(turn**2, axis=1) * np.sum(arms**2, axis=1)
        scale += moves[:, 0] * (masses[body] * reach + np.trace(inertias[body]))
    return matrix, scale


def _turned(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation about a unit vector; none where the axis is zero."""
    skew = np.cross(axis, np.eye(3)).T
    return np.eye(3) + np.sin(angle) * skew + (1.0 - np.cos(angle)) * skew @ skew
