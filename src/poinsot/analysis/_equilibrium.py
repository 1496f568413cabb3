"""Equilibria: where bodies rest under their potential energy, and whether they stay there."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import jax.numpy as jnp
import numpy as np

from poinsot.core import InputError, State, checked, whole
from poinsot.kernels import settled
from poinsot.model import AbstractSystem, Chain

from ._binding import Binding, binding
from ._descent import approach, descend, resting, settle
from ._displacements import Point, moved, point_of, state_of
from ._joint_tangent import closed
from ._linearisation import Linearisation, linearisation
from ._load_slopes import act_at_rest
from ._spectrum import neutral_motions, unstable_count
from ._unbalanced import refuse_unbalanced

Kind = Literal["minimum", "saddle", "dissociated", "none"]

ALIKE = 0.05
"""Least forces of two starts that differ by less, relative, are the same: there is no place of rest."""
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
    forces do not vanish. Under loads that act on bodies at rest "minimum" says that there is no unstable
    direction: they have no energy of which it could be one."""
    unstable: int
    """Number of unstable directions: negative eigenvalues of the stiffness, beyond round-off."""
    zero: int
    """Number of motions that meet no resistance: rigid ones, and others such as rods that spin about
    themselves between ball joints. The same as of `modes` and `damped_modes`."""
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
            free = f", motions without resistance: {self.zero}" if self.zero else ""
            return f"minimum, no unstable direction{free}"
        if self.kind == "saddle":
            return f"saddle, {self.unstable} unstable directions"
        if self.kind == "dissociated":
            return f"none, the bodies have come apart (bound together: {self.groups})"
        return "none was found, the forces do not vanish"


@checked
def equilibrium(
    system: AbstractSystem,
    start: State | None = None,
    *,
    starts: Annotated[int, whole(1, 10_000)] = 8,
    seed: Annotated[int, whole(0)] = 0,
    t: float = 0.0,
    steps: Annotated[int, whole(1, 10**6)] = 400,
) -> Equilibrium:
    r"""The lowest minimum of the potential energy that is found from several starts.

    Or, where loads act on bodies at rest, a place where they and the forces of the potential balance.

    From each start Newton steps with a shift go down to a minimum, past saddles; the stationary point next to
    the first start is looked for too, whatever its kind. Long chains have very many minima, and the lowest
    that was found need not be the lowest there is. Joints stay closed: the minimum is one on the surface of
    closed joints, where their forces balance those of the potential.

    Loads are taken at rates of zero and the given time: dampers do nothing, a motor of constant torque
    pushes. Since such loads have no energy, the bodies follow the forces from a start until these vanish,
    and the first stable place is returned; else the place of rest next to a start, whatever its kind.

    Args:
        system: the bodies.
        start: where to begin. When left out that of `system.state()`, for a chain the straight one, for
            bodies with joints the recommended one, or one with the joints closed.
        starts: number of starts, the first of them as given and the others displaced at random.
        seed: of the random numbers.
        t: time at which loads are taken, and ends that are moved are held.
        steps: most steps from each start.

    Returns:
        The lowest minimum in which all bodies hold together, and in `others` what else was found. If there is
        none, `kind` says so: the bodies came apart, or the forces did not vanish.

    Raises:
        InputError: no start, or loads that nothing balances; the message says which, and what is left.
    """
    system = settled(system)
    first, whole = _beginning(system, start, t)
    loaded, arrivals = act_at_rest(system, first), []
    if not loaded:
        arrivals = [descend(system, point, steps) for point in _starts(system, first, starts, seed)]
        arrivals.append(approach(system, first, steps))
    # Some loads, such as those of a contact, act only where a search has come to.
    if loaded or any(act_at_rest(system, arrival.point) for arrival in arrivals):
        arrivals = _balanced(system, _starts(system, first, starts, seed), steps)
    found = [_judged(system, whole, arrival) for arrival in arrivals]
    found.sort(key=_rank)
    best, others = found[0], _distinct([one for one in found if one.kind != "none"])
    return replace(best, others=tuple(one for one in others if not _same(one, best)))


@checked
def stationary_point(
    system: AbstractSystem, start: State | None = None, *, t: float = 0.0, steps: int = 400
) -> Equilibrium:
    """The place of rest next to a start, stable or not: of potentials a minimum or a saddle.

    Args:
        system: bodies, as in `equilibrium`.
        start: where to begin; as there.
        t: time at which loads are taken, and ends that are moved are held.
        steps: most steps.

    Raises:
        InputError: loads that nothing balances.
    """
    first, whole = _beginning(system, start, t)
    loaded = act_at_rest(system, first)
    arrival = approach(system, first, steps, loaded=loaded)
    if not loaded and act_at_rest(system, arrival.point):
        loaded, arrival = True, approach(system, arrival.point, steps, loaded=True)
    if loaded and not resting(arrival):
        refuse_unbalanced(system, arrival)
    return _judged(system, whole, arrival)


def _balanced(system: AbstractSystem, points: Iterator[Point], steps: int) -> list[Linearisation]:
    """Where bodies rest under loads: from each start in turn.

    Until a stable place is found, or the same least force a second time.

    Raises:
        InputError: there is no place of rest.
    """
    found = []
    for point in points:
        settled = settle(system, point, steps)
        arrival = approach(system, settled.point, steps, loaded=True)
        rests, again = resting(arrival), any(_alike(arrival, other) for other in found)
        found.append(arrival)
        if (rests and not unstable_count(arrival)) or (again and not rests):
            break
    if not any(resting(arrival) for arrival in found):
        refuse_unbalanced(system, min(found, key=lambda arrival: arrival.unrest))
    return found


def _alike(one: Linearisation, other: Linearisation) -> bool:
    return abs(one.force - other.force) <= ALIKE * max(one.force, other.force)


def _beginning(system: AbstractSystem, start: State | None, t: float) -> tuple[Point, Binding]:
    """Where a search begins, and what holds together there."""
    if start is None:
        start = system.straight_state(t=t) if isinstance(system, Chain) else _default(system, t)
    system.check_state(t, start, closed=None)
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
    elif resting(about):
        kind = "saddle" if unstable else "minimum"
    return Equilibrium(
        name=system.name,
        state=state_of(system, about.point),
        energy=about.energy,
        force=about.force,
        kind=kind,
        unstable=unstable,
        zero=neutral_motions(about).shape[1],
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
