"""A cone on its tip in regular precession: the axis keeps its angle and goes round evenly."""

import math
from functools import partial

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from poinsot.core import State, checked
from poinsot.library._euler_motion import euler_motion
from poinsot.library._heavy_top import top_on_point
from poinsot.library._parameters import positive, require, single
from poinsot.model import System


def precessing_motion(t, params) -> State:
    """The exact motion at time or times `t`: two angles grow evenly, the third stays."""
    t = jnp.asarray(t, dtype=float)
    even, still = jnp.ones_like(t), jnp.zeros_like(t)
    angles = (params["precession"] * t, params["theta"] * even, params["rotation"] * t)
    rates = (params["precession"] * even, still, params["rotation"] * even)
    return euler_motion(angles, rates, params["length"])


def rotation_rate(transverse: Array, axial: Array, weight: Array, theta: Array, precession: Array) -> Array:
    r"""The rate $\dot\psi$ about its own axis at which a symmetric top precesses evenly at $\dot\phi$.

    $$ \dot\psi = \frac{m g l}{J_3 \dot\phi} + \frac{J_1 - J_3}{J_3}\,\dot\phi \cos\theta $$
    """
    return weight / (axial * precession) + (transverse - axial) / axial * precession * jnp.cos(theta)


@checked
def regular_precession(
    height: ArrayLike = 0.1,
    radius: ArrayLike = 0.05,
    density: ArrayLike = 2700.0,
    gravity: ArrayLike = 9.81,
    theta: ArrayLike = math.pi / 3,
    precession: ArrayLike = 10.0,
) -> System:
    r"""A solid cone on its tip whose axis goes round the vertical at a constant angle.

    $$ m = \tfrac13 \rho \pi r^2 h, \quad l = \tfrac34 h, \qquad
       J_1 = J_2 = \tfrac35 m \left(\tfrac14 r^2 + h^2\right), \quad J_3 = \tfrac{3}{10} m r^2 $$

    It starts at $R(0) = R_x(\theta)$, $\Omega(0) = (0, \dot\phi \sin\theta, \dot\psi + \dot\phi\cos\theta)$,
    and moves with $\theta$, $\dot\phi$ and $\dot\psi$ constant when

    $$ \dot\psi = \frac{m g l}{J_3 \dot\phi} + \frac{J_1 - J_3}{J_3}\,\dot\phi \cos\theta , $$

    here 135.6 rad/s. The data are those of Xu and Zhong (2016), section 5.2, which prints $J_2$ for $J_3$ in
    that condition (it would give 11.5 rad/s and no regular precession) and loses the radius from the mass.

    Args:
        height: $h$ of the cone.
        radius: $r$ of its base.
        density: $\rho$.
        gravity: $g$.
        theta: the angle between axis and vertical.
        precession: $\dot\phi$, not zero.
    """
    cone = single(height=height, radius=radius, density=density, gravity=gravity)
    positive(**cone)
    h, r, g = cone["height"], cone["radius"], cone["gravity"]
    chosen = single(theta=theta, precession=precession)
    require(chosen["precession"] != 0.0, "precession = 0; an axis that leans and does not turn falls")
    m, arm = cone["density"] * math.pi * r * r * h / 3.0, 0.75 * h
    transverse, axial = 0.6 * m * (0.25 * r * r + h * h), 0.3 * m * r * r
    params = {
        "theta": chosen["theta"],
        "precession": chosen["precession"],
        "rotation": rotation_rate(transverse, axial, m * g * arm, chosen["theta"], chosen["precession"]),
        "length": arm,
    }
    exact = partial(precessing_motion, params=params)
    moments = jnp.stack([transverse, transverse, axial])
    system = top_on_point("regular precession", moments, mass=m, length=arm, gravity=g)
    return system.recommending(exact(0.0), 1e-3, exact)
