"""Kinetic energy and momenta of a set of bodies."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Scalar

from ._vectors import turned

Masses = Float[Array, "body"]
Inertias = Float[Array, "body 3 3"]
Vectors = Float[Array, "body 3"]


def kinetic_energy(masses: Masses, inertias: Inertias, v: Vectors, Omega: Vectors) -> Scalar:
    r"""Kinetic energy of all bodies, $\tfrac12 \sum (m\,v\cdot v + \Omega\cdot J\Omega)$."""
    return 0.5 * (jnp.sum(masses[:, None] * v * v) + jnp.sum(Omega * turned(inertias, Omega)))


def linear_momentum(masses: Masses, v: Vectors) -> Float[Array, "3"]:
    r"""Total linear momentum, $\sum m\,v$."""
    return jnp.sum(masses[:, None] * v, axis=0)


def angular_momentum(
    masses: Masses, inertias: Inertias, x: Vectors, R: Float[Array, "body 3 3"], v: Vectors, Omega: Vectors
) -> Float[Array, "3"]:
    r"""Total angular momentum about the origin in space, $\sum (x \times m v + R J \Omega)$."""
    return jnp.sum(jnp.cross(x, masses[:, None] * v) + turned(R, turned(inertias, Omega)), axis=0)
