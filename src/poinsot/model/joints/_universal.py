"""A universal joint, after Cardano and Hooke."""

from typing import ClassVar, Unpack

import jax.numpy as jnp

from ._base import AbstractJoint, Frames, Site
from ._site import Where


class Universal(AbstractJoint):
    r"""Rotations about an axis of the first body and one of the second that stay perpendicular.

    $$ u = 0, \qquad d_1\cdot e_2 = 0. $$

    Symbols and arguments are those of `AbstractJoint`.
    """

    rows: ClassVar[int] = 4
    site: Site

    def __init__(self, first: str, second: str, **where: Unpack[Where]):
        self.site = Site("Universal", first, second, where)

    def residual(self, frames: Frames):
        """The conditions above."""
        return jnp.concatenate([frames.apart, frames.cosine(0, 1)[None]])
