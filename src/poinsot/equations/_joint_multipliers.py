"""Joints in forms that leave their multipliers to the integrator."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Array, Float, Int

from poinsot.core import Blocks
from poinsot.equations._bodies import Bodies, Flat
from poinsot.model import AbstractSystem, redundant_diagonal

FEW = 8
"""Bodies up to which one dense matrix is as quick as blocks."""
MANY = 30
"""Bodies from which a dense matrix of all unknowns is refused."""

Multipliers = Float[Array, " k"]


def joint_slack(bodies: Bodies, t, q: Flat) -> Multipliers | None:
    r"""The diagonal of $G M^{-1} G^T$ where joints may be redundant, else None: those of a loop."""
    return None if bodies.joints is None else redundant_diagonal(bodies.joints, t, *bodies.pose(q))


def joint_blocks(bodies: Bodies, places: Mapping[str, Int[np.ndarray, " n"]], unknowns: str) -> Blocks | None:
    """Unknowns of many bodies in the row of their joints; a joint's multipliers at the later of its bodies.

    Everything up to a place then is a system by itself, with all conditions on its bodies, so that its
    equations can be eliminated in that order. None for few bodies, and where they are in no row.

    Args:
        bodies: those that the unknowns belong to.
        places: bodies of the positions, "q", and of the multipliers of internal constraints, "g".
        unknowns: kinds of unknowns, one after the other.
    """
    system, row = bodies.system, bodies.system.joint_row
    if row is None or system.linkage is None or system.count <= FEW:
        return None
    conditions = list(zip(system.linkage.conditions, system.linkage.held_together, strict=True))

    def along(row: Int[np.ndarray, " bodies"]) -> Blocks:
        of_joints = [np.full(one.rows, np.max(row[list(held)])) for one, held in conditions]
        parts = {kind: row[part] for kind, part in places.items()}
        parts["g"] = np.concatenate([parts["g"], *of_joints])
        found = np.concatenate([parts[kind] for kind in unknowns])
        return Blocks.of(found, coupled=True, looped=bodies.looped)

    # From one end of a row to the other, or back: a chain on the ground has fewer joints to a body one way.
    return min(along(row), along(np.max(row) - row), key=lambda blocks: blocks.size)


LINEAR = "LieRattle() or a composition of it in the form 'group'"
"""Methods whose cost grows with the number of bodies, whatever the joints."""


def joint_refusal_of_many(system: AbstractSystem, instead: str = LINEAR) -> str | None:
    """Why a dense matrix of all unknowns is too large, or None if it is not.

    Args:
        system: whose equations they are.
        instead: what to take, for the message.
    """
    count = system.count
    if system.linkage is None or count <= MANY:
        return None
    return (
        f"solves for all unknowns of {count} bodies with joints at once, in a dense matrix; beyond {MANY} "
        f"bodies take {instead}"
    )
