"""The potential energy of a chain: what neighbours do to each other, assembled in one pass."""

from collections.abc import Callable
from functools import wraps
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int

from poinsot.core import Printable, hold
from poinsot.core.types import Scalar

from ._bonds import AbstractBond, AbstractParticleBond, Exists, R, Sites, X
from ._chart import MATRICES

Closure = Literal["open", "ring", "periodic"]
C = Float[Array, "*height n"]
"""Coordinates of the directors of bodies, along the last axis; or the directors themselves."""

CACHE = 2**13
"""Numbers that stay in the first cache of a core, or next to it."""


def _differentiated_in_loops(assembled: Callable) -> Callable:
    """A method of `Neighbours` whose derivatives are those of its bonds in loops.

    Of bonds written out pair by pair, derivatives are so long that a step which solves for its stages takes
    minutes to compile, ten times as long as in loops; backward they are slower too.
    """

    @eqx.filter_custom_jvp
    def method(neighbours: "Neighbours", x: X, c: C, *rest):
        return assembled(neighbours, x, c, *rest)

    @method.def_jvp
    def change_of_method(primals, tangents):
        neighbours, x, c, *rest = primals
        return eqx.filter_jvp(
            lambda neighbours, x, c: assembled(neighbours.in_loops, x, c, *rest),
            (neighbours, x, c),
            tangents[:3],
        )

    return wraps(assembled)(lambda *given: method(*given))


class Neighbours(Printable):
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

    def energy(self, x: X, c: C, directors: Callable = MATRICES.rotation) -> Scalar:
        """Potential energy of all bodies.

        Args:
            x: positions (3, body).
            c: coordinates of the principal directors.
            directors: makes directors (3, 3, body) of them; without it, they are these.
        """
        return _energy(self, x, c, directors)

    def total(self, x: X, R: R) -> Scalar:
        """The energy as a plain sum."""
        energies = [
            jnp.sum(bond.energy(low, high)) for bond in self.bonds for low, high in self._pairs(bond, x, R)
        ]
        return sum(energies, start=jnp.zeros(()))

    @_differentiated_in_loops
    def gradient(self, x: X, c: C, directors: Callable = MATRICES.rotation) -> tuple[X, C]:
        """Derivatives of the energy in positions and coordinates of directors, assembled; see `energy`.

        On a CPU a long chain goes through in windows that stay in the cache, from the coordinates to the
        derivatives in them: directors have more numbers than anything else, and are at hand only there.
        """
        count, window = x.shape[-1], self.window
        near = hold(self._with_margin(x, c))
        if count <= 2 * window or jax.default_backend() != "cpu":
            return hold(self.slopes(*near, directors, jnp.arange(count), count))

        def one(slopes: tuple[X, C], begin) -> tuple[tuple[X, C], None]:
            near_x, near_c = (
                lax.dynamic_slice_in_dim(all, begin, window + 2 * self.order, axis=-1) for all in near
            )
            found = self.slopes(near_x, near_c, directors, begin + jnp.arange(window), count)
            return jax.tree.map(
                lambda all, part: lax.dynamic_update_slice_in_dim(all, part, begin, axis=-1), slopes, found
            ), None

        # The last window ends with the chain, and repeats bodies of the one before it.
        begins = jnp.minimum(window * jnp.arange(-(-count // window)), count - window)
        return lax.scan(one, (jnp.zeros_like(x), jnp.zeros_like(c)), begins)[0]

    @property
    def window(self) -> int:
        """Bodies whose sites and pulls stay in the cache of a core."""
        return max(16, CACHE // max(bond.height for bond in self.bonds))

    @_differentiated_in_loops
    def slopes(self, x: X, c: C, directors: Callable, place: Int[Array, " n"], count: int) -> tuple[X, C]:
        """Derivatives for bodies at these places of a chain of so many, given with their neighbours."""
        R = hold(directors(c))
        slope_x, slope_R = jnp.zeros((3, *place.shape)), jnp.zeros((3, 3, *place.shape))
        for bond in self.bonds:
            sites = bond.sites(x, R)
            for order in range(1, self.order + 1):
                near = part(sites, self.order - order, order - self.order)
                exists = self._exists(place, count, order)
                pulls = bond.pair(part(near, 0, -order), part(near, order), exists)
                slope = bond.collect(
                    part(pulls, 0, -order),
                    part(pulls, order),
                    part(near, 0, -2 * order),
                    part(near, order, -order),
                    part(near, 2 * order),
                )
                more_x, more_R = bond.pull_back(slope)
                slope_x, slope_R = slope_x + more_x, slope_R + more_R
        return slope_x, jax.vjp(directors, part(c, self.order, -self.order))[1](hold(slope_R))[0]

    @property
    def in_loops(self) -> "Neighbours":
        """The same with bonds that are small to write down."""
        return Neighbours(tuple(bond.in_loops for bond in self.bonds), self.period, self.order, self.closure)

    def squares(self, x: X, R: R) -> list[Float[Array, "k k n"]]:
        """Squared distances of particles, for each bond between particles and each order of neighbours."""
        return [
            bond.squares(low, high)
            for bond in self.bonds
            if isinstance(bond, AbstractParticleBond)
            for low, high in self._pairs(bond, x, R)
        ]

    def _with_margin(self, x: X, c: C) -> tuple[X, C]:
        """The bodies with so many more on both sides as bonds reach.

        Those of a closed chain are images of its bodies; those of an open one continue it straight and take
        no part.
        """
        if self.closure == "open":
            steps = jnp.arange(1.0, self.order + 1.0)
            before = x[:, :1] + (x[:, :1] - x[:, 1:2]) * steps[None, ::-1]
            behind = x[:, -1:] + (x[:, -1:] - x[:, -2:-1]) * steps[None]
            turned = jnp.repeat(c[..., :1], self.order, -1), jnp.repeat(c[..., -1:], self.order, -1)
        else:
            before, behind = (
                x[:, -self.order :] - self.period[:, None],
                x[:, : self.order] + self.period[:, None],
            )
            turned = c[..., -self.order :], c[..., : self.order]
        return jnp.concatenate([before, x, behind], -1), jnp.concatenate([turned[0], c, turned[1]], -1)

    def _exists(self, place: Int[Array, " n"], count: int, order: int) -> Exists:
        """Which bonds with the body `order` places further there are; so many bodies before come first."""
        if self.closure != "open":
            return None
        low = jnp.concatenate([place[0] - jnp.arange(order, 0, -1), place])
        return (low >= 0) & (low + order < count)

    def _pairs(self, bond: AbstractBond, x: X, R: R) -> list[tuple[Array, Array]]:
        """Sites of the first and the second body of all bonds, for each order of neighbours."""
        count, sites = x.shape[-1], bond.sites(*self._with_margin(x, R))
        pairs = []
        for order in range(1, self.order + 1):
            first, bonds = self.order, count - order if self.closure == "open" else count
            low, high = (part(sites, begin, begin + bonds) for begin in (first, first + order))
            pairs.append((low, high))
        return pairs


def part(sites: Sites, begin: int, end: int = 0) -> Sites:
    """A stretch of bodies, as of a slice; an `end` of 0 is the last body."""
    return jax.tree.map(lambda rows: rows[..., begin : end or None], sites)


@eqx.filter_custom_jvp
def _energy(neighbours: Neighbours, x: X, c: C, directors: Callable) -> Scalar:
    return neighbours.total(x, directors(c))


@_energy.def_jvp
def _energy_jvp(primals, tangents):
    neighbours, x, c, directors = primals
    of_terms, dx, dc, _ = tangents
    energy = neighbours.total(x, directors(c))
    change = jnp.zeros(())
    if dx is not None or dc is not None:
        slope_x, slope_c = neighbours.gradient(x, c, directors)
        change = change if dx is None else change + jnp.sum(slope_x * dx)
        change = change if dc is None else change + jnp.sum(slope_c * dc)
    if jax.tree.leaves(of_terms):
        change = (
            change + eqx.filter_jvp(lambda terms: terms.total(x, directors(c)), (neighbours,), (of_terms,))[1]
        )
    return energy, change
