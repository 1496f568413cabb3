"""A shaft in a sleeve."""

from typing import ClassVar, Unpack

import jax.numpy as jnp

from ._base import AbstractJoint
from ._frames import Frames, Subspace
from ._motion import Motion, Z
from ._site import Site, Where


class Cylindrical(AbstractJoint):
    r"""Translation along an axis and rotation about it: two degrees of freedom.

    $$ d_1\cdot u = d_2\cdot u = 0, \qquad d_3\cdot e_1 = d_3\cdot e_2 = 0. $$

    Symbols and arguments are those of `AbstractJoint`.
    """

    rows: ClassVar[int] = 4
    freedoms: ClassVar[tuple[str, ...] | None] = ("position", "angle")
    site: Site

    def __init__(self, first: str, second: str, **where: Unpack[Where]):
        self.site = Site("Cylindrical", first, second, where)

    def residual(self, frames: Frames):
        """The conditions above."""
        return jnp.stack([frames.along(0), frames.along(1), frames.cosine(2, 0), frames.cosine(2, 1)])

    def subspace(self, frames: Frames) -> Subspace:
        """A slide along the axis and a turn about it."""
        return Subspace.of((None, frames.first[:, 2]), (frames.first[:, 2], None))

    def coordinates(self, frames: Frames):
        """The way along the axis and the angle about it."""
        return jnp.stack([frames.along(2), frames.angle()])

    def motions(self) -> tuple[Motion, ...]:
        """A slide along the axis, then a turn about it."""
        return Motion(slide=Z), Motion(turn=Z)
