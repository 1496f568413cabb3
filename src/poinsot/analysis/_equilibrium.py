"""Equilibria: where bodies rest under their potential energy, and whether they stay there."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import jax.numpy as jnp
import numpy as np

from poinsot.core import InputError, State
from poinsot.model import AbstractSystem, Chain

from ._binding import Binding, binding
from ._descent import approach, descend, resting
from ._displacements import Point, check_conservative, moved, point_of, state_of
from ._spectrum import Linearisation, linearisation, rigid_motions, unstable_count

Kind = Literal["minimum", "saddle", "dissociated", "none"]

SAME = 1e-8
"""Energies closer than this, relative to their size, are of one stationary point."""
KICK_MOVE, KICK_TURN = 5.0, 0.3
"""Random starts: standard deviation of displacements in trial lengths, and of rotations."""
TIGHTEST = 0.6
"""Random starts are drawn together by up to this factor, since bonds that are too long break."""


@dataclass(frozen=True, repr=False)
class Equilibrium:
    """A place of rest, or the best that was found."""

    name: str
    """Of the system."""
    state: State
    """All bodies at rest there."""
    energy: float
    """Potential energy."""
    force: float
    """Largest component of the forces and torques that are left."""
    kind: Kind
    """ "minimum", "saddle", "dissociated" where the bodies do not hold together any more, or "none" where the
    forces do not vanish."""
    unstable: int
    """Number of unstable directions: negative eigenvalues of the second derivatives, beyond round-off."""
    zero: int
    """Number of rigid motions that meet no resistance."""
    asymmetry: float
    """Of the matrix of second derivatives, relative: round-off."""
    groups: str
    """Which bodies hold together."""
    t: float = 0.0
    others: tuple["Equilibrium", ...] = ()
    """What else was found: minima, saddles, and states in which the bodies have come apart."""

    @property
    def stable(self) -> bool:
        """Whether it is a minimum."""
        return self.kind == "minimum"

    def __repr__(self) -> str:
        lines = [f"equilibrium of {self.name}: {self._verdict()}"]
        lines.append(f"  energy {self.energy:.10g}, largest force left {self.force:.1e}")
        for other in self.others:
            lines.append(f"  from other starts: {other._verdict()}; energy {other.energy:.10g}")
        return "\n".join(lines)

    def _verdict(self) -> str:
        if self.kind == "minimum":
            free = f", {self.zero} rigid motions free" if self.zero else ""
            return f"minimum, no unstable direction{free}"
        if self.kind == "saddle":
            return f"saddle, {self.unstable} unstable directions"
        if self.kind == "dissociated":
            return f"none, the bodies have come apart (bound together: {self.groups})"
        return "none was found, the forces do not vanish"


def equilibrium(
    system: AbstractSystem,
    start: State | None = None,
    *,
    starts: int = 8,
    seed: int = 0,
    t: float = 0.0,
    steps: int = 400,
) -> Equilibrium:
    r"""The lowest minimum of the potential energy that is found from several starts.

    From each start Newton steps with a shift go down to a minimum, past saddles; the stationary point next to
    the first start is looked for too, whatever its kind. Long chains have very many minima, and the lowest
    that was found need not be the lowest there is.

    Args:
        system: bodies without loads.
        start: where to begin; that of `system.state()` when left out, for a chain the straight one.
        starts: number of starts, the first of them as given and the others displaced at random.
        seed: of the random numbers.
        t: time at which ends that are moved are held.
        steps: most steps from each start.

    Returns:
        The lowest minimum in which all bodies hold together, and in `others` what else was found. If there is
        none, `kind` says so: the bodies came apart, or the forces did not vanish.

    Raises:
        InputError: loads, or no start.
    """
    check_conservative(system)
    if starts < 1:
        raise InputError(f"starts = {starts}; at least one is needed")
    first, whole = _beginning(system, start, t)
    arrivals = [descend(system, point, steps) for point in _starts(system, first, starts, seed)]
    arrivals.append(approach(system, first, steps))
    found = [_judged(system, whole, arrival) for arrival in arrivals]
    found.sort(key=_rank)
    best, others = found[0], _distinct([one for one in found if one.kind != "none"])
    return replace(best, others=tuple(one for one in others if not _same(one, best)))


def stationary_point(
    system: AbstractSystem, start: State | None = None, *, t: float = 0.0, steps: int = 400
) -> Equilibrium:
    """The stationary point of the potential energy next to a start, minimum or saddle.

    Args:
        system: bodies without loads.
        start: where to begin; as in `equilibrium`.
        t: time at which ends that are moved are held.
        steps: most steps.
    """
    check_conservative(system)
    first, whole = _beginning(system, start, t)
    return _judged(system, whole, approach(system, first, steps))


def _beginning(system: AbstractSystem, start: State | None, t: float) -> tuple[Point, Binding]:
    """Where a search begins, and what holds together there."""
    if start is None:
        start = system.straight_state(t=t) if isinstance(system, Chain) else system.state(t=t)
    first = point_of(system, start, t)
    about = linearisation(system, first)
    if not np.isfinite(about.energy) or not np.all(np.isfinite(about.slope)):
        raise InputError(
            f"start of {system.name!r}: the potential energy is {about.energy:g}, and it or a force is not "
            "finite; move the bodies apart"
        )
    return first, binding(about, 0.0)


def _starts(system: AbstractSystem, first: Point, count: int, seed: int) -> Iterator[Point]:
    """The first start, and others drawn together towards its first body and displaced at random."""
    yield first
    draw = np.random.default_rng(seed)
    lengths = np.asarray(system.trial_lengths(first.x))
    for _ in range(count - 1):
        factor = draw.uniform(TIGHTEST, 1.0)
        closer = (factor - 1.0) * np.asarray(first.x - first.x[:, :1])
        dx = closer + KICK_MOVE * lengths * draw.standard_normal(first.x.shape)
        w = KICK_TURN * draw.standard_normal(first.quat[1:].shape)
        yield moved(first, jnp.asarray(dx), jnp.asarray(w))


def _judged(system: AbstractSystem, whole: Binding, about: Linearisation) -> Equilibrium:
    """What kind of place a search came to."""
    unstable, bound = unstable_count(about), binding(about)
    kind: Kind = "none"
    if bound.looser_than(whole):
        kind = "dissociated"
    elif resting(system, about):
        kind = "saddle" if unstable else "minimum"
    return Equilibrium(
        name=system.name,
        state=state_of(system, about.point),
        energy=about.energy,
        force=about.force,
        kind=kind,
        unstable=unstable,
        zero=rigid_motions(about).shape[1],
        asymmetry=about.asymmetry,
        groups=str(bound),
        t=float(about.point.t),
    )


def _rank(found: Equilibrium) -> tuple[int, float]:
    """Minima first, then by energy; of searches that came to no rest the one with the least force."""
    order = ("minimum", "saddle", "dissociated", "none").index(found.kind)
    return order, found.force if found.kind == "none" else found.energy


def _same(one: Equilibrium, other: Equilibrium) -> bool:
    close = abs(one.energy - other.energy) <= SAME * max(1.0, abs(one.energy), abs(other.energy))
    return close and one.unstable == other.unstable


def _distinct(found: list[Equilibrium]) -> list[Equilibrium]:
    kept: list[Equilibrium] = []
    for one in found:
        if not any(_same(one, other) for other in kept):
            kept.append(one)
    return kept
