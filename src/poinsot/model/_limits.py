"""Limits of joints: how far their coordinates are from them, as a stop condition of runs."""

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, Printable

from ._joint_coordinate import Held, JointCoordinate, chosen


def limited_coordinates(held: Held) -> Iterator[tuple[JointCoordinate, float, float]]:
    """Coordinates that have limits, with these.

    Raises:
        InputError: a joint has no such coordinate, or limits that an angle cannot have.
    """
    for name, (joint, _, _) in held.items():
        for coordinate, low, high in joint.site.limits:
            one = chosen(held, name, coordinate, None, f"limits of {joint.label}")
            if one.angular and not high - low < 2.0 * np.pi:
                raise InputError(
                    f"limits of {joint.label} = ({low:g}, {high:g}) span a turn or more; angles are known up "
                    "to whole turns, give limits less than 2 pi apart"
                )
            yield one, low, high


class JointLimits(Printable):
    """The least distance of joint coordinates from their limits, negative beyond them.

    It is a function of the motion of the bodies: `pt.simulate(..., stop=system.limits)` ends a run where a
    joint comes to a limit.
    """

    coordinates: tuple[JointCoordinate, ...]
    middles: Float[Array, " k"]
    halves: Float[Array, " k"]
    """Half the way between the limits."""

    @classmethod
    def of(cls, held: Held) -> "JointLimits":
        """Those of all joints.

        Raises:
            InputError: there are none.
        """
        limited = list(limited_coordinates(held))
        if not limited:
            raise InputError("no joint has limits; give them as limits=(low, high) of a joint")
        found, lows, highs = zip(*limited, strict=True)
        middles, halves = 0.5 * np.add(highs, lows), 0.5 * np.subtract(highs, lows)
        return cls(found, jnp.asarray(middles), jnp.asarray(halves))

    def __call__(self, motion: Any) -> Float[Array, ""]:
        """The least distance at a motion of the bodies, with `position` and `rotation`."""
        off = [
            half - jnp.abs(one.beyond(middle, motion.position, motion.rotation))
            for one, middle, half in zip(self.coordinates, self.middles, self.halves, strict=True)
        ]
        return jnp.min(jnp.stack(off))
