"""The heavy symmetric top in Euler angles."""

import math

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from poinsot.core import ODE, State, checked
from poinsot.library._parameters import numbers, positive, require


def spin(y) -> Array:
    """Angular velocity about the axis of the top, the component 3 in the body frame."""
    theta, _, _, _, psi_rate, phi_rate = y
    return phi_rate + psi_rate * jnp.cos(theta)


def rates(y, params) -> Array:
    """Right-hand side; `y` of shape `(6,)`, or `(6, batch)`."""
    theta, _, _, theta_rate, psi_rate, phi_rate = y
    transverse, axial = params["transverse_inertia"], params["axial_inertia"]
    sine, cosine = jnp.sin(theta), jnp.cos(theta)
    axial_momentum = axial * spin(y)
    torque = params["mass"] * params["gravity"] * params["length"]
    bend = sine * (torque - axial_momentum * psi_rate + transverse * psi_rate**2 * cosine) / transverse
    turn = theta_rate * (axial_momentum - 2.0 * transverse * psi_rate * cosine) / (transverse * sine)
    return jnp.stack(
        [theta_rate, psi_rate, phi_rate, bend, turn, theta_rate * psi_rate * sine - turn * cosine]
    )


def energy(y, params) -> Array:
    """Kinetic energy of the rotation about the fixed point, and the weight's potential."""
    theta, _, _, theta_rate, psi_rate, _ = y
    tilting = theta_rate**2 + (psi_rate * jnp.sin(theta)) ** 2
    height = params["length"] * jnp.cos(theta)
    kinetic = 0.5 * (params["transverse_inertia"] * tilting + params["axial_inertia"] * spin(y) ** 2)
    return kinetic + params["mass"] * params["gravity"] * height


def vertical_angular_momentum(y, params) -> Array:
    """Angular momentum about the vertical through the fixed point."""
    theta, _, _, _, psi_rate, _ = y
    across = params["transverse_inertia"] * psi_rate * jnp.sin(theta) ** 2
    return across + params["axial_inertia"] * spin(y) * jnp.cos(theta)


INVARIANTS = {"energy": energy, "L_z": vertical_angular_momentum, "Omega_3": spin}


def centre_of_mass(y, length) -> Array:
    """Position of the mass centre in space, for a state or, with time first, for a trajectory."""
    theta, psi = y[..., 0], y[..., 1]
    across = length * jnp.sin(theta)
    return jnp.stack([across * jnp.cos(psi), across * jnp.sin(psi), length * jnp.cos(theta)], axis=-1)


@checked
def symmetric_top(
    mass: ArrayLike = 1.5,
    length: ArrayLike = 1.33,
    transverse_inertia: ArrayLike = 3.06,
    axial_inertia: ArrayLike = 0.45,
    gravity: ArrayLike = 9.81,
    theta: ArrayLike = math.pi / 4,
    psi: ArrayLike = math.pi / 180,
    phi: ArrayLike = math.pi / 180,
    theta_rate: ArrayLike = 1.0,
    psi_rate: ArrayLike = 1.0,
    phi_rate: ArrayLike = 100.0,
) -> ODE:
    r"""A symmetric top on a fixed point under gravity, in ZYZ Euler angles.

    The rotation from body to space is $R = R_z(\psi) R_y(\theta) R_z(\phi)$ with precession $\psi$, nutation
    $\theta$ and rotation $\phi$ about the top's own axis. With the moments of inertia $I$ (transverse) and
    $I_3$ (axial) about the fixed point and $\Omega_3 = \dot\phi + \dot\psi \cos\theta$:

    $$ I \ddot\theta = \sin\theta\,(m g l - I_3 \Omega_3 \dot\psi + I \dot\psi^2 \cos\theta), \qquad
       I \sin\theta\, \ddot\psi = \dot\theta\,(I_3 \Omega_3 - 2 I \dot\psi \cos\theta), \qquad
       \ddot\phi = \dot\theta \dot\psi \sin\theta - \ddot\psi \cos\theta $$

    The state is $y = (\theta, \psi, \phi, \dot\theta, \dot\psi, \dot\phi)$. Conserved are the energy, the
    vertical angular momentum $L_z$ and the body component $\Omega_3$: two constants that are easily taken for
    each other. The angles are singular at $\theta = 0$ and $\pi$.

    Mass, length and start are those of Chaurasia (2012), section 2.5, whose equations (2.7) and (2.8) lack
    the factor $\Omega_3$ in their last terms. It gives no inertia; the default is near that of a solid cone
    on its tip with a base of radius 1 m.

    Args:
        mass: $m$.
        length: $l$, from the fixed point to the mass centre.
        transverse_inertia: $I$ about the fixed point, so at least $m l^2 + I_3/2$ for a real body.
        axial_inertia: $I_3$.
        gravity: $g$.
        theta: start of the nutation angle, between 0 and $\pi$.
        psi: start of the precession angle.
        phi: start of the rotation about the axis.
        theta_rate: start of $\dot\theta$.
        psi_rate: start of $\dot\psi$.
        phi_rate: start of $\dot\phi$.
    """
    params = numbers(
        mass=mass,
        length=length,
        transverse_inertia=transverse_inertia,
        axial_inertia=axial_inertia,
        gravity=gravity,
    )
    positive(**{name: value for name, value in params.items() if name != "gravity"})
    least = params["mass"] * params["length"] ** 2 + 0.5 * params["axial_inertia"]
    require(
        params["transverse_inertia"] >= least,
        f"transverse_inertia = {transverse_inertia!r}; about the fixed point it is at least "
        f"mass * length**2 + axial_inertia / 2 = {least}",
    )
    start = numbers(
        theta=theta, psi=psi, phi=phi, theta_rate=theta_rate, psi_rate=psi_rate, phi_rate=phi_rate
    )
    upright = (start["theta"] > 0.0) & (start["theta"] < math.pi)
    require(upright, f"theta = {theta!r}; it must lie between 0 and pi, where the angles are singular")
    problem = ODE(rates, params=params, invariants=INVARIANTS, vectorised=True)
    return problem.recommending(
        start=State(y=jnp.stack(jnp.broadcast_arrays(*start.values()))),
        dt=0.005,
        name="symmetric top",
    )
