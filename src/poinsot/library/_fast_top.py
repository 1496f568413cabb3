"""The fast symmetric top let go from rest: cusps, solved by elliptic functions."""

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
from poinsot.rotation import about_x
from poinsot.rotation._elliptic import arithmetic_geometric_means, elliptic_functions

NODES = 512
"""Points of the Fourier series over one nutation."""


def cuspidal_motion(t, params) -> State:
    r"""The exact motion of a symmetric top whose axis is let go at rest, at time or times `t`.

    With $u = \cos\theta$, $a = J_3\Omega_3/J_1$ and $\beta = 2mgl/J_1$ the nutation obeys
    $\dot u^2 = (u_0 - u)\,(\beta(1 - u^2) - a^2(u_0 - u))$. The roots $u_1 < u_0 < u_3$ of the right side
    give

    $$ u = u_0 - (u_0 - u_1)\,(1 - m)\,\frac{\mathrm{sn}^2 kt}{\mathrm{dn}^2 kt}, \qquad
       k = \tfrac12\sqrt{\beta(u_3 - u_1)}, \quad m = \frac{u_0 - u_1}{u_3 - u_1}, $$

    $$ \dot\phi = \frac{a\,(u_0 - u)}{1 - u^2}, \qquad \dot\psi = \Omega_3 - u\,\dot\phi . $$

    Both rates are even and have the period $2K/k$ of the nutation; their Fourier series, which converge
    geometrically, are integrated term by term. They do so slowly where the axis passes close by the
    vertical, as that of a slow top does; with $a^2 \ge \beta/10$ the terms are enough for round-off.
    """
    t = jnp.asarray(t, dtype=float)
    transverse, u0, spin = params["transverse_inertia"], jnp.cos(params["theta"]), params["spin"]
    a = params["axial_inertia"] * spin / transverse
    beta = 2.0 * params["mass"] * params["gravity"] * params["length"] / transverse
    root = jnp.sqrt(a**4 - 4.0 * beta * (a * a * u0 - beta))
    u1, u3 = 2.0 * (a * a * u0 - beta) / (a * a + root), (a * a + root) / (2.0 * beta)
    fall = beta * (1.0 - u1 * u1) / (a * a)
    m, k = fall / (u3 - u1), 0.5 * jnp.sqrt(beta * (u3 - u1))
    means = arithmetic_geometric_means(jnp.sqrt(1.0 - m))

    def nutation(time):
        sn_over_k, cn, dn = elliptic_functions(k * k, m * k * k, means, time)
        sd, height = k * sn_over_k / dn, fall * (1.0 - m)
        depth = height * sd * sd
        u = u0 - depth
        u_rate = -2.0 * k * height * sd * cn / (dn * dn)
        phi_rate = a * depth / (1.0 - u * u)
        return u, u_rate, phi_rate, spin - u * phi_rate

    period = jnp.pi / (k * means.limit)
    _, _, phi_rates, psi_rates = nutation(period / NODES * jnp.arange(NODES, dtype=float))
    phi, psi = (_integral(samples, period, t) for samples in (phi_rates, psi_rates))
    u, u_rate, phi_rate, psi_rate = nutation(t)
    theta_rate = -u_rate / jnp.sqrt(1.0 - u * u)
    return euler_motion((phi, jnp.arccos(u), psi), (phi_rate, theta_rate, psi_rate), params["length"])


def _integral(samples: Array, period: Array, t: Array) -> Array:
    """Integral from 0 to t of an even periodic function, from its values at equal steps over a period."""
    coefficients = jnp.fft.rfft(samples).real / NODES
    frequencies = 2.0 * jnp.pi / period * jnp.arange(1, NODES // 2, dtype=float)
    waves = jnp.sin(jnp.multiply.outer(t, frequencies))
    return coefficients[0] * t + waves @ (2.0 * coefficients[1 : NODES // 2] / frequencies)


@checked
def fast_top(
    mass: ArrayLike = 1.0,
    length: ArrayLike = 0.04,
    transverse_inertia: ArrayLike = 0.002,
    axial_inertia: ArrayLike = 0.0008,
    gravity: ArrayLike = 9.81,
    theta: ArrayLike = math.pi / 6,
    spin: ArrayLike = 40.0 * math.pi,
) -> System:
    r"""A fast symmetric top whose axis is let go at rest: it falls, and returns to rest in a cusp.

    The axis starts at the angle $\theta$ from the vertical, $R(0) = R_x(\theta)$, with
    $\Omega(0) = (0, 0, \Omega_3)$. The exact motion is known, by Jacobi's elliptic functions.

    The data are those of Xu and Zhong (2016), section 5.1, which prints the moments as $J_1$ and $J_2 = J_3$;
    the axis of symmetry is the third, $J_1 = J_2 = 0.002$ and $J_3 = 0.0008$: then the transverse moment
    exceeds $m l^2 = 0.0016$ by half of $J_3$, and the top is a thin disc on a rod.

    Args:
        mass: $m$.
        length: $l$, from the fixed point to the mass centre.
        transverse_inertia: $J_1 = J_2$ about the fixed point.
        axial_inertia: $J_3$.
        gravity: $g$.
        theta: start of the nutation angle, between 0 and $\pi$.
        spin: $\Omega_3$, fast enough for $(J_3 \Omega_3)^2 \ge J_1\,mgl/5$.
    """
    body = single(
        mass=mass,
        length=length,
        transverse_inertia=transverse_inertia,
        axial_inertia=axial_inertia,
        gravity=gravity,
    )
    positive(**body)
    params = body | single(theta=theta, spin=spin)
    tilted = (params["theta"] > 0.0) & (params["theta"] < math.pi)
    require(tilted, f"theta = {theta!r}; it must lie between 0 and pi: an upright top has no cusps")
    weight = body["mass"] * body["gravity"] * body["length"]
    slowest = jnp.sqrt(0.2 * body["transverse_inertia"] * weight) / body["axial_inertia"]
    require(
        jnp.abs(params["spin"]) >= slowest,
        f"spin = {spin!r}; that is no fast top, whose spin is at least {slowest} with these data",
    )
    transverse = params["transverse_inertia"]
    moments = jnp.stack([transverse, transverse, params["axial_inertia"]])
    system = top_on_point(
        "fast top", moments, mass=params["mass"], length=params["length"], gravity=params["gravity"]
    )
    still = jnp.zeros_like(params["spin"])
    start = system.state(
        rotation=about_x(params["theta"]), angular_velocity=jnp.stack([still, still, params["spin"]])
    )
    exact = partial(cuspidal_motion, params=params)
    return system.recommending(start, 1e-3, exact)
