"""Forces of a motion and motions of forces, along a tree: all by recursions, O(n)."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ._kinematics import Movement, Posture, V, of_bodies
from ._nodes import Nodes
from ._spatial import (
    Spatial,
    applied,
    dot,
    halves,
    inertia_at,
    inertia_from,
    joined,
    product,
    twist_at,
    wrench_from,
)
from ._structure import Structure, to_nodes
from ._sweeps import inward

Wrenches = Float[Array, "body 6"]
"""Moments about the mass centres and forces of all bodies, along space axes."""


def space_inertias(nodes: Nodes, posture: Posture) -> Float[Array, "body 3 3"]:
    """Inertia tensors about the mass centres, along space axes."""
    return product(product(posture.R, nodes.inertias), jnp.swapaxes(posture.R, 1, 2))


def pulled(structure: Structure, posture: Posture, wrenches: Wrenches) -> V:
    """Generalised forces of wrenches on the bodies: their power at each rate."""
    loads = to_nodes(structure, wrench_from(wrenches, posture.levers))
    totals = _summed(structure, posture, loads)
    return dot(posture.columns, totals[structure.node_of])[structure.column_of]


def _summed(structure: Structure, posture: Posture, wrenches: Float[Array, "node 6"]) -> Spatial:
    """Sum of the wrenches on a node and on all that it carries, at its point."""

    def step(total, arm):
        return (), wrench_from(total, arm)

    return inward(step, structure.parents, wrenches, posture.arms)[1]


def momenta(nodes: Nodes, posture: Posture, moved: Movement) -> Wrenches:
    """Angular momenta about the mass centres and linear momenta of all bodies, along space axes."""
    turn, velocity = halves(twist_at(of_bodies(nodes.structure, moved.after), posture.levers))
    return joined(applied(space_inertias(nodes, posture), turn), nodes.masses[:, None] * velocity)


def kinetic_energy(nodes: Nodes, posture: Posture, moved: Movement) -> Array:
    """Half the sum of velocities times momenta."""
    twists = twist_at(of_bodies(nodes.structure, moved.after), posture.levers)
    return 0.5 * jnp.sum(twists * momenta(nodes, posture, moved))


def kinetic_slope(nodes: Nodes, posture: Posture, moved: Movement) -> V:
    r"""Derivative of the kinetic energy along each rate at constant rates.

    $$ \delta_a K = (V\times S_a)\cdot h_a $$

    with $h_a$ the momentum of all that the node carries, and $V$ the twist of what carries the axis $S_a$:
    the inner body, but for the turns of a ball that is passed from its second body.
    """
    structure = nodes.structure
    totals = _summed(
        structure, posture, to_nodes(structure, wrench_from(momenta(nodes, posture, moved), posture.levers))
    )
    # The turns of such a ball are about directions of the inner body; those of others move with the outer.
    backward = np.zeros((structure.count, 1), dtype=bool)
    backward[list(structure.balls), 0] = structure.backward
    carrier = moved.before if not np.any(backward) else jnp.where(backward, moved.after, moved.before)
    turn, velocity = halves(carrier[structure.node_of])
    axis, slide = halves(posture.columns)
    moment, force = halves(totals[structure.node_of])
    carried = jnp.cross(turn, slide) + jnp.cross(velocity, axis)
    slope = jnp.sum(jnp.cross(turn, axis) * moment, axis=1) + jnp.sum(carried * force, axis=1)
    return slope[structure.column_of]


def node_inertias(nodes: Nodes, posture: Posture) -> Float[Array, "node 6 6"]:
    """Inertias of the bodies of each node about its point."""
    own = inertia_at(nodes.masses, space_inertias(nodes, posture), posture.levers)
    return to_nodes(nodes.structure, own)


def metric(nodes: Nodes, posture: Posture) -> Float[Array, "n n"]:
    r"""The metric tensor $a_{\alpha\beta}$ by composite bodies.

    $$ a_{\alpha\beta} = S_\alpha\cdot I^c_\beta S_\beta $$

    for $\alpha$ on the way to $\beta$, where $I^c_\beta$ is the inertia of all that $\beta$ moves.
    """
    structure = nodes.structure

    def step(total, arm):
        return (), inertia_from(total, arm)

    _, composite = inward(step, structure.parents, node_inertias(nodes, posture), posture.arms)
    nodes_of_columns = structure.node_of
    moment, force = halves(applied(composite[nodes_of_columns], posture.columns))
    turn, slide = halves(posture.columns)
    points = posture.points[nodes_of_columns]
    arm = points[None] - points[:, None]
    velocity = slide[:, None] + jnp.cross(turn[:, None], arm)
    pairs = jnp.sum(turn[:, None] * moment[None], axis=2) + jnp.sum(velocity * force[None], axis=2)
    upper = jnp.where(structure.path, pairs, 0.0)
    whole = jnp.where(structure.path, upper, upper.T)
    order = structure.column_of
    return whole[order][:, order]
