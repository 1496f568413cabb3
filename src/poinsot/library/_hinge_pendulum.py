"""Rods on hinges, one below the other."""

import jax.numpy as jnp
from jax.typing import ArrayLike

from poinsot.core import checked
from poinsot.library._parameters import Count, single
from poinsot.library._rods import rods
from poinsot.model import System, joints


@checked
def hinge_pendulum(links: Count = 3, rate: ArrayLike = 0.0) -> System:
    r"""A chain of rods on parallel hinges that swings in a plane: the multiple pendulum.

    Rods of one metre and one kilogram with a radius of 5 cm,
    $J = (r^2/2, (1 + 3 r^2)/12, (1 + 3 r^2)/12)$, hinged along z, in gravity along -y. They start stretched
    along x. With angles $\vartheta_i$ of the rods from x and $n_{ij} = n - \max(i, j)$ rods below both,

    $$ \sum_j \bigl(n_{ij} + \tfrac12 + (J_3 - \tfrac14)\,\delta_{ij}\bigr)
       \bigl(\cos(\vartheta_i - \vartheta_j)\,\ddot\vartheta_j
       + \sin(\vartheta_i - \vartheta_j)\,\dot\vartheta_j^2\bigr)
       = -g\,(n - i + \tfrac12)\cos\vartheta_i. $$

    Args:
        links: number of rods.
        rate: angular velocity of all rods at the start.
    """
    spin = single(rate=rate)["rate"] * jnp.array([0.0, 0.0, 1.0])
    return rods(links, joints.Revolute, (0.0, -9.81, 0.0), spin, "hinge pendulum")
