"""Rigid bodies made of a few equal particles.

Their moments of inertia are known in closed form, so that motions have gradients in their sizes even where
two moments are equal and principal axes, found from a matrix, would have none.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.core import InputError, checked, quoted

from ._checks import Numbers, as_positive
from ._particles import Particles
from ._rigid_body import RigidBody

_CORNERS = np.array([[-1 / 2, -1 / 3, -1 / 4], [1 / 2, -1 / 3, -1 / 4], [0, 2 / 3, -1 / 4], [0, 0, 3 / 4]])


@checked
def tetrahedron(a: Numbers = 1.0, particle_mass: Numbers = 1.0, *, name: str = "tetrahedron") -> RigidBody:
    r"""Four equal particles at the corners of a tetrahedron of base a and height a.

    $$ \rho_{1,2} = a \left(\mp\tfrac12, -\tfrac13, -\tfrac14\right), \quad
       \rho_3 = a \left(0, \tfrac23, -\tfrac14\right), \quad \rho_4 = a \left(0, 0, \tfrac34\right), \qquad
       J = m a^2 \operatorname{diag}\left(\tfrac{17}{12}, \tfrac54, \tfrac76\right) $$

    It is not regular: its base is a triangle with one side a and the height a over it, and the fourth
    particle is at the height a over the mass centre of the base.

    Args:
        a: the length.
        particle_mass: m, of each particle; the body's mass is 4 m.
        name: of the body.
    """
    length = as_positive(a, "a of a tetrahedron")
    mass = as_positive(particle_mass, "particle_mass of a tetrahedron")
    points = length * jnp.asarray(_CORNERS)
    moments = mass * length * length * jnp.array([17.0 / 12.0, 5.0 / 4.0, 7.0 / 6.0])
    return _of_equal(mass, points, moments, name)


@checked
def two_rim_disc(
    radius: Numbers,
    height: Numbers,
    particles: int = 12,
    particle_mass: Numbers = 1.0,
    *,
    axis: int = 2,
    name: str = "two_rim_disc",
) -> RigidBody:
    r"""Equal particles spread evenly over the rims of the two faces of a disc, each above another.

    $$ J_1 = J_2 = n m \left(\tfrac{r^2}{2} + \tfrac{h^2}{4}\right), \qquad J_3 = n m r^2 $$

    Args:
        radius: r, of both rims.
        height: h, from one rim to the other.
        particles: n, on both rims together: even, 6 or more.
        particle_mass: m, of each; the body's mass is n m.
        axis: which body axis is that of the disc; above it is the third, and 0 suits discs in a row along x.
        name: of the body.
    """
    if isinstance(particles, bool) or not isinstance(particles, (int, np.integer)):
        raise InputError(f"particles of a two_rim_disc = {quoted(particles)}; it must be a whole number")
    if particles < 6 or particles % 2:
        raise InputError(f"particles of a two_rim_disc = {particles}; it must be even, 6 or more")
    if isinstance(axis, bool) or axis not in (0, 1, 2):
        raise InputError(f"axis of a two_rim_disc = {quoted(axis)}; it must be 0, 1 or 2")
    r = as_positive(radius, "radius of a two_rim_disc")
    h = as_positive(height, "height of a two_rim_disc")
    mass = as_positive(particle_mass, "particle_mass of a two_rim_disc")
    angles = 4.0 * np.pi * np.arange(particles // 2) / particles
    rim = jnp.asarray(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    face = 0.5 * h * jnp.ones((particles // 2, 1))
    points = jnp.concatenate([jnp.hstack([r * rim, -face]), jnp.hstack([r * rim, face])])
    across = 0.5 * r * r + 0.25 * h * h
    moments = particles * mass * jnp.stack([across, across, r * r])
    return _of_equal(mass, jnp.roll(points, axis - 2, axis=1), jnp.roll(moments, axis - 2), name)


def _of_equal(mass: Array, points: Array, moments: Array, name: str) -> RigidBody:
    """A body of particles of one mass, with its mass centre at the origin and principal axes."""
    count = points.shape[0]
    particles = Particles(mass * jnp.ones(count), points)
    return RigidBody(count * mass, moments, name=name, particles=particles, centre=(0.0, 0.0, 0.0))
