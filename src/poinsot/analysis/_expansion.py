"""The energy of a system near a point, to second order in displacements and rotations."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import State, checked
from poinsot.kernels import jitted
from poinsot.model import AbstractSystem, Chain

from ._bond_derivatives import BondDerivatives, bond_derivatives
from ._displacements import Numbering, Point, energy, numbering, point_of, slope

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@checked
def hessian(system: AbstractSystem, state: State, t: float = 0.0) -> "csr_array":
    r"""Second derivatives of the potential energy at a state, as a sparse matrix.

    $$ H = \frac{\partial^2}{\partial u^2} V(x + \delta x,\; R \exp\hat w)\Big|_{u = 0}, \qquad
       u = (\delta x, w) $$

    Unknowns are numbered body after body, displacements in space before rotations about the principal axes;
    what a body may not do is left out. Time and memory grow with the number of bodies of a chain, with its
    square for other systems and for a chain with further potentials. The matrix is symmetric but for
    rounding.

    Args:
        system: the bodies.
        state: where they are.
        t: time, for what is moved.
    """
    return expansion(system, point_of(system, state, t), numbering(system)).hessian


@dataclass(frozen=True)
class Expansion:
    """The potential energy at a point to second order in displacements."""

    energy: float
    slope: np.ndarray
    """Minus the forces and the torques."""
    hessian: "csr_array"


def expansion(system: AbstractSystem, point: Point, order: Numbering) -> Expansion:
    """Energy, forces and stiffness at a point: of a chain bond by bond, of others by differentiation."""
    if isinstance(system, Chain) and not system.potentials:
        return _of_chain(system, point, order)
    from scipy.sparse import csr_array

    energy, (dx, w), rows = _of_system(system, point, jnp.asarray(_unit_displacements(order)))
    return Expansion(float(energy), order.flat(dx, w), csr_array(np.asarray(rows).T))


def _of_chain(chain: Chain, point: Point, order: Numbering) -> Expansion:
    from scipy.sparse import coo_array

    x, R = (np.moveaxis(np.asarray(part), -1, 0) for part in _whole(chain, point))
    energy, slope, blocks, places = 0.0, np.zeros((chain.count, 6)), [], []
    for end, place in zip(chain.ends, (0, -1), strict=True):
        if end.force is not None:
            energy -= float(np.sum(np.asarray(end.force) * x[place]))
            slope[place, :3] -= np.asarray(end.force)
    for first, second, bonds in _of_bonds(chain, x, R):
        energy += float(np.sum(bonds.energy))
        # No body is the first, or the second, of two bonds of one order.
        slope[first] += bonds.slope[:, :6]
        slope[second] += bonds.slope[:, 6:]
        blocks.append(bonds.hessian)
        places.append(np.concatenate([order.table[first], order.table[second]], axis=1))
    entries, table = np.concatenate(blocks), np.concatenate(places)
    rows, columns = np.broadcast_arrays(table[:, :, None], table[:, None, :])
    live = (rows >= 0) & (columns >= 0)
    # Entries of one place, from the bonds to either side of a body, are added up.
    matrix = coo_array((entries[live], (rows[live], columns[live])), shape=(order.size, order.size)).tocsr()
    return Expansion(energy, slope[order.table >= 0], matrix)


def _of_bonds(
    chain: Chain, x: np.ndarray, R: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, BondDerivatives]]:
    """First and second bodies of all bonds and their derivatives, for each order of neighbours."""
    period = np.asarray(chain.neighbours.period)
    for reach in range(1, chain.neighbours.order + 1):
        first = np.arange(chain.count - reach if chain.closure == "open" else chain.count)
        second = (first + reach) % chain.count
        beyond = (first + reach >= chain.count)[:, None] * period
        places = np.stack([x[first], x[second] + beyond], axis=1)
        yield first, second, bond_derivatives(chain, places, np.stack([R[first], R[second]], axis=1))


@jitted
def _whole(chain: Chain, point: Point) -> tuple[Array, Array]:
    return chain.whole(point.t, point.x, point.rotations)


@jitted
def _of_system(
    system: AbstractSystem, point: Point, directions: Float[Array, "n 6 body"]
) -> tuple[Array, tuple[Array, Array], Float[Array, "n n"]]:
    """Energy, its derivatives, and how these change along each of all displacements."""
    still = jnp.zeros_like(point.x), jnp.zeros_like(point.quat[1:])
    translating, rotating = (np.asarray(tuple(p), dtype=int) for p in (system.translating, system.rotating))

    def along(direction: Array) -> Array:
        parts = direction[:3, translating], direction[3:, rotating]
        dx, w = jax.jvp(lambda dx, w: slope(system, point, dx, w), still, parts)[1]
        change = jnp.zeros((6, system.count)).at[:3, translating].set(dx).at[3:, rotating].set(w)
        return jnp.sum(directions * change[None], axis=(1, 2))

    return energy(system, point, *still), slope(system, point, *still), jax.vmap(along)(directions)


def _unit_displacements(order: Numbering) -> Float[np.ndarray, "n 6 body"]:
    """Every component of every body's displacement by itself, in the order of the unknowns."""
    bodies, component = np.nonzero(order.table >= 0)
    units = np.zeros((order.size, 6, len(order.table)))
    units[np.arange(order.size), component, bodies] = 1.0
    return units
