"""What people give a chain, brought into order: ends, bonds, and what its bodies may do."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from poinsot.core import InputError, as_count, quoted

from ._abstract_system import Positions
from ._bonds import AbstractBond, PoseBond, particle_bond
from ._chain_checks import check_bonds
from ._neighbours import Closure
from ._placement import Placement
from ._rigid_body import RigidBody
from .ends import End, as_end, free
from .freedom import AbstractFreedom, Clamped
from .potentials import AbstractPair, AbstractPosePair

FEWEST = 3
"""Bodies that a chain with two ends has at least."""
MOST = 10**7
"""Bodies that a chain has at most: one state of more fills gigabytes."""


def as_ends(given: Any) -> tuple[Closure, tuple[End, End]]:
    """How a chain is closed, and its ends."""
    if isinstance(given, str) and given in ("ring", "periodic"):
        return given, (free(), free())
    if isinstance(given, (str, End)):
        given = (given, given)
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise InputError(
            f"ends = {quoted(given)}; give one for the first and one for the last body, (first, last)"
        )
    for value in given:
        if isinstance(value, str) and value in ("ring", "periodic"):
            raise InputError(f"ends = {quoted(given)}; a chain without ends is ends={value!r}, by itself")
    first, last = (as_end(value, f"ends[{i}]") for i, value in enumerate(given))
    return "open", (first, last)


def check_count(count: Any, neighbours: Any, closure: Closure) -> None:
    """Refuse too few bodies, and more than a memory holds."""
    as_count(count, "count", most=MOST)
    as_count(neighbours, "neighbours", most=MOST)
    if closure == "open" and count < FEWEST:
        raise InputError(
            f"count = {count}; a chain with two ends has at least {FEWEST} bodies, ends included"
        )
    if closure == "open" and neighbours >= count:
        raise InputError(f"neighbours = {neighbours} with {count} bodies; at most {count - 1} can be reached")
    if closure != "open" and count <= 2 * neighbours:
        raise InputError(
            f"count = {count}; a {closure} chain with neighbours = {neighbours} needs more than "
            f"{2 * neighbours} bodies, so that no two act on each other twice"
        )


def as_bonds(potential: Any, body: RigidBody) -> tuple[AbstractBond, ...]:
    """Bonds from what people give as potential."""
    bonds: list[AbstractBond] = []
    for term in potential if isinstance(potential, (list, tuple)) else (potential,):
        if isinstance(term, AbstractPair):
            bonds.append(particle_bond(term, body.principal_points))
        elif isinstance(term, AbstractPosePair):
            bonds.append(PoseBond(term, body.axes))
        else:
            raise InputError(
                f"potential = {quoted(term)}; it must be a potential between particles such as "
                "pt.potentials.LennardJones(epsilon, sigma), of relative pose such as "
                "pt.potentials.PosePair(f), or a list of these"
            )
    check_bonds(bonds)
    return tuple(bonds)


def end_freedom(ends: tuple[End, End], straight: Positions) -> tuple[AbstractFreedom, AbstractFreedom]:
    """What the end bodies may do; those clamped where they are get their place."""
    first, last = (
        Clamped(straight[place]) if end.freedom is None else end.freedom
        for place, end in zip((0, -1), ends, strict=True)
    )
    return first, last


def chain_placement(body: RigidBody, count: int, ends: tuple[AbstractFreedom, AbstractFreedom]) -> Placement:
    """Everything between the ends is free, so what moves is a range of bodies."""
    first, last = ends
    translating = range(0 if first.translates else 1, count if last.translates else count - 1)
    rotating = range(0 if first.rotates else 1, count if last.rotates else count - 1)
    turning = len(rotating)
    moments = jnp.broadcast_to(body.moments[:, None], (3, turning))
    axes = None if body.axes is None else jnp.broadcast_to(body.axes[:, :, None], (3, 3, turning))
    return Placement(translating, rotating, moments, axes, {0: first, count - 1: last})


def with_ends(live: Array, held: dict[int, Array]) -> Array:
    """Values of the live bodies, along the last axis, with those of the held end bodies at their sides."""
    if not held:
        return live
    before = [values[..., None] for place, values in held.items() if place == 0]
    behind = [values[..., None] for place, values in held.items() if place > 0]
    return jnp.concatenate([*before, live, *behind], axis=-1)
