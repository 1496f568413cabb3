"""A bead on a wire."""

from typing import ClassVar, Unpack

import jax.numpy as jnp

from ._base import AbstractJoint
from ._frames import Frames
from ._site import Site, Where


class PointOnLine(AbstractJoint):
    r"""The point of the second body stays on the axis in the first.

    $$ d_1\cdot u = d_2\cdot u = 0. $$

    Symbols and arguments are those of `AbstractJoint`.
    """

    rows: ClassVar[int] = 2
    site: Site

    def __init__(self, first: str, second: str, **where: Unpack[Where]):
        self.site = Site("PointOnLine", first, second, where)

    def residual(self, frames: Frames):
        """The conditions above."""
        return jnp.stack([frames.along(0), frames.along(1)])
