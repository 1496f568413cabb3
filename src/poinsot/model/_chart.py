"""How a system is told coordinates of rotations, whatever they are."""

from collections.abc import Callable
from typing import NamedTuple

from jaxtyping import Array


def _itself(R: Array) -> Array:
    return R


class Chart(NamedTuple):
    """Coordinates of rotations, as a way there and back."""

    rotation: Callable[[Array], Array]
    """Rotation matrices (3, 3, n) of coordinates of many bodies, along the last axis."""
    coordinates: Callable[[Array], Array]
    """Coordinates of one rotation matrix."""


MATRICES = Chart(_itself, _itself)
"""Rotation matrices themselves."""
