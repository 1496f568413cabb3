"""A spring between two points."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Scalar

from .._checks import Numbers, as_nonnegative, as_passive
from ._base import AbstractInvariantPotential, Directors, Positions
from ._marker import Marker, as_ends, joined


class Spring(AbstractInvariantPotential):
    r"""A linear spring between two points.

    $$ V = \tfrac12 k\,(r - l)^2, \qquad r = |p_2 - p_1| $$

    With a rest length above zero the energy has a kink at r = 0; its derivative is taken to be zero there.

    Args:
        first: one end, a `Marker` on a body, or three numbers for a place in space.
        second: the other end.
        stiffness: k.
        rest_length: l.
        active: whether a negative stiffness is meant, which brings energy in.
    """

    first: Marker
    second: Marker
    stiffness: Scalar
    rest_length: Scalar

    def __init__(
        self, first: Any, second: Any, *, stiffness: Numbers, rest_length: Numbers = 0.0, active: bool = False
    ):
        self.first, self.second = as_ends(first, second, "Spring")
        self.stiffness = as_passive(stiffness, "stiffness of Spring", active)
        self.rest_length = as_nonnegative(rest_length, "rest_length of Spring")

    @property
    def bodies(self) -> tuple[int, ...]:
        """The bodies at its ends."""
        return joined(self.first, self.second)

    def invariants(self, x: Positions, R: Directors) -> Float[Array, "1"]:
        """The squared length."""
        span = self.second.place(x, R) - self.first.place(x, R)
        return jnp.sum(span * span, keepdims=True)

    def energy_of(self, c: Float[Array, "1"]) -> Scalar:
        """The energy at a squared length."""
        stretched = c[0] > 0.0
        length = jnp.where(stretched, jnp.sqrt(jnp.where(stretched, c[0], 1.0)), 0.0)
        return 0.5 * self.stiffness * (c[0] - 2.0 * self.rest_length * length + self.rest_length**2)
