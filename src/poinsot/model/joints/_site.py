"""Where a joint is: two bodies by name, a point and an axis in each."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import (
    NAME,
    InputError,
    Printable,
    as_array,
    check_keywords,
    concrete,
    did_you_mean,
    known_names,
    on_device,
    quoted,
)
from poinsot.kernels import at_once

from .._vectors import as_direction, turned_back
from ..potentials._marker import Marker

GROUND = "ground"
"""Name of the body that does not move."""
SAME = 1e-9
Pose = tuple[Float[Array, "3"], Float[Array, "3 3"]]


class Where(TypedDict, total=False):
    """How people say where a joint is.

    Either in space, with the bodies in their reference poses, or in both bodies.
    """

    at: Any
    """Its point in space."""
    at_first: Any
    """Its point in the first body, relative to the mass centre; of the ground in space."""
    at_second: Any
    axis: Any
    """Its axis in space."""
    axis_first: Any
    axis_second: Any
    limits: Any
    """Least and largest value of its coordinate; of several a dictionary with a pair for some of them."""
    largest_effort: Any
    """Largest torque or force of its motor, by coordinate likewise."""
    largest_velocity: Any
    """Largest rate of its coordinate, by coordinate likewise."""
    name: Annotated[str, NAME] | None


_ARGUMENTS = f"it takes {', '.join(Where.__annotations__)}"


class Site(Printable):
    """The bodies that a joint joins, its points and axes in them.

    Args:
        kind: of the joint, for messages.
        first: name of a body, or "ground".
        second: name of another.
        where: see `Where`. The axis is z unless it is given.
    """

    at: Float[Array, "3"] | None
    points: tuple[Float[Array, "3"], Float[Array, "3"]] | None
    axes: tuple[Float[Array, "3"], Float[Array, "3"]]
    kind: str = eqx.field(static=True)
    ends: tuple[str, str] = eqx.field(static=True)
    name: str = eqx.field(static=True)
    in_bodies: bool = eqx.field(static=True)
    """Whether the axes are given in the bodies."""
    limits: tuple[tuple[str | None, float, float], ...] = eqx.field(static=True)
    """Coordinates with their least and largest values."""
    largest_effort: tuple[tuple[str | None, float], ...] = eqx.field(static=True)
    """Coordinates with their largest torques or forces."""
    largest_velocity: tuple[tuple[str | None, float], ...] = eqx.field(static=True)
    """Coordinates with their largest rates."""

    def __init__(self, kind: str, first: str, second: str, where: Where):
        for end in (first, second):
            if not isinstance(end, str):
                raise InputError(f"{kind} joins {quoted(end)}; it must be the name of a body, or 'ground'")
        check_keywords(Where, where, f"the {kind} joint of {first} and {second}")
        self.kind, self.ends, self.name = kind, (first, second), where.get("name") or f"{first}-{second}"
        if first == second:
            raise InputError(f"{self} joins {first!r} to itself; name two different bodies")
        for key in set(where) - set(Where.__annotations__):
            raise InputError(
                f"{self} has no argument {key!r}; {did_you_mean(key, Where.__annotations__, _ARGUMENTS)}"
            )
        at, points = where.get("at"), (where.get("at_first"), where.get("at_second"))
        given = [point is not None for point in points]
        if any(given) != all(given) or all(given) == (at is not None):
            raise InputError(
                f"{self}: give its point either as at=... in space, or as at_first=... and at_second=... in "
                "the two bodies"
            )
        self.at = None if at is None else as_array(at, f"at of {self}", (3,))
        self.points = None
        if at is None:
            fields = (f"{label} of {self}" for label in ("at_first", "at_second"))
            first_point, second_point = (as_array(p, f, (3,)) for p, f in zip(points, fields, strict=True))
            self.points = first_point, second_point
        own: Any = where.get("axis_first"), where.get("axis_second")
        if (own[0] is None) != (own[1] is None) or (own[0] is not None and where.get("axis") is not None):
            raise InputError(
                f"{self}: give its axis either as axis=... or as axis_first=... and axis_second=..."
            )
        self.in_bodies = own[0] is not None
        axis: Any = own[0] if self.in_bodies else where.get("axis", (0.0, 0.0, 1.0))
        first_axis = as_direction(axis, f"axis of {self}")
        self.axes = first_axis, as_direction(own[1], f"axis of {self}") if self.in_bodies else first_axis
        self.limits = self._limits(where.get("limits"))
        self.largest_effort = self._largest("largest_effort", where.get("largest_effort"))
        self.largest_velocity = self._largest("largest_velocity", where.get("largest_velocity"))

    def __str__(self) -> str:
        first, second = self.ends
        own = f"{self.kind} joint {self.name!r}"
        return own if self.name == f"{first}-{second}" else f"{own} of {first} and {second}"

    def _limits(self, given: Any) -> tuple[tuple[str | None, float, float], ...]:
        """Limits by coordinate; None stands for the only one."""
        limits = []
        for coordinate, pair in _by_coordinate(given, f"limits of {self}").items():
            low, high = np.asarray(as_array(pair, f"limits of {self}", (2,))).tolist()
            if not low <= high:
                raise InputError(
                    f"limits of {self} = ({low:g}, {high:g}); the first must not be above the second"
                )
            limits.append((coordinate, low, high))
        return tuple(limits)

    def _largest(self, field: str, given: Any) -> tuple[tuple[str | None, float], ...]:
        """Largest sizes by coordinate; None stands for the only one."""
        found = []
        for coordinate, value in _by_coordinate(given, f"{field} of {self}").items():
            size = float(np.asarray(as_array(value, f"{field} of {self}", ())))
            if not size > 0.0:
                raise InputError(f"{field} of {self} = {size:g}; it must be positive, left out if not known")
            found.append((coordinate, size))
        return tuple(found)

    def markers(self, names: Sequence[str], reference: Mapping[str, Pose]) -> tuple[Marker, Marker]:
        """The places of the joint in its bodies.

        Args:
            names: of the bodies of the system.
            reference: poses of bodies that do not stand at the origin, unturned, when the joint is put there.
        """
        for end in self.ends:
            if end != GROUND and end not in names:
                raise InputError(
                    f"{self} joins {quoted(end)}, which is no body; {known_names(end, [*names, GROUND])}"
                )
        markers = []
        for k, end in enumerate(self.ends):
            frame, point = frame_about(self.axes[k]), self.at if self.points is None else self.points[k]
            assert point is not None
            if end != GROUND and end in reference:
                own = _from_space(reference[end], point, frame)
                point = own[0] if self.points is None else point
                frame = frame if self.in_bodies else own[1]
            same = concrete(frame) and np.array_equal(np.asarray(frame), np.eye(3))
            body = None if end == GROUND else names.index(end)
            markers.append(Marker(body, point, None if same else frame))
        return markers[0], markers[1]


@at_once
def _from_space(pose: Pose, point: Float[Array, "3"], frame: Float[Array, "3 3"]) -> tuple[Array, Array]:
    """A point and directions in space, seen from a body."""
    position, rotation = pose
    return turned_back(rotation, point - position), rotation.T @ frame


def _by_coordinate(given: Any, field: str) -> Mapping[str | None, Any]:
    """What is given for each coordinate; None stands for the only one."""
    if isinstance(given, Mapping):
        if not given or not all(isinstance(name, str) for name in given):
            raise InputError(f"{field} = {quoted(given)}; it must have a value for a coordinate by name")
        return given
    return {} if given is None else {None: given}


def frame_about(axis: Float[Array, "3"]) -> Float[Array, "3 3"]:
    """Three orthonormal directions as columns, of which the third is a unit vector."""
    # Known numbers are worked out by NumPy: there may be thousands of axes, and operations of JAX take long.
    xp: Any = np if concrete(axis) else jnp
    axis = xp.asarray(axis)
    # Unit vectors along the coordinate axes have frames of zeros and ones, which cost nothing later.
    # The direction furthest from the axis, the first of several that are as far to round-off.
    along = xp.abs(axis)
    away = xp.argmax(along <= xp.min(along) + SAME)
    helper = xp.eye(3)[away]
    one = helper - (helper @ axis) * axis
    one = one / xp.sqrt(one @ one)
    return on_device(xp.stack([one, xp.cross(axis, one), axis], axis=1))
