"""A pin in a slot of any direction."""

from typing import ClassVar, Unpack

from ._base import AbstractJoint
from ._frames import Frames
from ._site import Site, Where


class PointOnPlane(AbstractJoint):
    r"""The point of the second body stays in the plane across the axis in the first.

    $$ d_3\cdot u = 0. $$

    Symbols and arguments are those of `AbstractJoint`.
    """

    rows: ClassVar[int] = 1
    site: Site

    def __init__(self, first: str, second: str, **where: Unpack[Where]):
        self.site = Site("PointOnPlane", first, second, where)

    def residual(self, frames: Frames):
        """The conditions above."""
        return frames.along(2)[None]
