"""The harmonic oscillator."""

from functools import partial

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from poinsot.core import Hamiltonian, State, checked
from poinsot.library._parameters import Positive, numbers, positive


def kinetic(p, params) -> Array:
    """Kinetic energy; `p` of shape `(1,)`, or `(1, batch)`."""
    return 0.5 * p[0] * p[0] / params["mass"]


def potential(q, params) -> Array:
    """Energy of the spring."""
    return 0.5 * params["stiffness"] * q[0] * q[0]


def motion(t, params) -> State:
    """The exact motion from `q = 0` with momentum `params["momentum"]`."""
    frequency = jnp.sqrt(params["stiffness"] / params["mass"])
    angle = frequency * jnp.asarray(t, dtype=float)
    speed = params["momentum"] / params["mass"]
    q, p = speed / frequency * jnp.sin(angle), params["momentum"] * jnp.cos(angle)
    return State(q=q[..., None], p=p[..., None])


@checked
def harmonic_oscillator(
    mass: Positive = 1.0, stiffness: Positive = 4.0, momentum: ArrayLike = 2.0
) -> Hamiltonian:
    r"""A mass on a spring, set going through its rest position.

    $$ H = \frac{p^2}{2m} + \frac{k q^2}{2}, \qquad q(0) = 0, \quad p(0) = p_0, \qquad
       q(t) = \frac{p_0}{m \omega} \sin \omega t, \quad \omega = \sqrt{k/m} $$

    The defaults are those of Chaurasia (2012), section 2.1, where the mass of 1 kg is printed as "1 meter".

    Args:
        mass: $m$.
        stiffness: $k$.
        momentum: $p_0$.
    """
    params = numbers(mass=mass, stiffness=stiffness)
    positive(**params)
    known = params | numbers(momentum=momentum)
    p0 = known["momentum"]
    problem = Hamiltonian(T=kinetic, V=potential, params=params, vectorised=True)
    return problem.recommending(
        start=State(q=jnp.stack([jnp.zeros_like(p0)]), p=jnp.stack([p0])),
        dt=0.01,
        exact=partial(motion, params=known),
        name="harmonic oscillator",
    )
