"""Accelerations of forces by articulated bodies, in the frames of the nodes."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ._kinematics import Posture, V
from ._nodes import Nodes
from ._spatial import Inertia, brought, dot, handed
from ._structure import Structure
from ._sweeps import inward, outward, picked


class Articulation(NamedTuple):
    """Articulated inertias, factored: what turns forces into accelerations."""

    columns: Float[Array, "n 6"]
    turns: Float[Array, "n 3 3"]
    """From the frame of a column to that of the column above."""
    ways: Float[Array, "n 3"]
    """From the point of the column above to its own, along the axes of the frame above."""
    responses: Float[Array, "n 6"]
    """Wrenches that a unit acceleration of a column takes, with all further ones free."""
    yields: Float[Array, " n"]
    """Acceleration of a column at a unit force, with all further ones free."""


def articulated(nodes: Nodes, posture: Posture) -> Articulation:
    r"""Articulated inertias (Featherstone), one column after the other from the outermost inwards.

    $$ U = I S, \qquad D = S\cdot U, \qquad I_{\rm above} \mathrel{+}= I - U U^T / D $$
    """
    structure = nodes.structure
    turns, ways = _between_columns(structure, posture)

    def step(inertia, given):
        column, turn, way = given
        response = inertia(column)
        # One division for each column: they take several times as long as all else.
        yielding = 1.0 / dot(column, response)
        return (response, yielding), inertia.less(response, yielding).handed(turn, way)

    start = _at_last_columns(structure, nodes.carried)
    (responses, yields), _ = inward(step, structure.above, start, (posture.own_columns, turns, ways))
    return Articulation(posture.own_columns, turns, ways, responses, yields)


def _between_columns(structure: Structure, posture: Posture) -> tuple[Array, Array]:
    """Turns and ways from column to column; those of one ball have the same frame."""
    if not structure.balls:
        return posture.turns, posture.ways
    first = np.searchsorted(structure.node_of, structure.node_of) == np.arange(len(structure.node_of))
    turns = jnp.where(first[:, None, None], posture.turns[structure.node_of], jnp.eye(3)[None])
    return turns, jnp.where(first[:, None], posture.ways[structure.node_of], 0.0)


def _at_last_columns(structure: Structure, inertia: Inertia) -> Inertia:
    """Inertias of the nodes at the last of their columns."""
    if not structure.balls:
        return inertia
    last = np.searchsorted(structure.node_of, np.arange(structure.count), side="right") - 1
    return Inertia(*(jnp.zeros((len(structure.above), 3, 3)).at[last].set(part) for part in inertia))


def free_rates(structure: Structure, system: Articulation, forces: V) -> V:
    r"""Solve $M\,a = f$ by two recursions, inwards and outwards."""

    def gather(wrench, given):
        column, turn, way, response, yielding, force = given
        free = force - dot(column, wrench)
        return free, handed(wrench + response * (free * yielding), turn, way)

    given = (*system, picked(forces, structure.rate_of))
    free, _ = inward(gather, structure.above, jnp.zeros_like(system.columns), given)

    def spread(before, given):
        twist, _ = before
        column, turn, way, response, yielding, free = given
        carried = brought(twist, turn, way)
        rate = (free - dot(response, carried)) * yielding
        return carried + column * rate, rate

    ground = jnp.zeros(6), jnp.zeros(())
    _, rates = outward(spread, structure.above, ground, (*system, free))
    return picked(rates, structure.column_of)
