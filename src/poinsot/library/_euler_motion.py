"""Motion of a top in 3-1-3 Euler angles as motion of a body: what exact solutions are known in."""

import jax.numpy as jnp
from jaxtyping import Array

from poinsot.core import State
from poinsot.rotation import euler_quaternion, to_matrix


def euler_motion(angles: tuple[Array, Array, Array], rates: tuple[Array, Array, Array], length) -> State:
    r"""Pose and velocities of a top whose mass centre is at distance `length` on its third axis.

    $$ R = R_z(\phi) R_x(\theta) R_z(\psi), \qquad
       \Omega = \begin{pmatrix} \dot\phi \sin\theta \sin\psi + \dot\theta \cos\psi \\
       \dot\phi \sin\theta \cos\psi - \dot\theta \sin\psi \\ \dot\phi \cos\theta + \dot\psi \end{pmatrix} $$

    Args:
        angles: precession $\phi$, nutation $\theta$, rotation $\psi$ about the axis; arrays of one shape.
        rates: their derivatives.
        length: from the fixed point to the mass centre.

    Returns:
        State of the one body, axes of the angles first.
    """
    _, theta, psi = angles
    phi_rate, theta_rate, psi_rate = rates
    across, sine, cosine = phi_rate * jnp.sin(theta), jnp.sin(psi), jnp.cos(psi)
    Omega = jnp.stack(
        [
            across * sine + theta_rate * cosine,
            across * cosine - theta_rate * sine,
            phi_rate * jnp.cos(theta) + psi_rate,
        ],
        axis=-1,
    )
    quaternion = euler_quaternion("zxz", jnp.stack(angles, axis=-1))
    R = to_matrix(quaternion)
    return State(
        position=(length * R[..., 2])[..., None, :],
        quaternion=quaternion[..., None, :],
        velocity=(length * (R[..., 0] * Omega[..., 1:2] - R[..., 1] * Omega[..., 0:1]))[..., None, :],
        angular_velocity=Omega[..., None, :],
    )
