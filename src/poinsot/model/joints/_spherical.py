"""A ball in a socket."""

from typing import ClassVar, Unpack

from ._base import AbstractJoint, Frames, Site
from ._site import Where


class Spherical(AbstractJoint):
    r"""Two points that stay together: three free rotations.

    $$ u = 0. $$

    Symbols and arguments are those of `AbstractJoint`.
    """

    rows: ClassVar[int] = 3
    site: Site

    def __init__(self, first: str, second: str, **where: Unpack[Where]):
        self.site = Site("Spherical", first, second, where)

    def residual(self, frames: Frames):
        """The conditions above."""
        return frames.apart
