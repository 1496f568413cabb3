"""What can be wrong with a chain before it moves, each told in one line."""

from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.core import InputError, State
from poinsot.kernels import jitted
from poinsot.rotation import to_matrix

from ._bonds import AbstractBond, AbstractParticleBond
from ._checks import concrete

if TYPE_CHECKING:
    from ._chain import Chain

TOUCHING = 1e-6
"""Distance of two particles, relative to the spacing, below which they overlap."""


def check_bonds(bonds: list[AbstractBond]) -> None:
    """Refuse tables of a pair potential that are not for the particles of the body."""
    if not bonds:
        raise InputError("potential is empty; without one the bodies do not form a chain")
    for bond in bonds:
        if isinstance(bond, AbstractParticleBond):
            bond.pair_potential.check_mutual()
            particles, shape = bond.points.shape[0], bond.pair_potential.table_shape
            if shape not in (None, (particles, particles)):
                raise InputError(
                    f"potential {type(bond.pair_potential).__name__} has a table of shape {shape}; "
                    f"the body has {particles} particles, so it must be ({particles}, {particles})"
                )


def check_start(chain: "Chain", t, state: State) -> None:
    """Refuse a state in which particles of neighbours overlap, or the potential is not finite."""
    if not concrete(chain, state):
        return
    squares, energy, slopes = _tried(chain, jnp.asarray(t, dtype=float), state)
    places = [(bond, order) for bond in range(len(squares)) for order in range(len(squares[bond]))]
    for bond, order in places:
        table = np.asarray(squares[bond][order])
        k, m, i = (int(place) for place in np.unravel_index(np.argmin(table), table.shape))
        if table[k, m, i] < (TOUCHING * float(chain.spacing)) ** 2:
            j = (i + order + 1) % chain.count
            raise InputError(
                f"particle {k} of {chain.names[i]!r} and particle {m} of {chain.names[j]!r} overlap: their "
                f"distance is {np.sqrt(table[k, m, i]):.3g}; move the bodies apart"
            )
    broken = ~np.isfinite(np.asarray(slopes))
    if np.any(broken) or not np.isfinite(energy):
        which = np.flatnonzero(broken)
        where = f" on {chain.names[int(which[0])]!r}" if which.size else ""
        raise InputError(
            f"the potential is not finite at the start: energy {float(energy):g}, force{where} "
            "not a number; look at the distances of its particles and at the potential there"
        )


@jitted
def _tried(chain: "Chain", t: Array, state: State) -> tuple[list[list[Array]], Array, Array]:
    """Squared distances for each bond and order, the energy, and for each body its largest derivative."""
    x, quat, _, _ = chain.live(t, state)
    whole = chain.whole(t, x, jnp.moveaxis(to_matrix(quat.T), 0, -1))
    flat = chain.neighbours.squares(*whole)
    order = chain.neighbours.order
    squares = [flat[first : first + order] for first in range(0, len(flat), order)]
    slope_x, slope_R = chain.neighbours.gradient(*whole)
    largest = jnp.max(jnp.abs(slope_x), axis=0) + jnp.max(jnp.abs(slope_R), axis=(0, 1))
    return squares, chain.neighbours.total(*whole), largest
