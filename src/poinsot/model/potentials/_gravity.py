"""Uniform gravity."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core.types import Scalar

from .._checks import Numbers, as_array
from .._places import as_bodies, body_field
from ._base import AbstractInvariantPotential, AbstractTerm, Directors, Positions

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
        return Weight(roster.masses(self.places), self.acceleration, self.places)


class Weight(AbstractInvariantPotential):
    """What `UniformGravity` is for given bodies."""

    masses: Float[Array, "chosen"]
    """One for each body that has weight, or one for all."""
    acceleration: Float[Array, "3"]
    places: tuple[int, ...] | None = body_field()

    @property
    def bodies(self) -> tuple[int, ...] | None:
        """The bodies that have weight."""
        return self.places

    @property
    def separable(self) -> bool:
        """Each body has its own weight."""
        return True

    def invariants(self, x: Positions, R: Directors) -> Float[Array, "1"]:
        """First moment of the masses along gravity."""
        chosen = x if self.places is None else x[np.asarray(self.places)]
        return jnp.sum(self.masses[:, None] * chosen * self.acceleration[None]).reshape(1)

    def energy_of(self, c: Float[Array, "1"]) -> Scalar:
        """Minus the first moment."""
        return -c[0]
