"""What a joint is: conditions on the places and directions of two markers."""

import abc
from typing import ClassVar, NamedTuple

import equinox as eqx
from jaxtyping import Array, Float

from poinsot.core import Printable

from ._site import Site

Vec3 = Float[Array, "3"]


class Frames(NamedTuple):
    """Two markers as a joint sees them, in space."""

    apart: Vec3
    """From the point of the first to that of the second."""
    first: Float[Array, "3 3"]
    """Directions of the first as columns; the third is the axis of the joint."""
    second: Float[Array, "3 3"]
    """Directions of the second. Where the joint was put together they are those of the first."""

    def along(self, direction: int) -> Array:
        """Component of `apart` in a direction of the first."""
        return self.apart @ self.first[:, direction]

    def cosine(self, first: int, second: int) -> Array:
        """Cosine of the angle between a direction of the first and one of the second."""
        return self.first[:, first] @ self.second[:, second]


class AbstractJoint(Printable):
    r"""A joint between two bodies, or between a body and the ground.

    A class says how many `rows` its conditions have and what they are: functions of the vector $u$ from the
    point of the joint in the first body to that in the second, and of its directions $d_k$ in the first body
    and $e_k$ in the second. The axis is $d_3$ and $e_3$. The conditions are smooth in all components of
    positions and directors; Jacobians, rates and forces follow by differentiation.

    Every joint is made from the names of two bodies, `first` and `second`, one of which may be "ground", and
    from where it is: its point `at` in space with the bodies in their reference poses, or `at_first` and
    `at_second` in the bodies; its `axis`, or `axis_first` and `axis_second` likewise; and its `name`.
    """

    rows: ClassVar[int]
    """Number of conditions."""
    site: eqx.AbstractVar[Site]
    """Which bodies it joins, and where."""

    @abc.abstractmethod
    def residual(self, frames: Frames) -> Float[Array, " rows"]:
        """What must vanish."""

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.site.name
