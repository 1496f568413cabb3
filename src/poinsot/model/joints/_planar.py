"""A plate on a table."""

from typing import ClassVar, Unpack

import jax.numpy as jnp

from ._base import AbstractJoint
from ._frames import Frames, Subspace
from ._motion import Motion, X, Y, Z
from ._site import Site, Where


class Planar(AbstractJoint):
    r"""Motion in a plane across the axis: two translations and a rotation.

    $$ d_3\cdot u = 0, \qquad d_3\cdot e_1 = d_3\cdot e_2 = 0. $$

    Symbols and arguments are those of `AbstractJoint`.
    """

    rows: ClassVar[int] = 3
    freedoms: ClassVar[tuple[str, ...] | None] = ("x", "y", "angle")
    site: Site

    def __init__(self, first: str, second: str, **where: Unpack[Where]):
        self.site = Site("Planar", first, second, where)

    def residual(self, frames: Frames):
        """The conditions above."""
        return jnp.stack([frames.along(2), frames.cosine(2, 0), frames.cosine(2, 1)])

    def subspace(self, frames: Frames) -> Subspace:
        """Slides along two directions of the first body across the axis, and a turn about the axis."""
        d = frames.first
        return Subspace.of((None, d[:, 0]), (None, d[:, 1]), (d[:, 2], None))

    def coordinates(self, frames: Frames):
        """The ways along both directions and the angle about the axis."""
        return jnp.stack([frames.along(0), frames.along(1), frames.angle()])

    def motions(self) -> tuple[Motion, ...]:
        """Slides along two directions across the axis, then a turn about it."""
        return Motion(slide=X), Motion(slide=Y), Motion(turn=Z)
