"""Uniform gravity."""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Scalar

from .._checks import Numbers, as_array, as_places
from .._rigid_body import RigidBody
from ._base import AbstractInvariantPotential, AbstractMassTerm, Directors, Positions


class UniformGravity(AbstractMassTerm):
    r"""The weight of bodies in a uniform field.

    $$ V = -\sum_i m_i\, a \cdot x_i $$

    The masses are those of the system's bodies.

    Args:
        acceleration: of free fall, in space.
        bodies: places of the bodies that have weight; all when left out.
    """

    acceleration: Float[Array, "3"]
    places: tuple[int, ...] | None = eqx.field(static=True)

    def __init__(self, acceleration: Numbers = (0.0, 0.0, -9.81), *, bodies: Sequence[int] | None = None):
        self.acceleration = as_array(acceleration, "acceleration of UniformGravity", (3,))
        self.places = as_places(bodies, "bodies of UniformGravity")

    @property
    def bodies(self) -> tuple[int, ...] | None:
        """The bodies that have weight."""
        return self.places

    def of_bodies(self, bodies: Sequence[RigidBody]) -> "Weight":
        """The weight of these bodies."""
        masses = [
            body.mass if self.places is None or i in self.places else jnp.zeros(())
            for i, body in enumerate(bodies)
        ]
        return Weight(jnp.stack(masses), self.acceleration, self.places)


class Weight(AbstractInvariantPotential):
    """What `UniformGravity` is for given bodies."""

    masses: Float[Array, "body"]
    acceleration: Float[Array, "3"]
    places: tuple[int, ...] | None = eqx.field(static=True)

    @property
    def bodies(self) -> tuple[int, ...] | None:
        """The bodies that have weight."""
        return self.places

    def invariants(self, x: Positions, R: Directors) -> Float[Array, "1"]:
        """First moment of the masses along gravity."""
        return jnp.sum(self.masses[:, None] * x * self.acceleration[None]).reshape(1)

    def energy_of(self, c: Float[Array, "1"]) -> Scalar:
        """The less, the further down."""
        return -c[0]
