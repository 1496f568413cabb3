"""Elementary motions that a joint is made of, one after the other."""

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.rotation import exp

from ._frames import Vec3

NONE = (0.0, 0.0, 0.0)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


class Motion(NamedTuple):
    r"""A turn by $c\,w$ and a way of $c\,s$ at the coordinate $c$, along directions that it does not change.

    Both are components in the directions that the motions before it have made of those of the first marker.
    """

    turn: Vec3 | tuple[float, float, float] = NONE
    """A unit vector $w$, or zero."""
    slide: Vec3 | tuple[float, float, float] = NONE
    """The vector $s$: zero, or any where there is no turn, or along it."""


def placed(motions: Sequence[Motion], c: Float[Array, " k"]) -> tuple[Float[Array, "3 3"], Float[Array, "3"]]:
    """Rotation and place of the second marker in the first after these motions."""
    rotation, apart = jnp.eye(3), jnp.zeros(3)
    for motion, by in zip(motions, c, strict=True):
        apart = apart + rotation @ (by * jnp.asarray(motion.slide))
        rotation = rotation @ exp(by * jnp.asarray(motion.turn))
    return rotation, apart
