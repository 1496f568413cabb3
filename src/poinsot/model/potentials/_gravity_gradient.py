"""The field of a distant centre, with the torque it exerts on an extended body."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core.types import Scalar

from .._checks import Numbers, as_array, as_places
from .._rigid_body import RigidBody
from .._vectors import turned, turned_back
from ._base import AbstractInvariantPotential, AbstractMassTerm, Directors, Positions


class GravityGradient(AbstractMassTerm):
    r"""Attraction of bodies by a heavy centre, to second order in their size over their distance.

    $$ V = -\frac{\mu m}{r} - \frac{\mu}{2 r^3} \left(\operatorname{tr} J - 3\, n \cdot J n\right), \qquad
       n = R^T \frac{x - a}{r}, \quad r = |x - a| $$

    This is MacCullagh's formula; it gives the force on the mass centre, its correction by the shape of the
    body, and the torque $3\mu/r^3\; n \times J n$ (body frame). What is left out is of third order in size
    over distance, and of fourth for bodies with three planes of symmetry. Masses and inertias are those of
    the system's bodies.

    Args:
        mu: gravitational constant times the mass of the centre.
        centre: its place a in space.
        bodies: places of the bodies it attracts; all when left out.
    """

    mu: Scalar
    centre: Float[Array, "3"]
    places: tuple[int, ...] | None = eqx.field(static=True)

    def __init__(
        self, mu: Numbers, *, centre: Numbers = (0.0, 0.0, 0.0), bodies: Sequence[int] | None = None
    ):
        self.mu = as_array(mu, "mu of GravityGradient", ())
        self.centre = as_array(centre, "centre of GravityGradient", (3,))
        self.places = as_places(bodies, "bodies of GravityGradient")

    @property
    def bodies(self) -> tuple[int, ...] | None:
        """The bodies it attracts."""
        return self.places

    def of_bodies(self, bodies: Sequence[RigidBody]) -> "CentralField":
        """The field as these bodies feel it."""
        places = tuple(range(len(bodies))) if self.places is None else self.places
        chosen = [bodies[place] for place in places]
        return CentralField(
            self.mu,
            self.centre,
            jnp.stack([body.mass for body in chosen]),
            jnp.stack([body.inertia_matrix for body in chosen]),
            places,
        )


class CentralField(AbstractInvariantPotential):
    r"""What `GravityGradient` is for given bodies.

    Its invariants are, for each body, the squared distance and the components of $x - a$ along the directors.
    """

    mu: Scalar
    centre: Float[Array, "3"]
    masses: Float[Array, "attracted"]
    inertias: Float[Array, "attracted 3 3"]
    places: tuple[int, ...] = eqx.field(static=True)

    @property
    def bodies(self) -> tuple[int, ...]:
        """The bodies it attracts."""
        return self.places

    def invariants(self, x: Positions, R: Directors) -> Float[Array, "k"]:
        """Squared distance and components along the directors, body after body."""
        chosen = np.asarray(self.places)
        distance = x[chosen] - self.centre[None]
        square = jnp.sum(distance * distance, axis=1, keepdims=True)
        return jnp.concatenate([square, turned_back(R[chosen], distance)], axis=1).reshape(-1)

    def energy_of(self, c: Float[Array, "k"]) -> Scalar:
        """MacCullagh's formula."""
        parts = c.reshape(-1, 4)
        square, along = parts[:, 0], parts[:, 1:]
        traces = jnp.trace(self.inertias, axis1=1, axis2=2)
        about = jnp.sum(along * turned(self.inertias, along), axis=1) / square
        shape = (traces - 3.0 * about) / (2.0 * square)
        return -self.mu * jnp.sum((self.masses + shape) / jnp.sqrt(square))
