"""Chains of rods, one below the other."""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.model import RigidBody, System, joints, potentials

RADIUS = 0.05
"""Radius of a rod of unit length."""


def rods(
    links: int,
    joint: Callable[..., joints.AbstractJoint],
    gravity: tuple[float, float, float],
    spin: Float[Array, "3"],
    name: str,
) -> System:
    """Rods of one metre and one kilogram that start stretched along x and turn about the origin.

    Args:
        links: number of rods.
        joint: what holds each rod to the one before, and the first one to the ground.
        gravity: its acceleration.
        spin: angular velocity at the start.
        name: of the system.
    """
    across = (1.0 + 3.0 * RADIUS**2) / 12.0
    names = [f"rod{i}" for i in range(links)]
    before = ["ground", *names[:-1]]
    system = System(
        [RigidBody(1.0, (RADIUS**2 / 2.0, across, across), name=name) for name in names],
        joints=[
            joint(upper, lower, at_first=(0.5 if k else 0.0, 0, 0), at_second=(-0.5, 0, 0), name=f"joint{k}")
            for k, (upper, lower) in enumerate(zip(before, names, strict=True))
        ],
        potentials=[potentials.UniformGravity(gravity)],
        name=name,
    )
    places = jnp.stack([jnp.arange(links, dtype=float) + 0.5, jnp.zeros(links), jnp.zeros(links)], axis=1)
    start = system.state(
        position=places,
        velocity=jnp.cross(spin[None], places),
        angular_velocity=jnp.broadcast_to(spin, (links, 3)),
    )
    return system.recommending(start, 1e-3)
