"""Limits of joints: how far their coordinates are from them, as a stop condition of runs."""

from collections.abc import Iterator, Mapping
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, Printable

from ._joint_coordinate import Held, JointCoordinate, chosen

AT_LIMIT = 1e-9
"""How near to a limit a start is at it, relative to one plus half the way between the limits."""


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
        return jnp.min(self.halves - jnp.abs(self.beyond(motion, counted)))

    def beyond(self, motion: Any, counted: Mapping[str, Array] | None) -> Float[Array, " k"]:
        """How far each coordinate is from the middle of its limits; arguments as of a call."""
        rows = zip(self.coordinates, self.middles, self.wide, strict=True)
        return jnp.stack(
            [
                _counted(one, counted) - middle
                if wide
                else one.beyond(middle, motion.position, motion.rotation)
                for one, middle, wide in rows
            ]
        )

    def from_start(self, beyond: Float[Array, " k"]) -> "JointLimits":
        """The limits of a run; where it starts at one, this is moved out by a little more than round-off.

        Args:
            beyond: how far each coordinate is from the middle of its limits at the start.

        Raises:
            InputError: a joint starts beyond a limit, so that it would not come to it.
        """
        middles, halves, off = (np.asarray(part) for part in (self.middles, self.halves, beyond))
        near, lows, highs = AT_LIMIT * (1.0 + halves), middles - halves, middles + halves
        for k in np.flatnonzero(np.abs(off) > halves + near)[:1]:
            one, limit = self.coordinates[k], lows[k] if off[k] < 0.0 else highs[k]
            name, now = (one.joint.freedoms or ())[one.place], middles[k] + off[k]
            raise InputError(
                f"{name} = {now:.6g} of {one.joint.label} is beyond its limit {limit:.6g} at the start; "
                f"start between {lows[k]:.6g} and {highs[k]:.6g}, or leave stop out"
            )
        lows = np.where(off < near - halves, lows - 2.0 * near, lows)
        highs = np.where(off > halves - near, highs + 2.0 * near, highs)
        moved = jnp.asarray(0.5 * (lows + highs)), jnp.asarray(0.5 * (highs - lows))
        return eqx.tree_at(lambda one: (one.middles, one.halves), self, moved)


def _counted(one: JointCoordinate, counted: Mapping[str, Array] | None) -> Array:
    """An angle with its turns."""
    if counted is None or one.joint.name not in counted:
        raise InputError(
            f"limits of {one.joint.label} are a turn or more apart, and coordinates of bodies do not count "
            "turns; run in pt.coordinates.Joint(), with the joint in the tree"
        )
    return counted[one.joint.name][one.place]
