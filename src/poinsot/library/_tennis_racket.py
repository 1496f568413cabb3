"""A free body spun about the axis of its middle moment, which turns over and over."""

import math
from functools import partial

import jax.numpy as jnp
from jax.typing import ArrayLike

from poinsot.core import checked
from poinsot.library._free_body import free_motion, thrown_body
from poinsot.library._parameters import Vector, moments, single
from poinsot.model import System
from poinsot.rotation import euler

ANGLES = (math.pi / 3, math.pi / 4, math.pi / 2)
"""3-1-3 Euler angles of the start, which keep the motion away from their singularities."""


@checked
def tennis_racket(
    inertia: Vector = (41.6, 11.6, 50.0), spin: ArrayLike = 50.0, disturbance: ArrayLike = 1e-3
) -> System:
    r"""A free body about its unstable axis, slightly disturbed: Lang (2010), Example B.

    $R(0) = R_z(\pi/3) R_x(\pi/4) R_z(\pi/2)$ and $\Omega(0) = (\omega, \varepsilon, \varepsilon)$, with
    $J_2 < J_1 < J_3$. For a long while it seems to rotate steadily; then the first axis snaps to its
    antipode, again and again. A disturbance grows like $e^{\lambda t}$ between turns,
    $\lambda = \omega \sqrt{(J_1 - J_2)(J_3 - J_1)/(J_2 J_3)} = 33$ per second with these data, and so does
    round-off: at $\varepsilon = 10^{-3}$ it has grown by $10^{11}$ at $t = 1.2$.

    Args:
        inertia: three principal moments, in kg m².
        spin: $\omega$ in 1/s.
        disturbance: $\varepsilon$ in 1/s.
    """
    given = single(spin=spin, disturbance=disturbance)
    system = thrown_body("tennis racket", inertia)
    Omega = jnp.stack([given["spin"], given["disturbance"], given["disturbance"]])
    start = system.state(rotation=euler("zxz", ANGLES), angular_velocity=Omega)
    exact = partial(free_motion, inertia=moments(inertia), start=start)
    return system.recommending(start, 1e-3, exact)
