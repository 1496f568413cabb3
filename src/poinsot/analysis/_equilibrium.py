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
from ._displacements import Point, check_loads_rest, moved, point_of, state_of
from ._joint_tangent import closed
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
    that was found need not be the lowest there is. Joints stay closed: the minimum is one on the surface of
    closed joints, where their forces balance those of the potential.

    Args:
        system: bodies whose loads, if there are any, vanish at rest.
        start: where to begin. When left out that of `system.state()`, for a chain the straight one, for
            bodies with joints the recommended one, or one with the joints closed.
        starts: number of starts, the first of them as given and the others displaced at random.
        seed: of the random numbers.
        t: time at which ends that are moved are held.
        steps: most steps from each start.

    Returns:
        The lowest minimum in which all bodies hold together, and in `others` what else was found. If there is
        none, `kind` says so: the bodies came apart, or the forces did not vanish.

    Raises:
        InputError: loads on bodies at rest, or no start.
    """
    if starts < 1:
        raise InputError(f"starts = {starts}; at least one is needed")
    first, whole = _beginning(system, start, t)
    arrivals = [descend(system, point, steps) for point in _starts(system, first, starts, seed)]
    arrivals.append(approach(system, first, steps))
    found = [_judged(system, whole, arrival) for arrival in arrivals]
    found.sort(key=_rank)
    check_loads_rest(system, point_of(system, found[0].state, t))
    best, others = found[0], _distinct([one for one in found if one.kind != "none"])
    return replace(best, others=tuple(one for one in others if not _same(one, best)))


def stationary_point(
    system: AbstractSystem, start: State | None = None, *, t: float = 0.0, steps: int = 400
) -> Equilibrium:
    """The stationary point of the potential energy next to a start, minimum or saddle.

    Args:
        system: bodies, as in `equilibrium`.
        start: where to begin; as there.
        t: time at which ends that are moved are held.
        steps: most steps.
    """
    first, whole = _beginning(system, start, t)
    arrival = approach(system, first, steps)
    check_loads_rest(system, arrival.point)
    return _judged(system, whole, arrival)


def _beginning(system: AbstractSystem, start: State | None, t: float) -> tuple[Point, Binding]:
    """Where a search begins, and what holds together there."""
    if start is None:
        start = system.straight_state(t=t) if isinstance(system, Chain) else _default(system, t)
    first = closed(system, point_of(system, start, t))
    about = linearisation(system, first)
    if not np.isfinite(about.energy) or not np.all(np.isfinite(about.slope)):
        raise InputError(
            f"start of {system.name!r}: the potential energy is {about.energy:g}, and it or a force is not "
            "finite; move the bodies apart"
        )
    return first, binding(about, 0.0)


def _default(system: AbstractSystem, t: float) -> State:
    """The recommended start of bodies with joints; bodies as they stand where there is none."""
    if system.linkage is None:
        return system.state(t=t)
    recommendation = system.recommendation
    if recommendation is not None and recommendation.start is not None:
        return recommendation.start
    return system.assemble(t=t)


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
        if system.linkage is None:
            yield moved(first, jnp.asarray(dx), jnp.asarray(w))
            continue
        about = linearisation(system, first)
        # Along the joints, as far as the turns go: these set the size of what moves on joints.
        kick = about.whole(about.whole(np.eye(about.size)).T @ (about.roots * about.order.flat(0.0 * dx, w)))
        dx, w = about.order.parts(2.0 * kick / about.roots)
        yield closed(system, moved(first, jnp.asarray(dx), jnp.asarray(w)))


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
