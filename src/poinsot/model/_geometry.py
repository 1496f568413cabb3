"""Shapes of bodies as files give them: data for pictures, which the mechanics do not look at."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from poinsot.core import InputError, quoted

from .joints._site import GROUND

KINDS = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "ellipsoid": 3, "plane": 3, "mesh": 3}
"""How many numbers each has for its size."""


@dataclass(frozen=True)
class Geometry:
    """A shape that is fixed to a body, or to the ground."""

    body: str
    kind: str
    """"box", "sphere", "cylinder", "capsule", "ellipsoid", "plane" or "mesh"."""
    size: tuple[float, ...]
    """Lengths of the edges of a box or plane; radius; radius and length along z; three half-axes; scales."""
    position: tuple[float, ...] = (0.0, 0.0, 0.0)
    """Of its origin in the body frame, relative to the mass centre; on the ground in space."""
    quaternion: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0)
    role: str = "visual"
    """"visual" or "collision"."""
    mesh: str | None = None
    """Path of a mesh; its name in the file where that is no path from the folder of the file."""


def as_geometry(given: Sequence[Any], names: Sequence[str]) -> tuple[Geometry, ...]:
    """Shapes of the bodies of a system.

    Raises:
        InputError: one line that names the shape, the field and its value.
    """
    for shape in given:
        if not isinstance(shape, Geometry):
            raise InputError(f"geometry has {quoted(shape)}; it must hold pt.model.Geometry")
        if shape.kind not in KINDS:
            raise InputError(
                f"geometry of {shape.body!r}: kind = {shape.kind!r}; it is one of {', '.join(KINDS)}"
            )
        if len(shape.size) != KINDS[shape.kind]:
            raise InputError(
                f"geometry of {shape.body!r}: size = {quoted(shape.size)}; a {shape.kind} has "
                f"{KINDS[shape.kind]} numbers"
            )
        if shape.body != GROUND and shape.body not in names:
            raise InputError(f"geometry is on {shape.body!r}, which is no body; name one, or 'ground'")
    return tuple(given)
