"""Bushings: elastic connections with three stiffnesses."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Scalar

from .._checks import Numbers, as_passive
from .._vectors import turned_back
from ._base import AbstractInvariantPotential, Directors, Positions
from ._marker import Marker, as_ends, joined


class LinearBushing(AbstractInvariantPotential):
    r"""Elastic resistance to displacement, with a stiffness along each direction of the first marker.

    $$ V = \tfrac12 \sum_i k_i u_i^2, \qquad u_i = e_i \cdot (p_2 - p_1) $$

    The invariants are the displacements u along the directions $e_i$ of the first marker.

    Args:
        first: a `Marker`, or three numbers for a place in space; its directions are those of the stiffnesses.
        second: the other `Marker` or place.
        stiffness: three numbers k.
        active: whether a negative stiffness is meant, which brings energy in.
    """

    first: Marker
    second: Marker
    stiffness: Float[Array, "3"]

    def __init__(self, first: Any, second: Any, *, stiffness: Numbers, active: bool = False):
        self.first, self.second = as_ends(first, second, "LinearBushing")
        self.stiffness = as_passive(stiffness, "stiffness of LinearBushing", active, (3,))

    @property
    def bodies(self) -> tuple[int, ...]:
        """The bodies it connects."""
        return joined(self.first, self.second)

    def invariants(self, x: Positions, R: Directors) -> Float[Array, "3"]:
        """Displacement along the directions of the first marker."""
        return turned_back(self.first.directions(R), self.second.place(x, R) - self.first.place(x, R))

    def energy_of(self, c: Float[Array, "3"]) -> Scalar:
        """Half stiffness times displacement squared."""
        return 0.5 * jnp.sum(self.stiffness * c * c)


class TorsionalBushing(AbstractInvariantPotential):
    r"""Elastic resistance to relative rotation of two markers.

    $$ V = \sum_i a_i\,(1 - e_i \cdot f_i), \qquad a_1 = \tfrac12 (k_2 + k_3 - k_1) \text{ and cyclic} $$

    with the directions $e_i$, $f_i$ of the two markers. For a relative rotation by $\theta$ about the i-th
    direction it is $k_i (1 - \cos\theta)$, for small rotation vectors $\tfrac12 \sum k_i \theta_i^2$. Unlike
    the square of an angle it is smooth at all rotations, and the cosines are invariants of degree two.

    Args:
        first: a `Marker`, or three numbers for space.
        second: the other `Marker`.
        stiffness: three numbers k, torque per angle about each direction.
        active: whether a negative stiffness is meant, which brings energy in.
    """

    first: Marker
    second: Marker
    stiffness: Float[Array, "3"]

    def __init__(self, first: Any, second: Any, *, stiffness: Numbers, active: bool = False):
        self.first, self.second = as_ends(first, second, "TorsionalBushing")
        self.stiffness = as_passive(stiffness, "stiffness of TorsionalBushing", active, (3,))

    @property
    def bodies(self) -> tuple[int, ...]:
        """The bodies it connects."""
        return joined(self.first, self.second)

    def invariants(self, x: Positions, R: Directors) -> Float[Array, "3"]:
        """Cosines between equal directions of the two markers."""
        return jnp.sum(self.first.directions(R) * self.second.directions(R), axis=0)

    def energy_of(self, c: Float[Array, "3"]) -> Scalar:
        """Weighted sum of what the cosines lack of one."""
        weights = 0.5 * jnp.sum(self.stiffness) - self.stiffness
        return jnp.sum(weights * (1.0 - c))
