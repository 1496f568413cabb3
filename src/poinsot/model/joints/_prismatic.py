"""A slide."""

from typing import ClassVar, Unpack

import jax.numpy as jnp

from ._base import AbstractJoint
from ._frames import Frames, Subspace
from ._motion import Motion, Z
from ._site import Site, Where


class Prismatic(AbstractJoint):
    r"""Translation along an axis: one degree of freedom.

    $$ d_1\cdot u = d_2\cdot u = 0, \qquad d_1\cdot e_2 = d_2\cdot e_3 = d_3\cdot e_1 = 0. $$

    Symbols and arguments are those of `AbstractJoint`.
    """

    rows: ClassVar[int] = 5
    freedoms: ClassVar[tuple[str, ...] | None] = ("position",)
    site: Site

    def __init__(self, first: str, second: str, **where: Unpack[Where]):
        self.site = Site("Prismatic", first, second, where)

    def residual(self, frames: Frames):
        """The conditions above."""
        return jnp.stack(
            [frames.along(0), frames.along(1), frames.cosine(0, 1), frames.cosine(1, 2), frames.cosine(2, 0)]
        )

    def subspace(self, frames: Frames) -> Subspace:
        """A slide along the axis."""
        return Subspace.of((None, frames.first[:, 2]))

    def coordinates(self, frames: Frames):
        """The way along the axis."""
        return frames.along(2)[None]

    def motions(self) -> tuple[Motion, ...]:
        """A slide along the axis."""
        return (Motion(slide=Z),)
