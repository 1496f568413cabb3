"""The potential energy of a chain: what neighbours do to each other, assembled in one pass."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Scalar

from ._bonds import AbstractBond, ParticleBond, R, X

Closure = Literal["open", "ring", "periodic"]


class Neighbours(eqx.Module):
    r"""The bonds of each body with the next ones, up to some order of neighbours.

    $$ V = \sum_{j=1}^{\text{order}} \sum_i u(x_i, R_i; x_{i+j}, R_{i+j}) $$

    A closed chain goes on with images of its first bodies, in a periodic one displaced by its period. Cost
    and memory are linear in the number of bodies. The gradient is assembled from the bonds by hand, since
    automatic differentiation of the energy would take about four times as long, and given to JAX as the
    derivative of `energy`: so all formulations use it, and it can be differentiated further.

    Args:
        bonds: what acts between two neighbours.
        order: how many bodies further a bond reaches.
        closure: "open", "ring" or "periodic".
        period: displacement of the images; zero for a ring.
    """

    bonds: tuple[AbstractBond, ...]
    period: Float[Array, "3"]
    order: int = eqx.field(static=True)
    closure: Closure = eqx.field(static=True)

    def energy(self, x: X, R: R) -> Scalar:
        """Potential energy at positions (3, body) and principal directors (3, 3, body) of all bodies."""
        return _energy(self, x, R)

    def total(self, x: X, R: R) -> Scalar:
        """The energy as a plain sum."""
        x, R = self._continued(x, R)
        energies = [
            jnp.sum(bond.energy(*pair)) for bond in self.bonds for pair in self._pairs(bond.sites(x, R))
        ]
        return sum(energies, start=jnp.zeros(()))

    def gradient(self, x: X, R: R) -> tuple[X, R]:
        """Derivatives of the energy in positions and directors, assembled."""
        count = x.shape[-1]
        x, R = self._continued(x, R)
        slope_x, slope_R = jnp.zeros_like(x), jnp.zeros_like(R)
        for bond in self.bonds:
            sites = bond.sites(x, R)
            slope = jnp.zeros_like(sites)
            for order, (low, high) in enumerate(self._pairs(sites), start=1):
                on_low, on_high = bond.gradient(low, high)
                behind = sites.shape[-1] - low.shape[-1] - order
                slope = slope + _padded(on_low, 0, behind + order) + _padded(on_high, order, behind)
            more_x, more_R = bond.pull_back(slope)
            slope_x, slope_R = slope_x + more_x, slope_R + more_R
        return _folded(slope_x, count), _folded(slope_R, count)

    def squares(self, x: X, R: R) -> list[Float[Array, "k k n"]]:
        """Squared distances of particles, for each bond between particles and each order of neighbours."""
        x, R = self._continued(x, R)
        return [
            bond.squares(*pair)
            for bond in self.bonds
            if isinstance(bond, ParticleBond)
            for pair in self._pairs(bond.sites(x, R))
        ]

    def _continued(self, x: X, R: R) -> tuple[X, R]:
        """The bodies, and of a closed chain the images that follow them."""
        if self.closure == "open":
            return x, R
        images = x[:, : self.order] + self.period[:, None]
        return jnp.concatenate([x, images], -1), jnp.concatenate([R, R[..., : self.order]], -1)

    def _pairs(self, sites: Array) -> list[tuple[Array, Array]]:
        """Sites of the first and the second body of all bonds, for each order of neighbours."""
        last = sites.shape[-1]
        pairs = []
        for order in range(1, self.order + 1):
            count = last - (order if self.closure == "open" else self.order)
            pairs.append((sites[..., :count], sites[..., order : order + count]))
        return pairs


@eqx.filter_custom_jvp
def _energy(neighbours: Neighbours, x: X, R: R) -> Scalar:
    return neighbours.total(x, R)


@_energy.def_jvp
def _energy_jvp(primals, tangents):
    neighbours, x, R = primals
    of_terms, dx, dR = tangents
    energy = neighbours.total(x, R)
    change = jnp.zeros(())
    if dx is not None or dR is not None:
        slope_x, slope_R = neighbours.gradient(x, R)
        change = change if dx is None else change + jnp.sum(slope_x * dx)
        change = change if dR is None else change + jnp.sum(slope_R * dR)
    if jax.tree.leaves(of_terms):
        change = change + eqx.filter_jvp(lambda terms: terms.total(x, R), (neighbours,), (of_terms,))[1]
    return energy, change


def _padded(values: Array, before: int, behind: int) -> Array:
    """Values with zeros on both sides along the last axis."""
    return jnp.pad(values, [(0, 0)] * (values.ndim - 1) + [(before, behind)])


def _folded(slope: Array, count: int) -> Array:
    """Derivatives of images added to those of the bodies they are images of."""
    beyond = slope.shape[-1] - count
    if beyond == 0:
        return slope
    return slope[..., :count] + _padded(slope[..., count:], 0, count - beyond)
