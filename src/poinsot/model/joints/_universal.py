"""A universal joint, after Cardano and Hooke."""

from typing import ClassVar, Unpack

import jax.numpy as jnp

from ._base import AbstractJoint
from ._frames import Frames, Subspace
from ._motion import Motion, X, Y
from ._site import Site, Where


class Universal(AbstractJoint):
    r"""Rotations about an axis of the first body and one of the second that stay perpendicular.

    $$ u = 0, \qquad d_1\cdot e_2 = 0. $$

    Symbols and arguments are those of `AbstractJoint`.
    """

    rows: ClassVar[int] = 4
    freedoms: ClassVar[tuple[str, ...] | None] = ("first_angle", "second_angle")
    site: Site

    def __init__(self, first: str, second: str, **where: Unpack[Where]):
        self.site = Site("Universal", first, second, where)

    def residual(self, frames: Frames):
        """The conditions above."""
        return jnp.concatenate([frames.apart, frames.cosine(0, 1)[None]])

    def subspace(self, frames: Frames) -> Subspace:
        """A turn about $d_1$ and one about $e_2$."""
        return Subspace.of((frames.first[:, 0], None), (frames.second[:, 1], None))

    def coordinates(self, frames: Frames):
        """The angle about $d_1$, then that about $e_2$."""
        about_first = jnp.arctan2(frames.cosine(2, 1), frames.cosine(1, 1))
        return jnp.stack([about_first, jnp.arctan2(frames.cosine(0, 2), frames.cosine(0, 0))])

    def motions(self) -> tuple[Motion, ...]:
        """A turn about $d_1$, then one about $e_2$."""
        return Motion(turn=X), Motion(turn=Y)
