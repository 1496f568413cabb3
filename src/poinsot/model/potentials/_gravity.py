"""Uniform gravity."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Scalar

from .._checks import Numbers, as_array
from .._places import as_bodies, body_field
from ._base import AbstractInvariantPotential, AbstractTerm, Directors, Positions
from ._each_body import OfEachBody

if TYPE_CHECKING:
    from .._roster import Roster


class UniformGravity(AbstractTerm):
    r"""The weight of bodies in a uniform field.

    $$ V = -\sum_i m_i\, a \cdot x_i $$

    The masses are those of the system's bodies.

    Args:
        acceleration: of free fall, in space.
        bodies: those that have weight, by name or place; all when left out.
    """

    acceleration: Float[Array, "3"]
    places: tuple[int, ...] | None = body_field()

    def __init__(
        self, acceleration: Numbers = (0.0, 0.0, -9.81), *, bodies: Sequence[int | str] | None = None
    ):
        self.acceleration = as_array(acceleration, "acceleration of UniformGravity", (3,))
        self.places = as_bodies(bodies, "bodies of UniformGravity")

    def of_bodies(self, roster: "Roster") -> "Weight":
        """The weight of these bodies."""
        masses = roster.masses(self.places)
        return Weight(masses=masses, acceleration=self.acceleration, places=self.places)


class Weight(OfEachBody, AbstractInvariantPotential):
    """What `UniformGravity` is for given bodies."""

    shown_as: ClassVar[str] = "UniformGravity"
    derived: ClassVar[tuple[str, ...]] = ("masses",)
    masses: Float[Array, "chosen"]
    """One for each body that has weight, or one for all."""
    acceleration: Float[Array, "3"]
    places: tuple[int, ...] | None = body_field()

    def invariants(self, x: Positions, R: Directors) -> Float[Array, "1"]:
        """First moment of the masses along gravity."""
        return jnp.sum(self.masses[:, None] * self.chosen(x) * self.acceleration[None]).reshape(1)

    def energy_of(self, c: Float[Array, "1"]) -> Scalar:
        """Minus the first moment."""
        return -c[0]
