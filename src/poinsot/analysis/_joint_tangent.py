r"""Small displacements that joints allow, and the stiffness that joint forces add.

With the potential $V$ and gaps $g$ as functions of displacements $u$, a place of rest has
$\nabla V = G^T\lambda$. Small motions there are $u = Z s$ with $G Z = 0$, and their energy is that of
$V - \lambda\cdot g$ to second order: without the second derivatives of the gaps, a pendulum would not swing
back.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError
from poinsot.kernels import jitted
from poinsot.model import AbstractSystem
from poinsot.rotation import exp

from ._displacements import Numbering, Point, point_of, state_of

RANK = 1e-9
"""Singular values of the conditions, relative to the largest, that count as zero: redundant conditions."""


@dataclass(frozen=True)
class JointTangent:
    """What joints do at a point, in displacements times the roots of the masses."""

    basis: np.ndarray
    """Displacements that keep the joints closed, as orthonormal columns."""
    forces: np.ndarray
    """Multipliers of all conditions; of redundant ones those of least size."""
    stiffness: np.ndarray
    """What the joint forces add to the matrix of second derivatives."""


def joint_tangent(
    system: AbstractSystem, point: Point, order: Numbering, roots: np.ndarray, slope: np.ndarray
) -> JointTangent:
    """The tangent space of closed joints at a point, and the forces there that balance a slope best.

    Args:
        system: bodies with joints.
        point: where they are.
        order: numbering of the displacements.
        roots: of the masses.
        slope: derivative of the potential energy in displacements times the roots of the masses.

    Raises:
        InputError: the joints leave no freedom.
    """
    places = twist_places(point, order)
    G = np.asarray(_jacobian(system, point))[:, places] / roots[None]
    left, values, rows = np.linalg.svd(G)
    rank = np.count_nonzero(values > RANK * values[0])
    if rank == order.size:
        raise InputError(f"the joints of {system.name!r} leave no freedom here; there is nothing to move")
    forces = left[:, :rank] @ ((rows[:rank] @ slope) / values[:rank])
    bends = np.asarray(_bends(system, point, jnp.asarray(forces)))[np.ix_(places, places)]
    return JointTangent(rows[rank:].T, forces, -bends / roots[:, None] / roots[None])


def closed(system: AbstractSystem, point: Point) -> Point:
    """The point with joints closed, next to one where they are nearly so."""
    if system.linkage is None:
        return point
    return point_of(system, system.assemble(state_of(system, point), t=point.t), float(point.t))


def twist_places(point: Point, order: Numbering) -> np.ndarray:
    """Where each displacement stands in a twist."""
    moves, turns = np.arange(point.x.size), point.x.size + np.arange(point.quat[1:].size)
    numbers = order.flat(moves.reshape(point.x.shape), turns.reshape(point.quat[1:].shape))
    return numbers.astype(int)


def _gaps(system: AbstractSystem, point: Point, twist: Array) -> Float[Array, " m"]:
    """All gaps at displacements from a point."""
    linkage = system.linkage
    assert linkage is not None
    dx, w = twist[: point.x.size].reshape(point.x.shape), twist[point.x.size :].reshape(3, -1)
    R = jnp.einsum("ijn,jkn->ikn", point.rotations, jnp.moveaxis(exp(w.T), 0, -1))
    return jnp.concatenate(linkage.gaps(point.t, point.x + dx, R))


def _still(point: Point) -> Float[Array, " n"]:
    return jnp.zeros(point.x.size + point.quat[1:].size)


@jitted
def _jacobian(system: AbstractSystem, point: Point) -> Float[Array, "m n"]:
    return jax.jacfwd(lambda twist: _gaps(system, point, twist))(_still(point))


@jitted
def _bends(system: AbstractSystem, point: Point, forces: Array) -> Float[Array, "n n"]:
    r"""Second derivatives of $\lambda\cdot g$."""
    return jax.hessian(lambda twist: jnp.sum(forces * _gaps(system, point, twist)))(_still(point))
