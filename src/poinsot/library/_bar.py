"""A slender bar, of which many mechanisms are made."""

from jaxtyping import ArrayLike

from poinsot.core import plain
from poinsot.model import RigidBody

THICKNESS = 1e-3
"""Moment of a bar about its own axis, over mass and squared length."""


def bar(name: str, mass: ArrayLike = 1.0, length: ArrayLike = 1.0) -> RigidBody:
    r"""A slender bar along its x axis, $J = m l^2\,(10^{-3}, \tfrac1{12}, \tfrac1{12})$."""
    scale = plain(mass) * plain(length) ** 2
    return RigidBody(mass, tuple(scale * part for part in (THICKNESS, 1.0 / 12.0, 1.0 / 12.0)), name=name)
