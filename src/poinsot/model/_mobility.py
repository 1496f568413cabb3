"""Mobility of a mechanism: degrees of freedom, loops, redundant conditions, singular configurations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.core import InputError, State
from poinsot.kernels import once

from ._assembly import CLOSED, iterated, live_at, matrices, opening, stepped
from ._compact import compact, jacobians_of
from ._linkage import Linkage
from .joints import AbstractJoint, Drive

if TYPE_CHECKING:
    from ._abstract_system import AbstractSystem

DEPENDENT = 1e-8
"""Singular values below this are zero; rows of the Jacobian have length one in the metric of the mass."""
TAKES_PART = 1e-6
"""Share in a dependence from which on a condition takes part in it."""
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
    core = in_loops(linkage)
    here = Dependence.of(linkage, core, jacobians(linkage, t, x, quat) if core else [])
    there = [here, *_nearby(linkage, core, here, t, x, quat)]
    generic = max(there, key=lambda one: one.rank)
    rows = [one.rows for one in linkage.conditions]
    outside = sum(rows) - sum(rows[i] for i in core)
    redundant = generic.shares(linkage, core)
    released = [name for name, share in here.shares(linkage, core).items() if share > redundant.get(name, 0)]
    return Mobility(
        degrees_of_freedom=linkage.weights.size - outside - generic.rank,
        loops=_loops(linkage),
        conditions=sum(rows),
        rank=outside + here.rank,
        generic_rank=outside + generic.rank,
        redundant=redundant,
        released=tuple(released) if here.rank < generic.rank else (),
    )


def in_loops(linkage: Linkage) -> list[int]:
    """Places of the conditions that may depend on others.

    A body with six freedoms that a single joint holds, driven or not, adds independent conditions: it is
    taken away, and so on from the leaves of a tree inwards.
    """
    placement = linkage.placement
    free = set(placement.translating) & set(placement.rotating)
    on_bodies = [
        {body for joint in seen for body in _bodies(linkage, joint) if body in free} for seen in linkage.seen
    ]
    left: dict[int, set[int]] = {body: set() for body in free}
    for i, bodies in enumerate(on_bodies):
        for body in bodies:
            left[body].add(i)
    gone: set[int] = set()
    waiting = list(free)
    while waiting:
        on_it = left[body := waiting.pop()] - gone
        holding = [i for i in on_it if isinstance(linkage.conditions[i], AbstractJoint)]
        others = [i for i in on_it if i not in holding]
        if len(holding) == 1 and all(isinstance(linkage.conditions[i], Drive) for i in others):
            gone |= on_it
            waiting += [other for i in on_it for other in on_bodies[i] if other != body]
    return [i for i in range(len(linkage.seen)) if i not in gone]


def _loops(linkage: Linkage) -> int:
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
        first, second = map(first_of, _bodies(linkage, joint))
        loops += first == second
        group[second] = first
    return loops


def _bodies(linkage: Linkage, joint: int) -> tuple[int | None, int | None]:
    first, second = linkage.grips[joint]
    return first.body, second.body


@once
def jacobians(linkage: Linkage, t, x: Array, quat: Array) -> Sequence[Array]:
    """Jacobians of all conditions."""
    return jacobians_of(linkage, t, x, matrices(quat))


@dataclass(frozen=True)
class Dependence:
    """Singular values of the Jacobian of some conditions, and the combinations that belong to them."""

    values: np.ndarray
    left: np.ndarray
    """Combinations of conditions, as columns."""
    right: np.ndarray
    """Twists, as rows, in units in which the mass is one."""

    @classmethod
    def of(cls, linkage: Linkage, core: Sequence[int], blocks: Sequence[Array]) -> "Dependence":
        """Of the conditions at these places, from the Jacobians of all."""
        matrix = scaled_jacobians(linkage, core, [np.asarray(block)[None] for block in blocks])[0]
        left, values, right = np.linalg.svd(matrix)
        return cls(values, left, right)

    @property
    def rank(self) -> int:
        """Number of independent conditions."""
        return int(np.sum(self.values > DEPENDENT))

    def shares(self, linkage: Linkage, core: Sequence[int]) -> dict[str, int]:
        """How many conditions of each joint follow from the others, where any do."""
        null, begin, shares = self.left[:, self.rank :], 0, {}
        for i in core:
            one = linkage.conditions[i]
            own, begin = null[begin : begin + one.rows], begin + one.rows
            count = int(np.sum(np.linalg.svd(own, compute_uv=False) > TAKES_PART)) if own.size else 0
            shares |= {one.name: count} if count else {}
        return shares


def scaled_jacobians(linkage: Linkage, core: Sequence[int], blocks: Sequence[np.ndarray]) -> np.ndarray:
    r"""Jacobians $G M^{-1/2}$ of some conditions at many states, with rows of length one."""
    roots = np.sqrt(np.asarray(linkage.weights))
    rows = []
    for i in core:
        part = np.array(linkage.parts[i])
        wide = np.zeros((*blocks[i].shape[:2], roots.size))
        wide[:, :, part] = blocks[i] * roots[part]
        rows.append(wide / np.linalg.norm(wide, axis=2, keepdims=True))
    count = len(blocks[0]) if blocks else 1
    return np.concatenate(rows, axis=1) if rows else np.zeros((count, 0, roots.size))


def _nearby(
    linkage: Linkage, core: Sequence[int], here: Dependence, t, x: Array, quat: Array
) -> Iterator[Dependence]:
    """Dependences at assembled configurations a little way along the motions that are left."""
    motions = here.right[here.rank :] * np.sqrt(np.asarray(linkage.weights))
    if not core or not len(motions):
        return
    draw, still = np.random.default_rng(0), (jnp.zeros_like(x), jnp.zeros((3, quat.shape[1])))
    length, held = 1.0 + float(jnp.max(jnp.abs(x), initial=0.0)), compact(linkage)
    sizes = np.repeat([length, 1.0], [x.size, 3 * quat.shape[1]])
    for _ in range(TRIALS):
        twist = draw.standard_normal(len(motions)) @ motions
        twist = NEARBY * twist / np.max(np.abs(twist) / sizes)
        *moved, _ = iterated(held, t, *stepped(x, quat, jnp.asarray(twist)))
        gaps = opening(held, t, *moved, *still)[0]
        if max(float(np.max(np.abs(gap))) for gap in gaps) <= CLOSED * float(np.max(sizes)):
            yield Dependence.of(linkage, core, jacobians(linkage, t, *moved))
