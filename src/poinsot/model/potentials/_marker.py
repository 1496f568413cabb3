"""Places that potentials act between."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Checked, InputError, Printable

from .._checks import Numbers, as_array
from .._places import as_body, body_field
from .._rotations import as_quaternion, rotation_matrix
from .._vectors import turned
from ._base import Directors, Positions


class Marker(Printable, Checked):
    """A place with three directions, fixed in a body or in space.

    Args:
        body: the body, by name or by its place in the list of bodies; None for space.
        point: where it is: body coordinates relative to the mass centre, or space coordinates.
        rotation: how its directions are turned against those of the body or of space, a quaternion or a
            matrix; not at all when left out.
    """

    point: Float[Array, "3"]
    rotation: Float[Array, "3 3"] | None
    body: int | None = body_field()

    def __init__(self, body: int | str | None, point: Numbers = (0.0, 0.0, 0.0), rotation: Any = None):
        self.body = None if body is None else as_body(body, "body of Marker")
        self.point = as_array(point, "point of Marker", (3,))
        self.rotation = None
        if rotation is not None:
            self.rotation = rotation_matrix(as_quaternion(rotation, "rotation of Marker"))

    def place(self, x: Positions, R: Directors) -> Float[Array, "3"]:
        """Where it is in space."""
        if self.body is None:
            return self.point
        return x[self.body] + turned(R[self.body], self.point)

    def directions(self, R: Directors) -> Float[Array, "3 3"]:
        """Its directions in space, as columns."""
        own = jnp.eye(3) if self.rotation is None else self.rotation
        return own if self.body is None else jnp.sum(R[self.body][:, :, None] * own[None], axis=1)


def as_ends(first: Any, second: Any, kind: str) -> tuple[Marker, Marker]:
    """Two markers on different bodies; three numbers are a place in space."""
    one, two = (end if isinstance(end, Marker) else _in_space(end, kind) for end in (first, second))
    if one.body == two.body:
        where = "in space" if one.body is None else f"on body {one.body!r}"
        raise InputError(
            f"both ends of {kind} are {where}, where it does nothing; put one elsewhere, Marker(body, point)"
        )
    return one, two


def _in_space(end: Any, kind: str) -> Marker:
    """A marker in space from its coordinates."""
    return Marker(None, as_array(end, f"an end of {kind}, if it is not a Marker,", (3,)))


def joined(first: Marker, second: Marker) -> tuple[int, ...]:
    """The bodies that two markers are on."""
    return tuple(end.body for end in (first, second) if end.body is not None)
