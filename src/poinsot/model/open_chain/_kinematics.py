"""Where everything is at joint coordinates, and how it moves at their rates."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.rotation import hat, quat_rate, sincos, to_matrix

from ._nodes import Nodes
from ._spatial import Spatial, applied, bracket, halves, joined, product, twist_at
from ._structure import Structure
from ._sweeps import each, outward, picked

Q = Float[Array, " nq"]
V = Float[Array, " nv"]


class Posture(NamedTuple):
    """Nodes and bodies of a tree in space, and each node in the frame of the one above it."""

    turns: Float[Array, "node 3 3"]
    """From the frame of a node to that of the node above."""
    ways: Float[Array, "node 3"]
    """From the origin of the frame above to its own, along the axes of the frame above."""
    own_columns: Float[Array, "n 6"]
    """The twist of each rate alone, in the frame of its node."""
    rotations: Float[Array, "node 3 3"]
    points: Float[Array, "node 3"]
    """Origins of the frames of the nodes."""
    arms: Float[Array, "node 3 3"]
    """From the point of the node above, or from the origin, to its own; skew matrices."""
    columns: Float[Array, "n 6"]
    """The twist of each rate alone, at the point of its node, in the order of the nodes."""
    x: Float[Array, "body 3"]
    """Mass centres."""
    R: Float[Array, "body 3 3"]
    """Rotations of the bodies."""
    levers: Float[Array, "body 3 3"]
    """From the points of their nodes to the mass centres; skew matrices."""


def posture(nodes: Nodes, q: Q) -> Posture:
    r"""Frames of all nodes and bodies, by the recursion of `Nodes` outwards.

    A quaternion counts by its direction alone, $R(p)/|p|^2$.
    """
    structure = nodes.structure
    own, slides, axes = _relative(nodes, q)

    def moved(place, turn, own, slide):
        return product(turn, own), place + applied(turn, slide)

    rotations, ways = each(structure.parents, moved, nodes.places, nodes.rotations, own, slides)

    def step(before, given):
        rotation, point, _ = before
        turn, way = given
        arm = applied(rotation, way)
        return product(rotation, turn), point + arm, arm

    ground = jnp.eye(3), jnp.zeros(3), jnp.zeros(3)
    R, points, arms = outward(step, structure.parents, ground, (rotations, ways))
    carriers = np.array(structure.carriers, dtype=int)
    held = bool(np.any(carriers < 0))
    frames = picked(jnp.concatenate([R, jnp.eye(3)[None]]) if held else R, carriers)
    bases = picked(jnp.concatenate([points, jnp.zeros((1, 3))]) if held else points, carriers)

    def placed(frame, base, place, turn):
        lever = applied(frame, place)
        return base + lever, product(frame, turn), hat(lever)

    x, body_rotations, levers = each(
        structure.parents, placed, frames, bases, nodes.body_places, nodes.body_rotations
    )
    own_columns = _columns(nodes, axes)
    return Posture(
        rotations,
        ways,
        own_columns,
        R,
        points,
        each(structure.parents, hat, arms),
        _turned(structure, R, own_columns),
        x,
        body_rotations,
        levers,
    )


def _relative(nodes: Nodes, q: Q) -> tuple[Array, Array, Float[Array, "ball 3 3"]]:
    """Turn and way of each node in its frame before them, and the directions of the turns of balls after."""
    structure = nodes.structure
    along = picked(q, [structure.q_at[k] for k in structure.axes])
    turned = each(structure.parents, _turn, along, nodes.turns)
    quats = q[quaternion_places(structure)]
    length = jnp.sum(quats * quats, axis=1)
    balls = to_matrix(quats) / length[:, None, None]
    backward = np.array(structure.backward, dtype=bool)[:, None, None]
    own = jnp.where(backward, jnp.swapaxes(balls, 1, 2), balls)
    # Turns of a ball that is passed from its second body are about the directions of the inner body.
    axes = jnp.where(backward, -balls, jnp.eye(3)[None])
    slides = each(structure.parents, lambda way, slide: way[..., None] * slide, along, nodes.slides)
    return (
        _arranged(structure, turned, own),
        _arranged(structure, slides, jnp.zeros((len(structure.balls), 3))),
        axes,
    )


def _turn(angle: Float[Array, "*batch"], axis: Float[Array, "*batch 3"]) -> Float[Array, "*batch 3 3"]:
    r"""The rotation $1 + \sin\varphi\,\hat n + (1 - \cos\varphi)\,\hat n^2$; none about a zero axis."""
    sine, cosine = sincos(angle)
    skew = hat(axis)
    turned = jnp.broadcast_to(jnp.eye(3), skew.shape) + sine[..., None, None] * skew
    return turned + (1.0 - cosine)[..., None, None] * product(skew, skew)


def _columns(nodes: Nodes, axes: Float[Array, "ball 3 3"]) -> Spatial:
    """Twists of the rates in the frames of their nodes, in the order of the nodes."""
    structure = nodes.structure
    if not structure.balls:
        return nodes.columns
    turns = jnp.swapaxes(axes, 1, 2).reshape(-1, 3)
    places = np.concatenate([structure.axes, np.repeat(structure.balls, 3)])
    both = jnp.concatenate([nodes.columns, joined(turns, jnp.zeros_like(turns))])
    return both[np.argsort(places, kind="stable")]


def _turned(structure: Structure, R: Float[Array, "node 3 3"], columns: Spatial) -> Spatial:
    """Twists in the frames of their nodes along space axes."""

    def turned(frame, column):
        turn, slide = halves(column)
        return joined(applied(frame, turn), applied(frame, slide))

    return each(structure.above, turned, picked(R, structure.node_of), columns)


def quaternion_places(structure: Structure) -> np.ndarray:
    """Places of the quaternions in the coordinates."""
    starts = np.array([structure.q_at[k] for k in structure.balls], dtype=int)
    return starts[:, None] + np.arange(4)[None]


def _arranged(structure: Structure, axes: Array, balls: Array) -> Array:
    """Entries of axes and of balls in the order of the nodes."""
    if not structure.balls:
        return axes
    order = np.argsort(np.array(structure.axes + structure.balls, dtype=int))
    return jnp.concatenate([axes, balls])[order]


def node_twists(structure: Structure, columns: Spatial, rates: V) -> Float[Array, "node 6"]:
    """What each node adds to the twist at its point."""
    parts = each(
        structure.above,
        lambda rate, column: rate[..., None] * column,
        picked(rates, structure.rate_of),
        columns,
    )
    if not structure.balls:
        return parts
    return jnp.zeros((structure.count, 6)).at[structure.node_of].add(parts)


class Movement(NamedTuple):
    """Twists of all nodes at their points."""

    before: Float[Array, "node 6"]
    """Without the node's own motion: that of the body it hangs on."""
    own: Float[Array, "node 6"]
    """Its own part."""

    @property
    def after(self) -> Float[Array, "node 6"]:
        """Of what it carries."""
        return self.before + self.own


def movement(structure: Structure, posture: Posture, v: V) -> Movement:
    """Twists at rates, by a sum outwards."""
    own = node_twists(structure, posture.columns, v)
    return Movement(carried_sum(structure, posture, own) - own, own)


def carried_sum(structure: Structure, posture: Posture, own: Float[Array, "node 6"]) -> Spatial:
    """Sum of the twists of a node and of all that carry it, at its point."""

    def step(before, given):
        twist, arm = given
        return twist_at(before, arm) + twist

    return outward(step, structure.parents, jnp.zeros(6), (own, posture.arms))


def accelerations(structure: Structure, posture: Posture, moved: Movement, a: V) -> Spatial:
    r"""Rates of the twists of all nodes, as seen at a point fixed in space.

    $$ \dot V = \dot V_{\rm parent} + S \dot v + V_{\rm parent}\times S v $$
    """
    own = node_twists(structure, posture.columns, a) + bracket(moved.before, moved.own)
    return carried_sum(structure, posture, own)


def of_bodies(structure: Structure, twists: Float[Array, "node 6"]) -> Float[Array, "body 6"]:
    """The twist of the node of each body; zero for one on the ground."""
    carriers = np.array(structure.carriers, dtype=int)
    return jnp.concatenate([twists, jnp.zeros((1, 6))])[carriers]


def coordinate_rates(structure: Structure, q: Q, v: V) -> Q:
    r"""Rates $\dot q$ of the coordinates: $v$ itself, but $\dot p = p\,\Omega/2$ for a quaternion."""
    places, rate_places = axis_places(structure)
    if not structure.balls:
        return picked(v, rate_places[np.argsort(places)])
    rates = jnp.zeros(structure.q_size).at[places].set(v[rate_places])
    quats = quaternion_places(structure)
    return rates.at[quats].set(quat_rate(q[quats], v[ball_rates(structure)]))


def axis_places(structure: Structure) -> tuple[np.ndarray, np.ndarray]:
    """Places of the single coordinates in $q$ and in $v$."""
    places = [[at[k] for k in structure.axes] for at in (structure.q_at, structure.v_at)]
    return np.array(places[0], dtype=int), np.array(places[1], dtype=int)


def ball_rates(structure: Structure) -> np.ndarray:
    """Places of the rates of balls."""
    starts = np.array([structure.v_at[k] for k in structure.balls], dtype=int)
    return starts[:, None] + np.arange(3)[None]
