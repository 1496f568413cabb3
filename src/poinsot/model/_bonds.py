"""What acts between two neighbouring bodies: between their particles, or between their poses."""

import abc
import operator
from collections.abc import Callable
from functools import reduce

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float, PyTree

from poinsot.core import Printable, barrier, hold

from .potentials import AbstractPair, AbstractPosePair

X = Float[Array, "3 n"]
R = Float[Array, "3 3 n"]
Sites = PyTree[Float[Array, "..."]]
"""Places on bodies, bodies along the last axis of each array."""
Pulls = PyTree[Float[Array, "..."]]
"""What two bodies do to each other, pairs of bodies along the last axis of each array."""
Exists = Bool[Array, " n"] | None

WRITTEN_OUT = 64
"""Pairs of particles up to which they are written out one by one; beyond, a loop goes over them."""


class AbstractBond(Printable):
    r"""A potential energy of two neighbouring bodies, for many pairs of them along the last axis.

    It depends on the poses of the two through *sites* on each, such as the places of its particles, that are
    affine in position and directors. The gradient is taken in three strides, each with as little to hand over
    as there is: what every pair of bodies does (`pair`), what that is at the sites of a body from both of its
    sides (`collect`), and from there the derivatives in position and directors (`pull_back`).
    """

    @property
    @abc.abstractmethod
    def height(self) -> int:
        """Numbers for each body that are at hand while its gradient is taken, about."""

    @property
    def in_loops(self) -> "AbstractBond":
        """The same bond in a form that is small to write down, for derivatives of its gradient."""
        return self

    @abc.abstractmethod
    def sites(self, x: X, R: R) -> Sites:
        """Sites of bodies at positions and principal directors."""

    @abc.abstractmethod
    def energy(self, low: Sites, high: Sites) -> Float[Array, " n"]:
        """Energy of each pair of bodies."""

    @abc.abstractmethod
    def pair(self, low: Sites, high: Sites, exists: Exists) -> Pulls:
        """What each pair of bodies does to each other; nothing where there is no bond."""

    @abc.abstractmethod
    def collect(self, before: Pulls, behind: Pulls, below: Sites, own: Sites, above: Sites) -> Sites:
        """Derivatives of the energy in the sites of each body.

        Args:
            before: what it and the body below it do.
            behind: what it and the body above it do.
            below: sites of the one below.
            own: sites of the body.
            above: sites of the one above.
        """

    @abc.abstractmethod
    def pull_back(self, slope: Sites) -> tuple[X, R]:
        """Derivatives in position and directors, from those in the sites."""


class AbstractParticleBond(AbstractBond):
    r"""A pair potential between all particles of one body and all of the next.

    $$ V = \sum_{k,l} v(s_{kl}), \qquad s_{kl} = |\Delta_{kl}|^2, \qquad
       \Delta_{kl} = (x' + R'\rho_l) - (x + R\rho_k) $$

    Derivatives are $\pm 2 v'(s_{kl})\,\Delta_{kl}$ in the places of the particles, and with $V_k$ their sum
    for particle k, $\sum_k V_k$ in the position and $\sum_k V_k\,\rho_k^T$ in the directors.
    """

    pair_potential: eqx.AbstractVar[AbstractPair]
    points: eqx.AbstractVar[Float[Array, "k 3"]]
    """Particles in the principal frame."""

    @abc.abstractmethod
    def squares(self, low: Sites, high: Sites) -> Float[Array, "k k n"]:
        """Squared distances of all pairs of particles."""

    def energy(self, low: Sites, high: Sites) -> Float[Array, " n"]:
        """Sum over all pairs of particles."""
        return jnp.sum(self.pair_potential.value(self.squares(low, high)), axis=(0, 1))


def particle_bond(pair: AbstractPair, points: Float[Array, "k 3"]) -> AbstractParticleBond:
    """The bond of a pair potential, written out for a few particles and in a loop for many."""
    few = points.shape[0] ** 2 <= WRITTEN_OUT
    return FewParticles(pair, points) if few else ManyParticles(pair, points)


class FewParticles(AbstractParticleBond):
    """Bodies of a few particles: every coordinate of a particle is an array of its own.

    Nothing is ever put together and taken apart again; XLA makes one loop over the bodies of each row.

    Args:
        pair_potential: v.
        points: particles in the principal frame.
    """

    pair_potential: AbstractPair
    points: Float[Array, "k 3"]

    @property
    def height(self) -> int:
        """Sites, factors, and slopes at the sites."""
        particles = self.points.shape[0]
        return 6 * particles + particles**2

    @property
    def in_loops(self) -> AbstractBond:
        """As of many particles: what is written out pair by pair, derivatives would write out many times."""
        return ManyParticles(self.pair_potential, self.points)

    def sites(self, x: X, R: R) -> list[list[Array]]:
        """Rows of the coordinates of each particle."""
        return hold(
            [
                [x[i] + R[i, 0] * point[0] + R[i, 1] * point[1] + R[i, 2] * point[2] for i in range(3)]
                for point in self.points
            ]
        )

    def squares(self, low: list[list[Array]], high: list[list[Array]]) -> Float[Array, "k k n"]:
        """Squared distances of all pairs of particles."""
        return jnp.stack([jnp.stack([_square(first, second) for second in high]) for first in low])

    def pair(self, low: list[list[Array]], high: list[list[Array]], exists: Exists) -> list[list[Array]]:
        r"""The factors $2 v'(s_{kl})$: they are kept, the differences are cheaper to take again."""
        factors = [
            [2.0 * self.pair_potential.of(k, m).slope(_square(low[k], high[m])) for m in range(len(high))]
            for k in range(len(low))
        ]
        return hold(
            factors if exists is None else [[jnp.where(exists, one, 0.0) for one in row] for row in factors]
        )

    def collect(self, before, behind, below, own, above) -> list[list[Array]]:
        """Sums over the particles of both neighbours."""
        count = range(len(own))

        def component(k: int, i: int) -> Array:
            first = [before[m][k] * (own[k][i] - below[m][i]) for m in count]
            second = [behind[k][m] * (own[k][i] - above[m][i]) for m in count]
            return _sum([*first, *second])

        return hold([[component(k, i) for i in range(3)] for k in count])

    def pull_back(self, slope: list[list[Array]]) -> tuple[X, R]:
        """Sums over the particles."""
        x = jnp.stack([_sum([of_one[i] for of_one in slope]) for i in range(3)])
        entries = [
            [
                _sum([of_one[i] * point[j] for of_one, point in zip(slope, self.points, strict=True)])
                for j in range(3)
            ]
            for i in range(3)
        ]
        return x, jnp.stack([jnp.stack(row) for row in entries])


class ManyParticles(AbstractParticleBond):
    """Bodies of many particles: a loop over those of the first body, each against all of the second.

    Args:
        pair_potential: v.
        points: particles in the principal frame.
    """

    pair_potential: AbstractPair
    points: Float[Array, "k 3"]

    @property
    def height(self) -> int:
        """Sites, and what acts at them from each side."""
        return 12 * self.points.shape[0]

    def sites(self, x: X, R: R) -> Float[Array, "k 3 n"]:
        """Places of all particles as one array."""
        terms = [R[None, :, j] * self.points[:, j, None, None] for j in range(3)]
        return barrier(x[None] + _sum(terms))

    def squares(self, low: Float[Array, "k 3 n"], high: Float[Array, "k 3 n"]) -> Float[Array, "k k n"]:
        """Squared distances of all pairs of particles."""
        return jnp.sum((high[None] - low[:, None]) ** 2, axis=2)

    def pair(self, low: Array, high: Array, exists: Exists) -> tuple[Array, Array]:
        """Derivatives in the places of the particles of both bodies."""
        rows, rest = eqx.partition(self.pair_potential, lambda leaf: eqx.is_array(leaf) and leaf.ndim == 3)

        def one(on_high: Array, given: tuple[AbstractPair, Array]) -> tuple[Array, Array]:
            row, place = given
            apart = high - place[None]
            square = apart[:, 0] ** 2 + apart[:, 1] ** 2 + apart[:, 2] ** 2
            factor = 2.0 * eqx.combine(row, rest).slope(square)
            factor = factor if exists is None else jnp.where(exists[None], factor, 0.0)
            push = barrier(factor[:, None] * apart)
            return on_high + push, -jnp.sum(push, axis=0)

        on_high, on_low = lax.scan(one, jnp.zeros_like(high), (rows, low))
        return on_low, on_high

    def collect(self, before, behind, below, own, above) -> Float[Array, "k 3 n"]:
        """The sum from both sides."""
        return before[1] + behind[0]

    def pull_back(self, slope: Float[Array, "k 3 n"]) -> tuple[X, R]:
        """Sums over the particles."""
        entries = [jnp.sum(slope * self.points[:, j, None, None], axis=0) for j in range(3)]
        return jnp.sum(slope, axis=0), jnp.stack(entries, axis=1)


class PoseBond(AbstractBond):
    """A potential energy of the relative pose of two neighbouring bodies.

    Its sites are the position and the three directors of the body frame.

    Args:
        pose: the potential.
        axes: principal axes in the body frame, as columns; None where they are those of the body frame.
    """

    pose: AbstractPosePair
    axes: Float[Array, "3 3"] | None

    @property
    def height(self) -> int:
        """Sites, and derivatives in them from each side."""
        return 48

    def sites(self, x: X, R: R) -> Float[Array, "4 3 n"]:
        """Position, and directors of the body frame."""
        own = R if self.axes is None else jnp.einsum("ijn,kj->ikn", R, self.axes)
        return jnp.concatenate([x[None], jnp.moveaxis(own, 1, 0)])

    def energy(self, low: Array, high: Array) -> Float[Array, " n"]:
        """Energy of each pair of bodies."""
        return _each(self._one)(low, high)

    def pair(self, low: Array, high: Array, exists: Exists) -> tuple[Array, Array]:
        """Derivatives in the sites of both bodies, by automatic differentiation."""
        both = _each(jax.grad(self._one, argnums=(0, 1)))(low, high)
        if exists is None:
            return both
        return jax.tree.map(lambda part: jnp.where(exists[None, None], part, 0.0), both)

    def collect(self, before, behind, below, own, above) -> Float[Array, "4 3 n"]:
        """The sum from both sides."""
        return before[1] + behind[0]

    def pull_back(self, slope: Float[Array, "4 3 n"]) -> tuple[X, R]:
        """The derivatives themselves, turned to the principal axes."""
        own = jnp.moveaxis(slope[1:], 0, 1)
        return slope[0], own if self.axes is None else jnp.einsum("ikn,kj->ijn", own, self.axes)

    def _one(self, low: Float[Array, "4 3"], high: Float[Array, "4 3"]) -> Array:
        return self.pose.energy(high[0] - low[0], low[1:].T, high[1:].T)


def _each(function: Callable) -> Callable:
    """A function of one pair of bodies, for many along the last axis."""
    return jax.vmap(function, in_axes=-1, out_axes=-1)


def _square(first, second) -> Array:
    """Squared distance of two points given by their coordinates."""
    dx, dy, dz = (second[i] - first[i] for i in range(3))
    return dx * dx + dy * dy + dz * dz


def _sum(terms: list[Array]) -> Array:
    """A sum written out, which XLA fuses with its surroundings."""
    return reduce(operator.add, terms)
