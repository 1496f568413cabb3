"""The field of a distant centre, with the torque it exerts on an extended body."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Scalar

from .._checks import Numbers, as_array
from .._places import as_bodies, body_field
from .._vectors import turned, turned_back
from ._base import AbstractInvariantPotential, AbstractTerm, Directors, Positions
from ._each_body import OfEachBody

if TYPE_CHECKING:
    from .._roster import Roster


class GravityGradient(AbstractTerm):
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
        bodies: those it attracts, by name or place; all when left out.
    """

    mu: Scalar
    centre: Float[Array, "3"]
    places: tuple[int, ...] | None = body_field()

    def __init__(
        self, mu: Numbers, *, centre: Numbers = (0.0, 0.0, 0.0), bodies: Sequence[int | str] | None = None
    ):
        self.mu = as_array(mu, "mu of GravityGradient", ())
        self.centre = as_array(centre, "centre of GravityGradient", (3,))
        self.places = as_bodies(bodies, "bodies of GravityGradient")

    def of_bodies(self, roster: "Roster") -> "CentralField":
        """The field as these bodies feel it."""
        return CentralField(
            mu=self.mu,
            centre=self.centre,
            masses=roster.masses(self.places),
            inertias=roster.inertias(self.places),
            places=self.places,
        )


class CentralField(OfEachBody, AbstractInvariantPotential):
    r"""What `GravityGradient` is for given bodies.

    Its invariants are, for each body, the squared distance and the components of $x - a$ along the directors.
    """

    shown_as: ClassVar[str] = "GravityGradient"
    derived: ClassVar[tuple[str, ...]] = ("masses", "inertias")
    mu: Scalar
    centre: Float[Array, "3"]
    masses: Float[Array, "chosen"]
    """One for each body it attracts, or one for all; likewise the inertias."""
    inertias: Float[Array, "chosen 3 3"]
    places: tuple[int, ...] | None = body_field()

    def invariants(self, x: Positions, R: Directors) -> Float[Array, "k"]:
        """Squared distance and components along the directors, body after body."""
        distance = self.chosen(x) - self.centre[None]
        square = jnp.sum(distance * distance, axis=1, keepdims=True)
        return jnp.concatenate([square, turned_back(self.chosen(R), distance)], axis=1).reshape(-1)

    def energy_of(self, c: Float[Array, "k"]) -> Scalar:
        """MacCullagh's formula."""
        parts = c.reshape(-1, 4)
        square, along = parts[:, 0], parts[:, 1:]
        traces = jnp.trace(self.inertias, axis1=1, axis2=2)
        about = jnp.sum(along * turned(self.inertias, along), axis=1) / square
        shape = (traces - 3.0 * about) / (2.0 * square)
        return -self.mu * jnp.sum((self.masses + shape) / jnp.sqrt(square))
