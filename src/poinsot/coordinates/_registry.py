"""Coordinates by name: one line each feeds `coordinates=`, scenario files and the command line."""

from collections.abc import Callable
from typing import Any

from poinsot.coordinates._base import AbstractOrientation
from poinsot.coordinates._directors import Directors
from poinsot.coordinates._euler_angles import EulerAngles
from poinsot.coordinates._group import Group
from poinsot.coordinates._joint import Joint
from poinsot.coordinates._quaternions import Quaternions
from poinsot.core import InputError, Registry, check_called, checked

REGISTRY: Registry[Callable[..., AbstractOrientation]] = Registry(
    "coordinates",
    {
        "directors": Directors,
        "quaternions": Quaternions,
        "euler-angles": EulerAngles,
        "group": Group,
        "joint": Joint,
    },
)


def names() -> tuple[str, ...]:
    """Names of all coordinates."""
    return tuple(REGISTRY)


@checked
def by_name(name: str) -> AbstractOrientation:
    """The coordinates of that name, with their default options.

    Args:
        name: one of `names()`; underscores may stand for hyphens.

    Raises:
        InputError: for an unknown name; it suggests near ones.
    """
    return REGISTRY.find(name)()


def as_coordinates(coordinates: Any) -> AbstractOrientation:
    """Coordinates, from themselves or from their name.

    Raises:
        InputError: for an unknown name, or for something else, such as a class in place of coordinates.
    """
    if isinstance(coordinates, str):
        return by_name(coordinates)
    if isinstance(coordinates, AbstractOrientation):
        return coordinates
    check_called("coordinates", coordinates)
    raise InputError(
        f"coordinates must be one of pt.coordinates, or a name such as 'quaternions', "
        f"got {type(coordinates).__name__}"
    )
