"""A hinge."""

from typing import ClassVar, Unpack

import jax.numpy as jnp

from ._base import AbstractJoint
from ._frames import Frames, Subspace
from ._motion import Motion, Z
from ._site import Site, Where


class Revolute(AbstractJoint):
    r"""Rotation about an axis: one degree of freedom.

    $$ u = 0, \qquad d_3\cdot e_1 = d_3\cdot e_2 = 0. $$

    Symbols and arguments are those of `AbstractJoint`.
    """

    rows: ClassVar[int] = 5
    freedoms: ClassVar[tuple[str, ...] | None] = ("angle",)
    site: Site

    def __init__(self, first: str, second: str, **where: Unpack[Where]):
        self.site = Site("Revolute", first, second, where)

    def residual(self, frames: Frames):
        """The conditions above."""
        return jnp.concatenate([frames.apart, jnp.stack([frames.cosine(2, 0), frames.cosine(2, 1)])])

    def subspace(self, frames: Frames) -> Subspace:
        """A turn about the axis."""
        return Subspace.of((frames.first[:, 2], None))

    def coordinates(self, frames: Frames):
        """The angle about the axis."""
        return frames.angle()[None]

    def motions(self) -> tuple[Motion, ...]:
        """A turn about the axis."""
        return (Motion(turn=Z),)
