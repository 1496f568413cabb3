"""States of mechanisms from their kinematics: poses of all bodies as a function of a few coordinates."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import State
from poinsot.model import System
from poinsot.rotation import about_z, vee

Poses = tuple[Float[Array, "body 3"], Float[Array, "body 3 3"]]


def moving(system: System, poses: Callable[[Array], Poses], q: Array, rate: Array) -> State:
    """The state in which the coordinates of a mechanism have these values and rates.

    Args:
        system: the mechanism.
        poses: positions and rotations of its bodies as a function of the coordinates.
        q: values of the coordinates.
        rate: their rates.
    """
    (x, R), (v, turning) = jax.jvp(poses, (q,), (rate,))
    spin = vee(jnp.swapaxes(R, 1, 2) @ turning)
    return system.state(position=x, rotation=R, velocity=v, angular_velocity=spin)


def planar(places: Float[Array, "body 2"], angles: Float[Array, " body"]) -> Poses:
    """Poses of bodies in the plane z = 0, turned about z."""
    return jnp.pad(places, ((0, 0), (0, 1))), about_z(angles)


def bars(ends: list[tuple[Float[Array, "2"], Float[Array, "2"]]]) -> Poses:
    """Poses of bars in the plane z = 0 from their two ends, the x axis of each along it."""
    begin, end = (jnp.stack(points) for points in zip(*ends, strict=True))
    arms = end - begin
    return planar(0.5 * (begin + end), jnp.arctan2(arms[:, 1], arms[:, 0]))
