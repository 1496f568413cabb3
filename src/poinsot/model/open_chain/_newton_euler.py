"""Forces that a motion takes, by the recursion of Newton and Euler in the frames of the nodes."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ._dynamics import Wrenches
from ._kinematics import Posture, V, node_twists
from ._nodes import Nodes
from ._spatial import Inertia, Spatial, applied, bracket, brought, dot, halves, handed, joined
from ._structure import Structure, to_nodes
from ._sweeps import each, inward, outward, picked


def own_forces(nodes: Nodes, posture: Posture, v: V, a: V) -> Float[Array, "node 6"]:
    r"""Wrenches that a motion takes of each node, about its point and in its frame.

    $$ f = I\,\dot V + V\times^* I V, \qquad
       \dot V = \dot V_{\rm above} + S\dot v + V_{\rm above}\times S v $$
    """
    structure = nodes.structure
    own = node_twists(structure, posture.own_columns, v)
    twists = _outward_sum(structure, posture, own)
    carried = each(structure.parents, lambda twist, own: bracket(twist - own, own), twists, own)
    rates = _outward_sum(structure, posture, node_twists(structure, posture.own_columns, a) + carried)
    return each(structure.parents, _force, nodes.carried, twists, rates)


def _force(inertia: Inertia, twist: Spatial, rate: Spatial) -> Spatial:
    r"""The wrench $I\,\dot V + V\times^* I V$ of a motion."""
    turn, velocity = halves(twist)
    moment, force = halves(inertia(twist))
    turning = jnp.cross(turn, moment) + jnp.cross(velocity, force)
    return inertia(rate) + joined(turning, jnp.cross(turn, force))


def _outward_sum(structure: Structure, posture: Posture, own: Float[Array, "node 6"]) -> Spatial:
    """Twist of each node and of all that carry it, in its frame."""

    def step(before, given):
        twist, turn, way = given
        return brought(before, turn, way) + twist

    return outward(step, structure.parents, jnp.zeros(6), (own, posture.turns, posture.ways))


def given_forces(nodes: Nodes, posture: Posture, wrenches: Wrenches) -> Float[Array, "node 6"]:
    """Wrenches on bodies, along space axes about mass centres, in the frames of the nodes that carry them."""
    carriers = np.array(nodes.structure.carriers, dtype=int)

    def seen(rotation, place, wrench):
        back = jnp.swapaxes(rotation, -1, -2)
        moment, force = (applied(back, half) for half in halves(wrench))
        return joined(moment + jnp.cross(place, force), force)

    found = each(
        nodes.structure.parents, seen, picked(posture.rotations, carriers), nodes.body_places, wrenches
    )
    return to_nodes(nodes.structure, found)


def along_columns(structure: Structure, posture: Posture, wrenches: Float[Array, "node 6"]) -> V:
    """Generalised forces of wrenches on the nodes, given in their frames."""

    def step(total, given):
        return (), handed(total, *given)

    _, totals = inward(step, structure.parents, wrenches, (posture.turns, posture.ways))
    along = each(structure.above, dot, posture.own_columns, picked(totals, structure.node_of))
    return picked(along, structure.column_of)
