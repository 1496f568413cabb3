"""Which bodies and joints move most in a mode."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.model import AbstractSystem
from poinsot.model._tree_motion import joint_rates

from ._displacements import Point

MENTIONED = 0.2
"""Share of the kinetic energy from which a body is mentioned beside the one with most."""


def mode_labels(
    system: AbstractSystem, point: Point, shapes: np.ndarray, twists: np.ndarray
) -> tuple[str, ...]:
    """Names of the bodies with most kinetic energy, and of the joint that moves most, of each mode.

    Args:
        system: the bodies.
        point: where they rest.
        shapes: (mode, body, 6), velocities and angular velocities of all bodies.
        twists: (mode, n), those of the live ones in one vector; both may be complex.
    """
    bodies = [most(system.names, row) for row in kinetic_shares(system, shapes)]
    names, rates = joint_motions(system, point, twists)
    if not names:
        return tuple(bodies)
    joints = [names[int(place)] for place in np.argmax(rates, axis=1)]
    return tuple(f"{body}; joint {joint}" for body, joint in zip(bodies, joints, strict=True))


def joint_motions(
    system: AbstractSystem, point: Point, twists: np.ndarray
) -> tuple[list[str], Float[np.ndarray, "mode joint"]]:
    """Names of the joints that have coordinates, and the sizes of their rates in some motions."""
    linkage = system.linkage
    names = [] if linkage is None else [joint.name for joint in linkage.joints if joint.freedoms]
    if not names:
        return [], np.zeros((len(twists), 0))
    parts = [_rates(system, point, jnp.asarray(part)) for part in (np.real(twists), np.imag(twists))]
    return names, np.hypot(*(np.asarray(part) for part in parts))


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


@eqx.filter_jit
def _rates(system: AbstractSystem, point: Point, twists: Array) -> Float[Array, "mode joint"]:
    """Size of the rates of all joints that have coordinates."""
    linkage = system.linkage
    assert linkage is not None
    places = [k for k, joint in enumerate(linkage.joints) if joint.freedoms]

    def of(twist: Array) -> Array:
        own = [joint_rates(linkage, k, point.t, point.x, point.rotations, twist) for k in places]
        return jnp.stack([jnp.sqrt(jnp.sum(rate * rate)) for rate in own])

    return jax.vmap(of)(twists)
