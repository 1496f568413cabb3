"""Two markers as a joint sees them, and how one may move against the other."""

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

Vec3 = Float[Array, "3"]


class Frames(NamedTuple):
    """Two markers as a joint sees them, in space."""

    apart: Vec3
    """From the point of the first to that of the second."""
    first: Float[Array, "3 3"]
    """Directions of the first as columns; the third is the axis of the joint."""
    second: Float[Array, "3 3"]
    """Directions of the second. Where the joint was put together they are those of the first."""

    def along(self, direction: int) -> Array:
        """Component of `apart` in a direction of the first."""
        return self.apart @ self.first[:, direction]

    def cosine(self, first: int, second: int) -> Array:
        """Cosine of the angle between a direction of the first and one of the second."""
        return self.first[:, first] @ self.second[:, second]

    def angle(self) -> Array:
        """Angle from the first direction of the first to that of the second, about the axis of the first."""
        return jnp.arctan2(self.cosine(1, 0), self.cosine(0, 0))


class Subspace(NamedTuple):
    r"""Motion subspace $S$ of a joint: relative motions of the second body, one column for each rate.

    At rates $\nu$ the second body turns at $S_\omega \nu$ against the first, and its point moves at
    $S_v \nu$ against the point of the first body that is there.
    """

    turn: Float[Array, "3 k"]
    r"""The columns of $S_\omega$, in space."""
    slide: Float[Array, "3 k"]
    r"""The columns of $S_v$, in space."""

    @classmethod
    def of(cls, *columns: tuple[Vec3 | None, Vec3 | None]) -> "Subspace":
        """From pairs of a turn and a slide; None stands for zero."""
        none = jnp.zeros(3)
        turns, slides = (
            [none if one is None else one for one in part] for part in zip(*columns, strict=True)
        )
        return cls(_columns(turns), _columns(slides))


def _columns(vectors: Sequence[Array]) -> Array:
    return jnp.stack(vectors, axis=1)
