"""Limits of joints: how far their coordinates are from them, as a stop condition of runs."""

from collections.abc import Iterator, Mapping
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, Printable

from ._joint_coordinate import Held, JointCoordinate, chosen


def limited_coordinates(held: Held) -> Iterator[tuple[JointCoordinate, float, float]]:
    """Coordinates that have limits, with these.

    Raises:
        InputError: a joint has no such coordinate.
    """
    for name, (joint, _, _) in held.items():
        for coordinate, low, high in joint.site.limits:
            yield chosen(held, name, coordinate, None, f"limits of {joint.label}"), low, high


def check_data(held: Held) -> None:
    """Refuse limits, largest efforts and largest velocities of coordinates that a joint does not have."""
    list(limited_coordinates(held))
    for name, (joint, _, _) in held.items():
        for field in ("largest_effort", "largest_velocity"):
            for coordinate, _ in getattr(joint.site, field):
                chosen(held, name, coordinate, None, f"{field} of {joint.label}")


class JointLimits(Printable):
    """The least distance of joint coordinates from their limits, negative beyond them.

    It is a function of the motion of the bodies: `pt.simulate(..., stop=system.limits)` ends a run where a
    joint comes to a limit. Poses tell angles up to whole turns, so limits of an angle that are a turn or more
    apart need joint coordinates, which count turns.
    """

    coordinates: tuple[JointCoordinate, ...]
    middles: Float[Array, " k"]
    halves: Float[Array, " k"]
    """Half the way between the limits."""
    wide: tuple[bool, ...] = eqx.field(static=True)
    """Whether the limits are those of an angle, a turn or more apart."""

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
        wide = [one.angular and half >= np.pi for one, half in zip(found, halves, strict=True)]
        return cls(found, jnp.asarray(middles), jnp.asarray(halves), tuple(map(bool, wide)))

    def __call__(self, motion: Any, counted: Mapping[str, Array] | None = None) -> Float[Array, ""]:
        """The least distance at a motion of the bodies.

        Args:
            motion: has the `position` and `rotation` of all bodies.
            counted: coordinates of joints by name, with angles that count turns.

        Raises:
            InputError: limits are a turn or more apart, and `counted` does not have the joint.
        """
        rows = zip(self.coordinates, self.middles, self.halves, self.wide, strict=True)
        off = []
        for one, middle, half, wide in rows:
            if wide:
                beyond = _counted(one, counted) - middle
            else:
                beyond = one.beyond(middle, motion.position, motion.rotation)
            off.append(half - jnp.abs(beyond))
        return jnp.min(jnp.stack(off))


def _counted(one: JointCoordinate, counted: Mapping[str, Array] | None) -> Array:
    """An angle with its turns."""
    if counted is None or one.joint.name not in counted:
        raise InputError(
            f"limits of {one.joint.label} are a turn or more apart, and coordinates of bodies do not count "
            "turns; run in pt.coordinates.Joint(), with the joint in the tree"
        )
    return counted[one.joint.name][one.place]
