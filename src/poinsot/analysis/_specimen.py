"""What integrators of bodies are measured on: a system, a start, and how far it goes."""

from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Packed, State
from poinsot.equations import Formulation
from poinsot.kernels import once
from poinsot.model import AbstractSystem
from poinsot.rotation import vec


@dataclass(frozen=True)
class Specimen:
    """A motion on which certificates are measured."""

    name: str
    system: AbstractSystem
    start: State
    t1: float
    """Time at which motions are compared."""
    step: float
    """Step of the certificates and of the long run."""
    energy: float
    """Size of the terms that make up the energy."""
    momentum: float
    """The same of the momenta."""
    end: Callable[[], Float[Array, " n"]]
    """`seen` at time `t1`, to round-off."""


@once
def seen(formulation: Formulation, y: Packed) -> Float[Array, " n"]:
    """Positions, rotations column by column, velocities and angular velocities of all live bodies."""
    x, R, v, Omega = live_motion(formulation, y)
    turned = [vec(R[..., k]) for k in range(R.shape[-1])]
    return jnp.concatenate([x.reshape(-1), *turned, v.reshape(-1), Omega.reshape(-1)])


def live_motion(formulation: Formulation, y: Packed) -> tuple[Array, Array, Array, Array]:
    """Positions, rotations, velocities and body angular velocities of the live bodies, body axis last."""
    bodies = formulation.bodies
    q, rate, Omega = formulation.rates(0.0, y)
    x, c = bodies.split(q)
    return x, bodies.rotation(c), bodies.split(rate)[0], Omega
