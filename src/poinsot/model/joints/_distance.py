"""A massless rod between two points."""

from typing import ClassVar, Unpack

from jaxtyping import Array, Float

from .._checks import Numbers, as_positive
from ._base import AbstractJoint
from ._frames import Frames
from ._site import Site, Where


class Distance(AbstractJoint):
    r"""Two points at a constant distance.

    $$ \tfrac{1}{2 l}\,(u\cdot u - l^2) = 0 $$

    with $u$ from the first point to the second.

    Args:
        first: name of a body, or "ground".
        second: name of another.
        length: the distance $l$.
        where: `at_first` and `at_second`, the points in the bodies; its `name`.
    """

    rows: ClassVar[int] = 1
    site: Site
    length: Float[Array, ""]

    def __init__(self, first: str, second: str, length: Numbers, **where: Unpack[Where]):
        self.site = Site("Distance", first, second, where)
        self.length = as_positive(length, f"length of {self.site}")

    def residual(self, frames: Frames):
        """The condition above."""
        return (0.5 * (frames.apart @ frames.apart / self.length - self.length))[None]
