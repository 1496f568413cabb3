"""Which bodies and joints move most in a mode."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.kernels import jitted
from poinsot.model import AbstractSystem
from poinsot.model._linkage import Linkage
from poinsot.model._tree_motion import joint_motion, joint_rates

from ._displacements import Point

MENTIONED = 0.2
"""Share of the kinetic energy from which a body is mentioned beside the one with most."""

EQUAL = 1e-3
"""Joints whose speeds differ by less, relative, move alike: the first of them is named."""


def mode_labels(
    system: AbstractSystem, point: Point, shapes: np.ndarray, twists: np.ndarray
) -> tuple[str, ...]:
    """Names of the bodies with most kinetic energy, and of the joint that moves most, of each mode.

    Turns of joints compare with ways by the mean distance at which the bodies are from their joints.

    Args:
        system: the bodies.
        point: where they rest.
        shapes: (mode, body, 6), velocities and angular velocities of all bodies.
        twists: (mode, n), those of the live ones in one vector; both may be complex.
    """
    bodies = [most(system.names, row) for row in kinetic_shares(system, shapes)]
    motions = joint_motions(system, point, twists)
    if not motions.names:
        return tuple(bodies)
    joints = [motions.names[place] for place in motions.fastest]
    return tuple(f"{body}; joint {joint}" for body, joint in zip(bodies, joints, strict=True))


class JointMotions(NamedTuple):
    """How the joints that have coordinates move, in some motions of the bodies."""

    names: list[str]
    rates: Float[np.ndarray, "mode joint"]
    """Sizes of the rates of their coordinates."""
    speeds: Float[np.ndarray, "mode joint"]
    """Of their bodies against each other: spins times a length of the whole system, and velocities."""

    @property
    def fastest(self) -> list[int]:
        """Of each motion the joint with the largest speed; of equal ones the first."""
        largest = np.max(self.speeds, axis=1, keepdims=True)
        return [int(place) for place in np.argmax(self.speeds >= (1.0 - EQUAL) * largest, axis=1)]


def joint_motions(system: AbstractSystem, point: Point, twists: np.ndarray) -> JointMotions:
    """How the joints that have coordinates move; none where there are no joints."""
    linkage = system.linkage
    names = [] if linkage is None else [joint.name for joint in linkage.joints if joint.freedoms]
    if not names or not len(twists):
        return JointMotions(names, *np.zeros((2, len(twists), len(names))))
    parts = [_sizes(system, point, jnp.asarray(part)) for part in (np.real(twists), np.imag(twists))]
    rates, speeds = np.hypot(*(np.asarray(part) for part in parts))
    return JointMotions(names, rates, speeds)


def kinetic_shares(system: AbstractSystem, shapes: np.ndarray) -> Float[np.ndarray, "mode body"]:
    """Share of each body in the kinetic energy of each mode."""
    v, w = shapes[..., :3], shapes[..., 3:]
    masses, inertias = np.asarray(system.body_masses), np.asarray(system.body_inertias)
    twice = masses * np.sum(np.abs(v) ** 2, axis=-1)
    twice = twice + np.real(np.einsum("mbi,bij,mbj->mb", np.conj(w), inertias, w))
    return twice / np.maximum(np.sum(twice, axis=1, keepdims=True), np.finfo(float).tiny)


def most(names: Sequence[str], shares: np.ndarray) -> str:
    """The body with the largest share, and the next if it has much of it."""
    order = np.argsort(-shares)[:2]
    kept = [body for place, body in enumerate(order) if place == 0 or shares[body] >= MENTIONED]
    return ", ".join(f"{names[int(body)]} {100.0 * shares[body]:.0f} %" for body in kept)


@jitted
def _sizes(system: AbstractSystem, point: Point, twists: Array) -> Float[Array, "2 mode joint"]:
    """Rates and speeds of all joints that have coordinates, less the motion of what is moved."""
    linkage = system.linkage
    assert linkage is not None
    places = [k for k, joint in enumerate(linkage.joints) if joint.freedoms]
    here = point.t, point.x, point.rotations
    reach = _reach(system, linkage, places, point)

    def of(twist: Array) -> list[tuple[Array, Array]]:
        pairs = []
        for k in places:
            motion = joint_motion(linkage, k, *here, twist)
            speeds = jnp.concatenate([motion.velocity, reach * motion.spin])
            pairs.append((joint_rates(linkage, k, *here, twist), speeds))
        return pairs

    driven = of(jnp.zeros_like(twists[0]))

    def sizes(twist: Array) -> Array:
        changes = jax.tree.map(jnp.subtract, of(twist), driven)
        return jnp.asarray([[jnp.sqrt(jnp.sum(part * part)) for part in pair] for pair in changes]).T

    return jnp.moveaxis(jax.vmap(sizes)(twists), 1, 0)


def _reach(system: AbstractSystem, linkage: Linkage, places: list[int], point: Point) -> Float[Array, ""]:
    r"""How far the mass of bodies is from their joints, root mean square, $|c - p|^2 + \tr J / 2m$."""
    here = point.t, point.x, point.rotations
    centres, squares = system.poses(*here)[0], []
    for grip in (grip for k in places for grip in linkage.grips[k] if grip.live):
        arm = centres[grip.body] - grip.at(linkage.placement, *here).place
        spread = jnp.trace(system.body_inertias[grip.body]) / (2.0 * system.body_masses[grip.body])
        squares.append(arm @ arm + spread)
    return jnp.sqrt(jnp.mean(jnp.stack(squares)))
