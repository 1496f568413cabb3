"""What acts between two neighbouring bodies: between their particles, or between their poses."""

import abc
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import hold

from .potentials import AbstractPair, AbstractPosePair

X = Float[Array, "3 n"]
R = Float[Array, "3 3 n"]
Sites = Float[Array, "k 3 n"]

WRITTEN_OUT = 64
"""Pairs of particles up to which their forces are written out one by one; beyond, a loop goes over them."""


class AbstractBond(eqx.Module):
    r"""A potential energy of two neighbouring bodies, for many pairs of them along the last axis.

    It depends on the poses of the two through *sites* on each, such as the places of its particles, that are
    affine in position and directors. So the gradient goes back to the body from the gradient at the sites.
    """

    @abc.abstractmethod
    def sites(self, x: X, R: R) -> Sites:
        """Sites of bodies at positions and principal directors."""

    @abc.abstractmethod
    def energy(self, low: Sites, high: Sites) -> Float[Array, " n"]:
        """Energy of each pair of bodies."""

    @abc.abstractmethod
    def gradient(self, low: Sites, high: Sites) -> tuple[Sites, Sites]:
        """Derivatives of the energy in the sites of the two bodies."""

    @abc.abstractmethod
    def pull_back(self, slope: Sites) -> tuple[X, R]:
        """Derivatives in position and directors, from those in the sites."""


class ParticleBond(AbstractBond):
    r"""A pair potential between all particles of one body and all of the next.

    $$ V = \sum_{k,l} v(s_{kl}), \qquad s_{kl} = |\Delta_{kl}|^2, \qquad
       \Delta_{kl} = (x' + R'\rho_l) - (x + R\rho_k) $$

    Args:
        pair: the potential v.
        points: particles $\rho$ in the principal frame.
    """

    pair: AbstractPair
    points: Float[Array, "k 3"]

    @property
    def _written_out(self) -> bool:
        return self.points.shape[0] ** 2 <= WRITTEN_OUT

    def sites(self, x: X, R: R) -> Sites:
        r"""Places of the particles, $x + R\rho_k$."""
        places = [
            x + R[:, 0] * point[0] + R[:, 1] * point[1] + R[:, 2] * point[2] for point in _rows(self.points)
        ]
        return hold(jnp.stack(places))

    def squares(self, low: Sites, high: Sites) -> Float[Array, "k k n"]:
        """Squared distances of all pairs of particles."""
        apart = high[None] - low[:, None]
        return apart[:, :, 0] ** 2 + apart[:, :, 1] ** 2 + apart[:, :, 2] ** 2

    def energy(self, low: Sites, high: Sites) -> Float[Array, " n"]:
        """Sum over all pairs of particles."""
        return jnp.sum(self.pair.value(self.squares(low, high)), axis=(0, 1))

    def gradient(self, low: Sites, high: Sites) -> tuple[Sites, Sites]:
        r"""Derivatives $\mp 2 v'(s_{kl})\,\Delta_{kl}$, summed over the particles of the other body."""
        return self._unrolled(low, high) if self._written_out else self._looped(low, high)

    def _unrolled(self, low: Sites, high: Sites) -> tuple[Sites, Sites]:
        """Pair by pair: the factors 2 v' are kept, the differences cheaper to take again."""
        count = range(self.points.shape[0])

        def square(k: int, m: int) -> Array:
            dx, dy, dz = (high[m, i] - low[k, i] for i in range(3))
            return dx * dx + dy * dy + dz * dz

        factors = [2.0 * self.pair.of(k, m).slope(square(k, m)) for k in count for m in count]
        table = hold(jnp.stack(factors)).reshape(len(count), len(count), -1)

        def push(k: int, m: int) -> Array:
            return table[k, m][None] * (high[m] - low[k])

        on_low = jnp.stack([-_sum([push(k, m) for m in count]) for k in count])
        on_high = jnp.stack([_sum([push(k, m) for k in count]) for m in count])
        return hold((on_low, on_high))

    def _looped(self, low: Sites, high: Sites) -> tuple[Sites, Sites]:
        """One particle of the first body after the other, against all of the second."""

        def one(on_high: Sites, given: tuple[Any, Array]) -> tuple[Sites, Array]:
            pair, place = given
            apart = high - place[None]
            slope = pair.slope(apart[:, 0] ** 2 + apart[:, 1] ** 2 + apart[:, 2] ** 2)
            push = hold(2.0 * slope[:, None] * apart)
            return on_high + push, -jnp.sum(push, axis=0)

        rows, rest = self._rows_of_pair()
        on_high, on_low = lax.scan(
            lambda carry, given: one(carry, (eqx.combine(given[0], rest), given[1])),
            jnp.zeros_like(high),
            (rows, low),
        )
        return on_low, on_high

    def _rows_of_pair(self) -> tuple[AbstractPair, AbstractPair]:
        """The tables of the pair potential, to be gone through row by row, and its single numbers."""
        return eqx.partition(self.pair, lambda leaf: eqx.is_array(leaf) and leaf.ndim == 3)

    def pull_back(self, slope: Sites) -> tuple[X, R]:
        r"""Derivatives $\sum_k V_k$ and $\sum_k V_k\,\rho_k^T$."""
        rows = _rows(self.points)
        columns = [_sum([row[j] * slope[k] for k, row in enumerate(rows)]) for j in range(3)]
        return _sum([slope[k] for k in range(len(rows))]), jnp.stack(columns, axis=1)


class PoseBond(AbstractBond):
    """A potential energy of the relative pose of two neighbouring bodies.

    Its sites are the position and the three directors of the body frame.

    Args:
        pose: the potential.
        axes: principal axes in the body frame, as columns; None where they are those of the body frame.
    """

    pose: AbstractPosePair
    axes: Float[Array, "3 3"] | None

    def sites(self, x: X, R: R) -> Float[Array, "4 3 n"]:
        """Position, and directors of the body frame."""
        own = R if self.axes is None else jnp.einsum("ijn,kj->ikn", R, self.axes)
        return jnp.concatenate([x[None], jnp.moveaxis(own, 1, 0)])

    def energy(self, low: Sites, high: Sites) -> Float[Array, " n"]:
        """Energy of each pair of bodies."""
        return _each(self._one)(low, high)

    def gradient(self, low: Sites, high: Sites) -> tuple[Sites, Sites]:
        """By automatic differentiation, pair by pair."""
        return _each(jax.grad(self._one, argnums=(0, 1)))(low, high)

    def pull_back(self, slope: Sites) -> tuple[X, R]:
        """The derivatives themselves, turned to the principal axes."""
        own = jnp.moveaxis(slope[1:], 0, 1)
        return slope[0], own if self.axes is None else jnp.einsum("ikn,kj->ijn", own, self.axes)

    def _one(self, low: Float[Array, "4 3"], high: Float[Array, "4 3"]) -> Array:
        return self.pose.energy(high[0] - low[0], low[1:].T, high[1:].T)


def _each(function: Callable) -> Callable:
    """A function of one pair of bodies, for many along the last axis."""
    return jax.vmap(function, in_axes=-1, out_axes=-1)


def _rows(points: Float[Array, "k 3"]) -> list[list[Array]]:
    """Coordinates of points one by one."""
    return [[points[k, j] for j in range(3)] for k in range(points.shape[0])]


def _sum(terms: list[Array]) -> Array:
    """A sum written out, which XLA fuses with its surroundings."""
    return reduce(operator.add, terms)
