"""A nut on a thread."""

import math
from typing import ClassVar, Unpack

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, as_array, concrete

from .._checks import Numbers
from ._base import AbstractJoint
from ._frames import Frames, Subspace
from ._motion import Motion, Z
from ._site import Site, Where


class Screw(AbstractJoint):
    r"""Rotation about an axis with a translation along it in proportion: one degree of freedom.

    $$ d_1\cdot u = d_2\cdot u = 0, \qquad d_3\cdot e_1 = d_3\cdot e_2 = 0, \qquad
       \tfrac{p}{2\pi}\,\sin\bigl(\vartheta - \tfrac{2\pi}{p}\,d_3\cdot u\bigr) = 0 $$

    with $u$ from the first point to the second, directions $d_k$, $e_k$ of the joint in the bodies, and
    $\cos\vartheta = d_1\cdot e_1$, $\sin\vartheta = d_2\cdot e_1$. The sine holds over any number of turns.

    Args:
        first: name of a body, or "ground".
        second: name of another.
        pitch: the way $p$ along the axis for a turn; negative for a left-handed thread.
        where: as for `Revolute`.
    """

    rows: ClassVar[int] = 5
    freedoms: ClassVar[tuple[str, ...] | None] = ("angle",)
    site: Site
    pitch: Float[Array, ""]

    def __init__(self, first: str, second: str, pitch: Numbers, **where: Unpack[Where]):
        self.site = Site("Screw", first, second, where)
        self.pitch = as_array(pitch, f"pitch of {self.site}", ())
        if concrete(self.pitch) and not np.any(np.asarray(self.pitch)):
            raise InputError(f"pitch of {self.site} is zero; take pt.joints.Revolute for no translation")

    def residual(self, frames: Frames):
        """The conditions above."""
        phase = 2.0 * math.pi / self.pitch * frames.along(2)
        turn = frames.cosine(1, 0) * jnp.cos(phase) - frames.cosine(0, 0) * jnp.sin(phase)
        across = [frames.along(0), frames.along(1), frames.cosine(2, 0), frames.cosine(2, 1)]
        return jnp.stack([*across, self.pitch / (2.0 * math.pi) * turn])

    def subspace(self, frames: Frames) -> Subspace:
        """A turn about the axis with its way along it."""
        axis = frames.first[:, 2]
        return Subspace.of((axis, self.pitch / (2.0 * math.pi) * axis))

    def coordinates(self, frames: Frames):
        """The angle about the axis."""
        return frames.angle()[None]

    def motions(self) -> tuple[Motion, ...]:
        """A turn about the axis with its way along it."""
        return (Motion(Z, self.pitch / (2.0 * math.pi) * jnp.asarray(Z)),)
