"""A heavy gyro top that is nearly symmetric: nutation and precession, not integrable."""

import math

import jax.numpy as jnp
from jax.typing import ArrayLike

from poinsot.core import checked
from poinsot.library._heavy_top import top_on_point
from poinsot.library._parameters import Vector, single
from poinsot.model import System
from poinsot.rotation import about_x


@checked
def gyro_top(
    inertia: Vector = (50.0, 42.0, 10.0),
    mgl: ArrayLike = 11.09 * 9.81,
    theta: ArrayLike = math.pi / 3,
    spin: ArrayLike = 20.0,
) -> System:
    r"""A slender top, a little unsymmetrical, spinning about its own axis: Lang (2010), Example A.

    It starts at $R(0) = R_x(\theta)$ with $\Omega(0) = (0, 0, \text{spin})$. Lang compares formulations and
    methods on it up to $t = 60$ s.

    Args:
        inertia: three principal moments about the fixed point, in kg m².
        mgl: weight times distance of the mass centre, $m l = 11.09$ kg m.
        theta: the angle between axis and vertical at the start.
        spin: angular velocity about the axis at the start, in 1/s.
    """
    given = single(theta=theta, spin=spin)
    system = top_on_point("gyro top", inertia, mgl)
    still = jnp.zeros_like(given["spin"])
    start = system.state(
        rotation=about_x(given["theta"]), angular_velocity=jnp.stack([still, still, given["spin"]])
    )
    return system.recommending(start, 0.01)
