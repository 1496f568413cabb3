"""Which conditions of joints depend on others, from their Jacobians."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.kernels import once
from poinsot.rotation import to_matrix
from poinsot.solvers import Dependence, Equations

from ._compact import AnyLinkage
from ._linkage import Linkage
from ._long_linkage import LongLinkage
from .joints import AbstractJoint, Drive

DEPENDENT = 1e-8
"""Singular values below this are zero; rows of the Jacobian have length one in the metric of the mass."""
TAKES_PART = 1e-6
"""Share in a dependence from which on a condition takes part in it."""


def matrices(quat: Array) -> Array:
    """Rotation matrices of live quaternions."""
    return jnp.moveaxis(to_matrix(quat.T), 0, -1)


def in_loops(linkage: Linkage) -> list[int]:
    """Places of the conditions that may depend on others.

    A body with six freedoms that a single joint holds, driven or not, adds independent conditions: it is
    taken away, and so on from the leaves of a tree inwards.
    """
    placement = linkage.placement
    free = set(placement.translating) & set(placement.rotating)
    on_bodies = [
        {body for joint in seen for body in bodies_of(linkage, joint) if body in free}
        for seen in linkage.seen
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


def bodies_of(linkage: Linkage, joint: int) -> tuple[int | None, int | None]:
    """Live bodies that a joint takes hold of."""
    first, second = linkage.grips[joint]
    return first.body, second.body


def jacobians(linkage: Linkage, held: AnyLinkage, t, x: Array, quat: Array) -> list[np.ndarray]:
    """Jacobians of all conditions; those of many are cut apart here, not in compiled code."""
    if not isinstance(held, LongLinkage):
        return list(map(np.asarray, _jacobians(linkage, t, x, quat)))
    return held.in_order(list(map(np.asarray, _jacobians(held, t, x, quat))))


@once
def _jacobians(linkage: Linkage | LongLinkage, t, x: Array, quat: Array) -> Sequence[Array]:
    return linkage.at(t, x, matrices(quat), 0.0).jacobians


def dependence(linkage: Linkage, core: Sequence[int], blocks: Sequence[np.ndarray]) -> Dependence:
    """Find the rank of the conditions at some places, from the Jacobians of all."""
    roots, equations = np.sqrt(np.asarray(linkage.weights)), []
    for i in core:
        part = np.array(linkage.parts[i])
        rows = blocks[i] * roots[part]
        equations.append(Equations(rows / np.linalg.norm(rows, axis=1, keepdims=True), part))
    return Dependence.of(equations, _owners(linkage), DEPENDENT)


def _owners(linkage: Linkage) -> np.ndarray:
    """Place of the body that each number of the twist belongs to, among those that move."""
    placement = linkage.placement
    bodies = [*placement.translating] * 3 + [*placement.rotating] * 3
    return np.unique(np.array(bodies), return_inverse=True)[1]


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
