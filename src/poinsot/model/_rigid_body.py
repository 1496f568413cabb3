"""A rigid body: its mass and how the mass is distributed."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import Checked, InputError, Printable, checked, concrete, quoted
from poinsot.core.types import Scalar
from poinsot.kernels import alone

from ._checks import Numbers, as_array, as_nonnegative, as_positive, shown
from ._particles import Particles, mass_properties
from ._principal import check_moments, check_symmetric, principal_axes

DEFAULT_NAME = "body"


class RigidBody(Printable, Checked):
    r"""A rigid body, described in a frame of your choice fixed in it, the body frame.

    The inertia tensor is about the **mass centre**. Given as three numbers, the body frame is the principal
    frame; given as a matrix, the principal axes are found,

    $$ J = A\,\operatorname{diag}(J_1, J_2, J_3)\,A^T, \qquad \det A = 1, $$

    and rotations, angular velocities and points still refer to your frame. Numbers may be traced, so that
    motions have gradients in mass and inertia (of a full matrix: where its moments are distinct). Traced
    numbers are not checked.

    Args:
        mass: positive number.
        inertia: three principal moments, or a symmetric positive 3x3 matrix; about the mass centre.
        name: what reports call the body.
        light: whether mass and moments may be zero: a link without mass, a point mass. Only joints can hold
            such a body, and only joint coordinates have equations for it.
        particles: the particles it was made of, see `from_particles`.
        centre: its mass centre in the coordinates it was given in, see `from_particles`.

    Raises:
        InputError: not positive, not symmetric, or against the triangle inequality.

    Example:
        >>> import poinsot as pt
        >>> book = pt.RigidBody(mass=1.2, inertia=(0.9144, 1.098, 1.66), name="book")
    """

    mass: Scalar
    moments: Float[Array, "3"]
    """Principal moments of inertia about the mass centre."""
    axes: Float[Array, "3 3"] | None
    """Principal axes as columns, in the body frame; None where the body frame is the principal frame."""
    particles: Particles | None
    centre: Float[Array, "3"] | None
    light: bool = eqx.field(static=True, default=False)
    name: str = eqx.field(static=True, default=DEFAULT_NAME)

    def __init__(
        self,
        mass: Numbers,
        inertia: Any,
        *,
        name: str = DEFAULT_NAME,
        particles: Particles | None = None,
        centre: Numbers | None = None,
        light: bool = False,
    ):
        if not isinstance(name, str) or not name:
            raise InputError(f"name = {quoted(name)}; the name of a body must be a word")
        self.name, self.light = name, light
        self.mass = (as_nonnegative if light else as_positive)(mass, f"mass of {name!r}")
        field = f"inertia of {name!r}"
        numbers = as_array(inertia, field)
        if numbers.shape == (3,):
            self.moments, self.axes = numbers, None
        elif numbers.shape == (3, 3):
            check_symmetric(numbers, field)
            self.moments, self.axes = principal_axes(numbers)
        else:
            raise InputError(
                f"{field} has shape {numbers.shape}; it must be three principal moments or a 3x3 matrix"
            )
        check_moments(self.moments, field, light=light)
        if concrete((self.mass, self.moments)) and not self.mass and np.any(np.asarray(self.moments)):
            raise InputError(f"{field} has principal moments {shown(self.moments)}, but its mass is zero")
        self.particles = particles
        self.centre = None if centre is None else as_array(centre, f"centre of {name!r}", (3,))

    @classmethod
    @checked
    def from_particles(cls, masses: Numbers, points: Numbers, *, name: str = DEFAULT_NAME) -> "RigidBody":
        r"""A rigid body made of particles.

        $$ c = \frac1m \sum_k m_k r_k, \qquad
           J = \sum_k m_k \left(|\rho_k|^2 I - \rho_k \rho_k^T\right), \quad \rho_k = r_k - c. $$

        The body frame has the directions of your coordinates and its origin at the mass centre. `centre`
        keeps c in your coordinates, `particles` the masses and the $\rho_k$. Where c is the origin but for
        round-off, the points are kept as they are given; where the products of inertia are, the body frame is
        the principal frame.

        Args:
            masses: positive, one for each particle.
            points: coordinates of the particles, (particle, 3). They may lie in a plane, not on a line.
            name: what reports call the body.

        Raises:
            InputError: fewer than three particles, or all on one line.
        """
        mass, centre, inertia, particles = mass_properties(masses, points, name)
        return cls(mass, inertia, name=name, particles=particles, centre=centre)

    @property
    def principal_points(self) -> Float[Array, "particle 3"]:
        r"""Its particles in the principal frame, $A^T \rho_k$, relative to the mass centre.

        Raises:
            InputError: it was not made of particles.
        """
        if self.particles is None:
            raise InputError(
                f"{self.name!r} has no particles; make it with RigidBody.from_particles or as one of "
                "pt.shapes.tetrahedron and pt.shapes.two_rim_disc"
            )
        return self.particles.points if self.axes is None else self.particles.points @ self.axes

    @property
    def inertia_matrix(self) -> Float[Array, "3 3"]:
        """Inertia tensor about the mass centre, in the body frame."""
        if self.axes is None:
            return _diagonal(self.moments)
        return (self.axes * self.moments[None, :]) @ self.axes.T

    @property
    def planar_moments(self) -> Float[Array, "3"]:
        r"""Principal values of the Euler tensor, $d_1 = \tfrac12 (J_2 + J_3 - J_1)$ and cyclic; 0 if flat."""
        return 0.5 * jnp.sum(self.moments) - self.moments

    @property
    def euler_tensor(self) -> Float[Array, "3 3"]:
        r"""Euler tensor in the body frame.

        $$ D = \sum_k m_k\,\rho_k \rho_k^T = \tfrac12 \operatorname{tr}(J)\,I - J $$
        """
        return 0.5 * jnp.sum(self.moments) * jnp.eye(3) - self.inertia_matrix

    def inertia_about(self, point: Numbers) -> Float[Array, "3 3"]:
        r"""Inertia tensor about another point of the body, in the body frame (Steiner).

        $$ J_\rho = J + m \left(|\rho|^2 I - \rho \rho^T\right) $$

        Args:
            point: body coordinates relative to the mass centre.
        """
        rho = as_array(point, "point", (3,))
        return self.inertia_matrix + self.mass * (jnp.sum(rho * rho) * jnp.eye(3) - jnp.outer(rho, rho))


@alone
def _diagonal(moments: Float[Array, "3"]) -> Float[Array, "3 3"]:
    return jnp.diag(moments)
