"""A rigid body on which nothing acts."""

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from poinsot.core import State, checked
from poinsot.library._parameters import Vector, moments
from poinsot.model import RigidBody, System
from poinsot.rotation import free_rotation, multiply


@checked
def free_body(inertia: Vector, mass: ArrayLike = 1.0) -> System:
    r"""A rigid body thrown where nothing acts on it (Euler's case).

    $$ J \dot\Omega = J\Omega \times \Omega, \qquad \dot R = R\,\hat\Omega, \qquad \ddot x = 0 $$

    Conserved are the energy of rotation, the angular momentum $R J \Omega$ in space, and the linear momentum.
    Rotation about the axis of the middle moment is unstable.

    Args:
        inertia: three principal moments about the mass centre.
        mass: of the body; its rotation does not depend on it.

    Returns:
        The system, for `state` and `pt.simulate`.

    Raises:
        InputError: no rigid body has these moments.

    Example:
        >>> import poinsot as pt
        >>> book = pt.library.free_body(inertia=(0.9144, 1.098, 1.66))
        >>> start = book.state(angular_velocity=(0.45549, 0.82623, 0.03476))
    """
    return thrown_body("free body", inertia, mass)


def thrown_body(name: str, inertia: Vector, mass: ArrayLike = 1.0) -> System:
    """The system of `free_body` under another name."""
    return System(RigidBody(mass, moments(inertia)), name=name)


def free_motion(t, inertia: Float[Array, "3"], start: State) -> State:
    """The exact motion of one free body from its start, at time or times `t`."""
    t = jnp.asarray(t, dtype=float)

    def at_all_times(vector: Array) -> Array:
        return jnp.broadcast_to(vector, (*t.shape, vector.shape[-1]))

    J, momentum = at_all_times(inertia), at_all_times(inertia * start.angular_velocity[0])
    turn, momentum = free_rotation(J, momentum, t)
    velocity = at_all_times(start.velocity[0])
    return State(
        position=(at_all_times(start.position[0]) + t[..., None] * velocity)[..., None, :],
        quaternion=multiply(at_all_times(start.quaternion[0]), turn)[..., None, :],
        velocity=velocity[..., None, :],
        angular_velocity=(momentum / J)[..., None, :],
    )
