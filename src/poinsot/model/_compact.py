"""Which form the joints of a system take in equations: written out, or in loops."""

from typing import overload

from jaxtyping import Array, Float

from ._linkage import Linkage
from ._long_linkage import LongLinkage
from ._serial_linkage import SerialLinkage, serial

ROW = 6
"""Links from which an open chain of equal joints is gone through in loops."""
MANY = 12
"""Conditions from which any joints are: fewer of them run faster written out."""
KINDS = 12
"""Largest number of kinds of conditions there: each is a loop of its own."""

AnyLinkage = Linkage | SerialLinkage | LongLinkage
"""The joints of a system in one of their forms."""


@overload
def compact(linkage: Linkage) -> AnyLinkage: ...


@overload
def compact(linkage: None) -> None: ...


def compact(linkage: Linkage | None) -> AnyLinkage | None:
    """The joints in loops where there are many, so that code and time to compile do not grow with them.

    A chain of equal joints along the list of bodies is a `SerialLinkage`, anything else a `LongLinkage`
    unless there are too many kinds of joints, or a joint takes hold of a body that a freedom or a given
    motion holds in part.
    """
    if linkage is None or len(linkage.conditions) < ROW:
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


def _between_free_bodies(linkage: Linkage) -> bool:
    """Whether each joint joins bodies with six freedoms, the ground or clamped bodies."""
    grips = [grip for pair in linkage.grips for grip in pair]
    whole = all((grip.moving is None) == (grip.turning is None) for grip in grips)
    return whole and not linkage.placement.driven
