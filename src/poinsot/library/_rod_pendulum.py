"""Rods on ball joints, one below the other."""

import jax.numpy as jnp

from poinsot.core import checked
from poinsot.library._parameters import Count
from poinsot.library._rods import rods
from poinsot.model import System, joints


@checked
def rod_pendulum(links: Count = 3) -> System:
    r"""A chain of rods that hangs from a ball joint on the ground, each rod on the one before.

    Rods of one metre and one kilogram with a radius of 5 cm,
    $J = (r^2/2, (1 + 3 r^2)/12, (1 + 3 r^2)/12)$. They start stretched along x and turn about the ground
    joint with $\omega = (0.3, 0, 0.1)$/s, in gravity along -z.

    Args:
        links: number of rods.
    """
    spin = jnp.array([0.3, 0.0, 0.1])
    return rods(links, joints.Spherical, (0.0, 0.0, -9.81), spin, "rod pendulum")
