"""Which form the joints of a system take in equations: written out, or in loops."""

from typing import overload

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Twist

from ._linkage import Linkage
from ._long_linkage import LongLinkage
from ._long_tree import Visit
from ._serial import serial
from ._serial_linkage import SerialLinkage
from ._tree_motion import Rates, expanded, reduced

ROW = 6
"""Links from which an open chain of equal joints is gone through in loops."""
MANY = 12
"""Conditions from which any joints are: fewer of them run faster written out."""
KINDS = 12
"""Largest number of kinds of conditions there: each is a loop of its own."""

AnyLinkage = Linkage | SerialLinkage | LongLinkage
"""The joints of a system in one of their forms."""


@overload
def compact(linkage: Linkage, least: int = ROW) -> AnyLinkage: ...


@overload
def compact(linkage: None, least: int = ROW) -> None: ...


def compact(linkage: Linkage | None, least: int = ROW) -> AnyLinkage | None:
    """The joints in loops where there are many, so that code and time to compile do not grow with them.

    A chain of equal joints along the list of bodies is a `SerialLinkage`, anything else a `LongLinkage`
    unless there are too many kinds of joints, or a joint takes hold of a body that a freedom or a given
    motion holds in part.

    Args:
        linkage: the joints.
        least: number of conditions from which a chain goes in loops.
    """
    if linkage is None or len(linkage.conditions) < least:
        return linkage
    row = serial(linkage)
    if row is not None:
        return row
    if len(linkage.conditions) < MANY or not _between_free_bodies(linkage):
        return linkage
    long = LongLinkage(linkage)
    return long if len(long.kinds) <= KINDS else linkage


def jacobians_of(linkage: Linkage, t, x: Array, R: Array) -> list[Float[Array, "rows part"]]:
    """Jacobians of all conditions, each in the numbers of the twist that move it."""
    held = compact(linkage)
    return held.jacobians(t, x, R) if isinstance(held, LongLinkage) else linkage.at(t, x, R, 0.0).jacobians


def expanded_along(linkage: AnyLinkage, t, x: Array, R: Array, rates: Rates) -> Twist:
    """The twist of rates along the tree, see `expanded`."""
    if isinstance(linkage, Linkage):
        return expanded(linkage, t, x, R, rates)
    return linkage.tree.expanded(_visiting(linkage, t, x, R), x, R, rates)


def reduced_along(linkage: AnyLinkage, t, x: Array, R: Array, twist: Twist) -> Rates:
    """The rates along the tree of a twist, see `reduced`."""
    if isinstance(linkage, Linkage):
        return reduced(linkage, t, x, R, twist)
    return linkage.tree.reduced(_visiting(linkage, t, x, R), x, R, twist)


def redundant_diagonal(linkage: AnyLinkage, t, x: Array, R: Array) -> Float[Array, " k"] | None:
    r"""Diagonal of $G M^{-1} G^T$ where conditions may be redundant, else None, as for a row of joints."""
    if linkage.independent or isinstance(linkage, SerialLinkage):
        return None
    return linkage.flat(linkage.at(t, x, R, 0.0).diagonal)


def _visiting(linkage: SerialLinkage | LongLinkage, t, x: Array, R: Array) -> Visit:
    """What looks at all conditions at a pose."""
    return lambda function: linkage.visit(function, t, x, R, jnp.zeros_like(linkage.weights))


def _between_free_bodies(linkage: Linkage) -> bool:
    """Whether each joint joins bodies with six freedoms, the ground or clamped bodies."""
    grips = [grip for pair in linkage.grips for grip in pair]
    whole = all((grip.moving is None) == (grip.turning is None) for grip in grips)
    return whole and not linkage.placement.driven
