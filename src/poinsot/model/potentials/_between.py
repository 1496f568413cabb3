"""Pair potentials between the bodies of a system."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from poinsot.core import InputError, quoted, title
from poinsot.core.types import Scalar

from .._places import as_bodies, body_field
from .._vectors import turned
from ._base import AbstractInvariantPotential, AbstractPotential, AbstractTerm, Directors, Positions
from ._pair import AbstractPair, is_table
from ._pose_pair import AbstractPosePair

if TYPE_CHECKING:
    from .._roster import Roster

MOST = 2**24
"""Pairs of particles that one term may have: all of them are in memory together."""


class Between(AbstractTerm):
    r"""A pair potential between every two of some bodies.

    $$ V = \sum_{i<j} \sum_{k,l} v\bigl(|x_j + R_j\rho_l - x_i - R_i\rho_k|^2\bigr) \qquad\text{or}\qquad
       V = \sum_{i<j} V(x_j - x_i, R_i, R_j) $$

    The first sum is over pairs of bodies, the second over their particles; a body without particles counts as
    one at its mass centre. Time and memory grow with the square of the number of bodies; they grow with the
    number itself in a `pt.Chain`, where neighbours act on each other. A pair potential given to a system by
    itself acts between all of its bodies.

    Args:
        pair: potential of two particles such as `LennardJones`, or of two poses such as `GayBerne`. A table
            (particle, particle) has a row for each particle of the body that comes first in `bodies`.
        bodies: two bodies or more, by name or place; all of the system when left out.

    Example:
        >>> import poinsot as pt
        >>> bond = pt.potentials.Between(pt.potentials.Morse(2.0, 0.4, 1.5), ["ball", "rotor"])
    """

    pair: AbstractPair | AbstractPosePair
    places: tuple[int, ...] | None = body_field()

    def __init__(self, pair: Any, bodies: Sequence[int | str] | None = None):
        if not isinstance(pair, (AbstractPair, AbstractPosePair)):
            raise InputError(
                f"pair of Between = {quoted(pair)}; it must be a potential of two particles or of two "
                "poses, such as pt.potentials.LennardJones(epsilon, sigma)"
            )
        self.pair = pair
        self.places = as_bodies(bodies, "bodies of Between")

    def of_bodies(self, roster: "Roster") -> AbstractPotential:
        """The sum over pairs of these bodies."""
        places = tuple(range(roster.count)) if self.places is None else self.places
        kind = type(self.pair).__name__
        if len(places) < 2:
            raise InputError(f"{kind} acts between two bodies or more, and has {len(places)}")
        if isinstance(self.pair, AbstractPosePair):
            _check_pairs(len(places) * (len(places) - 1) // 2, kind)
            return PosePairs(self.pair, places)
        counts = roster.particle_counts(places)
        # Squares of sums less sums of squares: pairs of particles of different bodies.
        _check_pairs((sum(counts) ** 2 - sum(count * count for count in counts)) // 2, kind)
        _check_table(self.pair, counts, [roster.names[place] for place in places])
        return ParticlePairs(self.pair, roster.particles(places), counts, places)


class ParticlePairs(AbstractInvariantPotential):
    r"""A pair potential between all particles of different bodies.

    Its invariants are the squared distances $s$, its energy their sum of $v(s)$; so forces and torques are
    $2 v'(s)\,\Delta$ at the particles.

    Args:
        pair: v.
        points: particles of the bodies in their body frames, body after body.
        counts: number of particles of each body.
        places: the bodies.
    """

    pair: AbstractPair
    points: Float[Array, "particle 3"]
    counts: tuple[int, ...] = eqx.field(static=True)
    places: tuple[int, ...] = body_field()

    @property
    def shown_as(self) -> str:
        """What it was made with."""
        return title(self.pair)

    def __repr__(self) -> str:
        return repr(self.pair)

    @property
    def bodies(self) -> tuple[int, ...]:
        """The bodies that act on each other."""
        return self.places

    def invariants(self, x: Positions, R: Directors) -> Float[Array, "k"]:
        """Squared distances of particles of different bodies."""
        body = np.repeat(np.asarray(self.places), self.counts)
        sites = x[body] + turned(R[body], self.points)
        first, second = self._pairs()
        apart = sites[second] - sites[first]
        return jnp.sum(apart * apart, axis=1)

    def energy_of(self, c: Float[Array, "k"]) -> Scalar:
        """Sum of the pair potential over squared distances."""
        if self.pair.table_shape is None:
            return jnp.sum(self.pair.energy(c))
        own = np.concatenate([np.arange(count) for count in self.counts])
        first, second = (own[which] for which in self._pairs())
        # A table keeps its three axes: with one entry for each pair it goes with squares of that shape.
        entries = jax.tree.map(
            lambda leaf: leaf[first, second, :, None] if is_table(leaf) else leaf, self.pair
        )
        return jnp.sum(entries.energy(c[:, None, None]))

    def _pairs(self) -> tuple[Int[np.ndarray, " k"], Int[np.ndarray, " k"]]:
        """Particles of each pair; the first belongs to the body that comes first."""
        body = np.repeat(np.arange(len(self.counts)), self.counts)
        first, second = np.nonzero(body[:, None] < body[None, :])
        return first, second


class PosePairs(AbstractPotential):
    """A potential of relative pose between every two of some bodies."""

    pose: AbstractPosePair
    places: tuple[int, ...] = body_field()

    @property
    def shown_as(self) -> str:
        """What it was made with."""
        return title(self.pose)

    def __repr__(self) -> str:
        return repr(self.pose)

    @property
    def takes_time(self) -> bool:
        """Time does not enter."""
        return False

    @property
    def bodies(self) -> tuple[int, ...]:
        """The bodies that act on each other."""
        return self.places

    def energy(self, t, x: Positions, R: Directors) -> Scalar:
        """Sum over pairs of bodies."""
        first, second = (np.asarray(self.places)[i] for i in np.triu_indices(len(self.places), 1))
        return jnp.sum(jax.vmap(self.pose.energy)(x[second] - x[first], R[first], R[second]))


def _check_pairs(pairs: int, kind: str) -> None:
    """Refuse more pairs than memory can hold together."""
    if pairs > MOST:
        raise InputError(
            f"{kind} acts between {pairs:,} pairs, more than {MOST:,}; name fewer bodies in "
            "pt.potentials.Between, or take a pt.Chain where neighbours act on each other"
        )


def _check_table(pair: AbstractPair, counts: tuple[int, ...], names: Sequence[str]) -> None:
    """Refuse a table that is not for the particles of every pair of bodies."""
    shape = pair.table_shape
    if shape is None:
        return
    if len(counts) > 2:
        pair.check_mutual()
    for i, j in combinations(range(len(counts)), 2):
        if shape != (counts[i], counts[j]):
            raise InputError(
                f"{type(pair).__name__} has a table of shape {shape}; {names[i]!r} and {names[j]!r} have "
                f"{counts[i]} and {counts[j]} particles, so it must be ({counts[i]}, {counts[j]})"
            )
