"""A ball in a socket."""

from typing import ClassVar, Unpack

import jax.numpy as jnp

from poinsot.rotation import exp, log

from ._base import AbstractJoint
from ._frames import Frames, Subspace
from ._site import Site, Where


class Spherical(AbstractJoint):
    r"""Two points that stay together: three free rotations.

    $$ u = 0. $$

    Symbols and arguments are those of `AbstractJoint`.
    """

    rows: ClassVar[int] = 3
    freedoms: ClassVar[tuple[str, ...] | None] = ("turn_x", "turn_y", "turn_z")
    site: Site

    def __init__(self, first: str, second: str, **where: Unpack[Where]):
        self.site = Site("Spherical", first, second, where)

    def residual(self, frames: Frames):
        """The conditions above."""
        return frames.apart

    def subspace(self, frames: Frames) -> Subspace:
        """Turns about the directions of the second body."""
        return Subspace(frames.second, jnp.zeros((3, 3)))

    def coordinates(self, frames: Frames):
        """Rotation vector of the second body against the first."""
        return log(frames.first.T @ frames.second)

    def placed(self, c):
        """The second body turned by a rotation vector."""
        return exp(c), jnp.zeros(3)
