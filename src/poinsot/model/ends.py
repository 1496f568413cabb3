"""What the ends of a chain do: the boundary conditions of its first and last body."""

from collections.abc import Callable
from typing import Any

from jaxtyping import Array, Float

from poinsot.core import Checked, InputError, Printable, Registry, checked, quoted

from ._checks import Numbers, as_array, shown
from .freedom import AbstractFreedom, Clamped, FixedPoint, Free, Guided, Prescribed

__all__ = ["REGISTRY", "End", "clamped", "displaced", "force", "free", "prescribed"]


class End(Printable, Checked):
    """The boundary condition of the first or the last body of a chain.

    Args:
        freedom: what the body may do; None for one that is clamped where the straight chain has it.
        force: constant force on it, in space; None without.

    Raises:
        InputError: it is to turn about another point than its mass centre.
    """

    freedom: AbstractFreedom | None
    force: Float[Array, "3"] | None = None

    def __check_init__(self):
        if isinstance(self.freedom, FixedPoint) and self.freedom.components:
            raise InputError(
                f"an end turns about its mass centre, not about point = {shown(self.freedom.point)}; "
                "take pt.ends.displaced(d)"
            )


def free() -> End:
    """The body moves and turns like any other."""
    return End(Free())


@checked
def clamped(position: Numbers | None = None, rotation: Any = None) -> End:
    """The body does not move (c1).

    Args:
        position: of its mass centre; that in the straight chain when left out.
        rotation: a quaternion or a matrix; none when left out.
    """
    if position is None and rotation is None:
        return End(None)
    if position is None:
        raise InputError("clamped has a rotation and no position; give both, clamped(position, rotation)")
    return End(Clamped(position, rotation))


@checked
def force(force: Numbers) -> End:
    r"""The body is free and a constant force F acts on its mass centre (c2).

    Its work is part of the energy, $V = \dots - F\cdot x$.

    Args:
        force: F, three numbers in space.
    """
    return End(Free(), as_array(force, "force of the end", (3,)))


@checked
def displaced(position: Numbers | Callable, *, params: Any = None) -> End:
    """The mass centre is held at a place, and the body free to turn about it (c3).

    Args:
        position: the place, three numbers; or a function of time for an end that is moved, `d(t) -> (3,)` or
            `d(t, params) -> (3,)`.
        params: of the function, any pytree of numbers; those of the chain when left out.
    """
    if callable(position):
        return End(Guided(position, params=params))
    return End(FixedPoint((0.0, 0.0, 0.0), as_array(position, "position of the displaced end", (3,))))


@checked
def prescribed(motion: Callable, *, params: Any = None) -> End:
    """The body moves and turns as a given function of time.

    Args:
        motion: `motion(t) -> (x, R)`, see `pt.freedom.Prescribed`.
        params: of the function, any pytree of numbers; those of the chain when left out.
    """
    return End(Prescribed(motion, params=params))


REGISTRY: Registry[Callable[..., End]] = Registry(
    "end", {"free": free, "clamped": clamped, "force": force, "displaced": displaced}
)

NAMED: dict[str, Callable[[], End]] = {"free": free, "clamped": clamped}
"""Ends that need no numbers, by name."""


def as_end(value: Any, field: str) -> End:
    """An end from what people give."""
    if isinstance(value, End):
        return value
    if isinstance(value, str) and value in NAMED:
        return NAMED[value]()
    raise InputError(
        f"{field} = {quoted(value)} is not known; an end is 'clamped', 'free', pt.ends.force(F), "
        "pt.ends.displaced(d) or pt.ends.prescribed(motion); a chain without ends is 'ring' or 'periodic'"
    )
