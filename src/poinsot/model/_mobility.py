"""Mobility of a mechanism: degrees of freedom, loops, redundant conditions, singular configurations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.core import InputError, State
from poinsot.solvers import Dependence

from ._assembly import CLOSED, iterated, live_at, opening, stepped
from ._compact import AnyLinkage, compact
from ._dependence import TAKES_PART, bodies_of, dependence, in_loops, jacobians
from ._linkage import Linkage

if TYPE_CHECKING:
    from ._abstract_system import AbstractSystem

NEARBY = 0.2
"""How far, in radians and relative to the size of the system, configurations to compare with are away."""
GROUND = -1
"""Stands for the ground among bodies."""
TRIALS = 2
"""Number of these."""


@dataclass(frozen=True)
class Mobility:
    """What a mechanism can do at a state. Print it."""

    degrees_of_freedom: int
    """Independent motions, as they are in general."""
    loops: int
    """Independent loops of the joint graph."""
    conditions: int
    """Number of conditions of joints, drives and couplings."""
    rank: int
    """Of the Jacobian of all conditions at the state."""
    generic_rank: int
    """The same at configurations nearby."""
    redundant: dict[str, int]
    """Conditions of each joint that follow from those of others; each of these joints could do without."""
    released: tuple[str, ...]
    """Joints whose conditions depend on each other at this state alone, where it is singular."""

    @property
    def singular(self) -> bool:
        """Whether the rank is less than nearby: the mechanism could move in a further way."""
        return self.rank < self.generic_rank

    def __str__(self) -> str:
        surplus = self.conditions - self.generic_rank
        shares = ", ".join(f"{count} of {name!r}" for name, count in self.redundant.items())
        lines = {
            "degrees of freedom": str(self.degrees_of_freedom),
            "loops": str(self.loops),
            "conditions": f"{self.conditions}, of rank {self.generic_rank}",
            "redundant": f"{surplus}, to be chosen from {shares}" if surplus else "none",
            "singular": "no",
        }
        if self.singular:
            lines["singular"] = f"yes, the rank drops to {self.rank} in {', '.join(self.released)}"
        return "\n".join(f"{key:<20}{text}" for key, text in lines.items())


def mobility(system: "AbstractSystem", t, state: State) -> Mobility:
    """The mobility of a system at a state with closed joints.

    Raises:
        InputError: the system has no joints.
    """
    linkage = system.linkage
    if linkage is None:
        raise InputError(f"{system.name} has no joints; give the system joints=[...]")
    t, x, quat, _, _ = live_at(system, t, state)
    core, held = in_loops(linkage), compact(linkage)
    here = dependence(linkage, core, jacobians(linkage, held, t, x, quat) if core else [])
    rows = [one.rows for one in linkage.conditions]
    outside = sum(rows) - sum(rows[i] for i in core)
    movable = core and outside + here.rank < linkage.weights.size
    there = [here, *(_nearby(linkage, held, core, here, t, x, quat) if movable else ())]
    generic = max(there, key=lambda one: one.rank)
    redundant = _shares(linkage, core, generic)
    now = _shares(linkage, core, here) if here.rank < generic.rank else {}
    released = [name for name, share in now.items() if share > redundant.get(name, 0)]
    return Mobility(
        degrees_of_freedom=linkage.weights.size - outside - generic.rank,
        loops=loop_count(linkage),
        conditions=sum(rows),
        rank=outside + here.rank,
        generic_rank=outside + generic.rank,
        redundant=redundant,
        released=tuple(released),
    )


def loop_count(linkage: Linkage) -> int:
    """Independent loops: joints of bodies that are joined already; held bodies count as the ground."""
    placement = linkage.placement
    free = set(placement.translating) & set(placement.rotating)
    group = {body: body for body in (*free, GROUND)}

    def first_of(body: int | None) -> int:
        own = body if body in group and body is not None else GROUND
        while group[own] != own:
            group[own] = group[group[own]]
            own = group[own]
        return own

    loops = 0
    for joint in range(len(linkage.joints)):
        first, second = map(first_of, bodies_of(linkage, joint))
        loops += first == second
        group[second] = first
    return loops


def _shares(linkage: Linkage, core: Sequence[int], found: Dependence) -> dict[str, int]:
    """How many conditions of each joint follow from the others, where any do."""
    counts = found.shares(TAKES_PART)
    return {linkage.conditions[i].name: count for i, count in zip(core, counts, strict=True) if count}


def _nearby(
    linkage: Linkage, held: AnyLinkage, core: Sequence[int], here: Dependence, t, x: Array, quat: Array
) -> Iterator[Dependence]:
    """Dependences at assembled configurations a little way along the motions that are left."""
    draw, still = np.random.default_rng(0), (jnp.zeros_like(x), jnp.zeros((3, quat.shape[1])))
    length = 1.0 + float(jnp.max(jnp.abs(x), initial=0.0))
    sizes = np.repeat([length, 1.0], [x.size, 3 * quat.shape[1]])
    roots = np.sqrt(np.asarray(linkage.weights))
    for _ in range(TRIALS):
        twist = here.solution(draw.standard_normal(roots.size)) * roots
        twist = NEARBY * twist / np.max(np.abs(twist) / sizes)
        *moved, _ = iterated(held, t, *stepped(x, quat, jnp.asarray(twist)))
        gaps = opening(held, t, *moved, *still)[0]
        if max(float(np.max(np.abs(gap))) for gap in gaps) <= CLOSED * float(np.max(sizes)):
            yield dependence(linkage, core, jacobians(linkage, held, t, *moved))
