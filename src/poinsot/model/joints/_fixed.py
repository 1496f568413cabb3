"""A weld."""

from typing import ClassVar, Unpack

import jax.numpy as jnp

from ._base import AbstractJoint
from ._frames import Frames, Subspace
from ._motion import Motion
from ._site import Site, Where


class Fixed(AbstractJoint):
    r"""No relative motion at all.

    $$ u = 0, \qquad d_1\cdot e_2 = d_2\cdot e_3 = d_3\cdot e_1 = 0. $$

    Symbols and arguments are those of `AbstractJoint`.
    """

    rows: ClassVar[int] = 6
    freedoms: ClassVar[tuple[str, ...] | None] = ()
    site: Site

    def __init__(self, first: str, second: str, **where: Unpack[Where]):
        self.site = Site("Fixed", first, second, where)

    def residual(self, frames: Frames):
        """The conditions above."""
        return jnp.concatenate(
            [frames.apart, jnp.stack([frames.cosine(0, 1), frames.cosine(1, 2), frames.cosine(2, 0)])]
        )

    def subspace(self, frames: Frames) -> Subspace:
        """None."""
        return Subspace(jnp.zeros((3, 0)), jnp.zeros((3, 0)))

    def coordinates(self, frames: Frames):
        """None."""
        return jnp.zeros(0)

    def motions(self) -> tuple[Motion, ...]:
        """None."""
        return ()
