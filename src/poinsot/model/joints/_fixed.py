"""A weld."""

from typing import ClassVar, Unpack

import jax.numpy as jnp

from ._base import AbstractJoint, Frames, Site
from ._site import Where


class Fixed(AbstractJoint):
    r"""No relative motion at all.

    $$ u = 0, \qquad d_1\cdot e_2 = d_2\cdot e_3 = d_3\cdot e_1 = 0. $$

    Symbols and arguments are those of `AbstractJoint`.
    """

    rows: ClassVar[int] = 6
    site: Site

    def __init__(self, first: str, second: str, **where: Unpack[Where]):
        self.site = Site("Fixed", first, second, where)

    def residual(self, frames: Frames):
        """The conditions above."""
        return jnp.concatenate(
            [frames.apart, jnp.stack([frames.cosine(0, 1), frames.cosine(1, 2), frames.cosine(2, 0)])]
        )
