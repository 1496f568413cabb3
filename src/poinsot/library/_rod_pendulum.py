"""Rods on ball joints, one below the other."""

import jax.numpy as jnp
import numpy as np

from poinsot.core import InputError
from poinsot.model import RigidBody, System, joints, potentials

RADIUS = 0.05
"""Radius of a rod of unit length."""


def rod_pendulum(links: int = 3) -> System:
    r"""A chain of rods that hangs from a ball joint on the ground, each rod on the one before.

    Rods of one metre and one kilogram with a radius of 5 cm,
    $J = (r^2/2, (1 + 3 r^2)/12, (1 + 3 r^2)/12)$. They start stretched along x and turn about the ground
    joint with $\omega = (0.3, 0, 0.1)$/s, in gravity along -z.

    Args:
        links: number of rods.
    """
    if not isinstance(links, (int, np.integer)) or links < 1:
        raise InputError(f"links = {links!r}; it must be the number of rods, 1 or more")
    moments = (RADIUS**2 / 2.0, (1.0 + 3.0 * RADIUS**2) / 12.0, (1.0 + 3.0 * RADIUS**2) / 12.0)
    names = [f"rod{i}" for i in range(links)]
    before = ["ground", *names[:-1]]
    system = System(
        [RigidBody(1.0, moments, name=name) for name in names],
        joints=[
            joints.Spherical(
                upper, lower, at_first=(0.5 if k else 0.0, 0, 0), at_second=(-0.5, 0, 0), name=f"joint{k}"
            )
            for k, (upper, lower) in enumerate(zip(before, names, strict=True))
        ],
        potentials=[potentials.UniformGravity((0.0, 0.0, -9.81))],
        name="rod pendulum",
    )
    places = jnp.stack([jnp.arange(links, dtype=float) + 0.5, jnp.zeros(links), jnp.zeros(links)], axis=1)
    spin = jnp.array([0.3, 0.0, 0.1])
    start = system.state(
        position=places,
        velocity=jnp.cross(spin[None], places),
        angular_velocity=jnp.broadcast_to(spin, (links, 3)),
    )
    return system.recommending(start, 1e-3)
