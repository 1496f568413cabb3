"""A plate on a table."""

from typing import ClassVar, Unpack

import jax.numpy as jnp

from ._base import AbstractJoint, Frames, Site
from ._site import Where


class Planar(AbstractJoint):
    r"""Motion in a plane across the axis: two translations and a rotation.

    $$ d_3\cdot u = 0, \qquad d_3\cdot e_1 = d_3\cdot e_2 = 0. $$

    Symbols and arguments are those of `AbstractJoint`.
    """

    rows: ClassVar[int] = 3
    site: Site

    def __init__(self, first: str, second: str, **where: Unpack[Where]):
        self.site = Site("Planar", first, second, where)

    def residual(self, frames: Frames):
        """The conditions above."""
        return jnp.stack([frames.along(2), frames.cosine(2, 0), frames.cosine(2, 1)])
