"""States whose joints are closed: checked, or found."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.core import (
    PLACING,
    PLACING_REPETITIONS,
    InputError,
    Rows,
    State,
    concrete,
    known_numbers,
    on_device,
)
from poinsot.kernels import once
from poinsot.rotation import multiply, quat_exp

from ._compact import AnyLinkage, compact
from ._dependence import matrices
from ._driven import Driven
from ._linkage import Linkage
from ._near import Asked, Assembled, drives_of, placed_along_joints, told
from ._start import check_physical
from ._tree_motion import expanded, rate_count

if TYPE_CHECKING:
    from ._abstract_system import AbstractSystem

CLOSED = 1e-8
"""How far joints may be open at the start, relative to one plus the size of positions or velocities."""
CORRECTIONS = 50
"""Largest number of corrections of an assembly."""
HEAVY = 1e-12
"""Weight of the motion of what is kept."""
TRIALS = 3
"""Starts of the iteration, all but the first with joints moved at random."""
SHAKEN = 0.3
"""How far these are moved, in radians or units of length."""
REPEATED = 10
"""Largest number of corrections of velocities."""
FALL = 0.01
r"""How much $\varepsilon$ falls from one correction to the next, where that leaves less open."""
FELL = 1e-9
"""Share by which gaps must fall for that: at a singular pose they change by rounding."""
LEAST_SHIFT = 1e-13
r"""Smallest $\varepsilon$ of a correction: rounding in a solve over this must be repeated away."""
LONGEST = 0.5
"""Largest turn of a body in one of them, in radians: the Newton iteration starts anywhere."""


def check_closed(
    system: "AbstractSystem", t, state: State, what: str = "the start", closed: float = CLOSED
) -> None:
    """Refuse a state whose joints are open, or open up."""
    linkage = system.linkage
    if linkage is None or not concrete(state, t):
        return
    with known_numbers():
        held = compact(linkage)
        now = live_at(system, t, state)
        gaps, rates, sizes = opening(held, *now)
    if not concrete(gaps, rates, sizes):
        return
    large = np.asarray(sizes)
    for how, rows, size in (("open by", gaps, large[0]), ("opening at a rate of", rates, large[1])):
        joint, worst = _worst(held, rows)
        if not np.isfinite(worst):
            raise InputError(
                f"{linkage.label(joint)} is {how} {worst} at {what}; its function and the slope of that "
                "must be finite there"
            )
        if worst > closed * (1.0 + float(size)):
            fault = Driven.of(linkage, *now[:3]).fault() if rows is rates else None
            raise InputError(
                fault
                or f"{linkage.label(joint)} is {how} {worst:.3g} at {what}; take system.assemble(state), "
                "the nearest state with closed joints"
            )


def assembled(
    system: "AbstractSystem",
    t,
    given: State | Mapping[str, Mapping[str, Any]] | None,
    coordinates: Mapping[str, Any],
    velocity: Mapping[str, Any],
) -> Assembled:
    """A state with closed joints near a given one, with given coordinates and rates of joints.

    Raises:
        InputError: none was found.
    """
    if isinstance(given, State):
        check_physical(system.placed, system.names, t, given)
        near, placed, kept = given, [], np.full(3 * (len(system.translating) + len(system.rotating)), False)
    else:
        near, placed, kept = placed_along_joints(system, t, given or {})
    linkage = system.linkage
    if linkage is None:
        return Assembled(near, "there are no joints")
    t, x, quat, v, Omega = live_at(system, t, near)
    at, moving = (drives_of(system, given, level, t) for level, given in enumerate((coordinates, velocity)))
    x, quat, corrections = _closed(linkage, at, t, x, quat, kept)
    v, Omega = _moving_along(linkage.with_conditions(moving), t, x, quat, v, Omega)
    state = _from_live(system, t, x, quat, v, Omega)
    return Assembled(state, told(system.names, near, state, placed, corrections))


def _closed(
    linkage: Linkage, asked: Sequence[Asked], t, x: Array, quat: Array, kept: np.ndarray
) -> tuple[Array, Array, int]:
    """Live positions and rotations with closed joints, and the number of corrections that led there.

    Args:
        linkage: the joints.
        asked: coordinates that are given.
        t: time.
        x: live positions.
        quat: live rotations.
        kept: whether each number of the twist is to stay, if it can.
    """
    found, label, least = _attempted(linkage.with_conditions(asked), t, x, quat, kept)
    if found is not None:
        return found
    places = range(len(asked))
    for without in [*([k] for k in places), *([list(places)] if len(asked) > 1 else [])]:
        others = linkage.with_conditions([asked[k] for k in places if k not in without])
        found, *_ = _attempted(others, t, x, quat, kept)
        if found is not None:
            raise InputError(_contradicted(linkage, [asked[k] for k in without], t, *found[:2]))
    raise InputError(
        f"no consistent assembly was found: {label} stays open by {least:.3g}; start nearer to one, or look "
        "for joints that contradict each other"
    )


def _contradicted(linkage: Linkage, asked: Sequence[Asked], t, x: Array, quat: Array) -> str:
    """Which coordinates were given others than joints, drives and what else is given leave them."""
    whole = linkage.with_conditions(asked)
    off = opening(whole, t, x, quat, *_still(x, quat))[0][-len(asked) :]
    labels = [whole.label(len(linkage.conditions) + k) for k in range(len(asked))]
    given = [f"{label} at {one.value:.6g}" for label, one in zip(labels, asked, strict=True)]
    there = [f"{one.value + float(gap[0]):.6g}" for one, gap in zip(asked, off, strict=True)]
    return (
        f"no consistent assembly was found with {' and '.join(given)}; all others go together at "
        f"{' and '.join(there)}, for instance; leave it out, or give another value"
    )


def _attempted(
    linkage: Linkage, t, x: Array, quat: Array, kept: np.ndarray
) -> tuple[tuple[Array, Array, int] | None, str, float]:
    """Close the joints: pose and corrections, or None; what stayed open then, and by how much.

    What is kept weighs so much that it moves only if it must. From some starts the iteration leads nowhere:
    bars in a line cannot be bent by forces along it. Then it starts anew with the joints of the tree moved a
    little, the same way every time.
    """
    draw, still = np.random.default_rng(0), _still(x, quat)
    shakes = SHAKEN * draw.standard_normal((TRIALS - 1, rate_count(linkage)))
    weights = on_device(np.where(kept, HEAVY, 1.0) * np.asarray(linkage.weights))
    heavy = eqx.tree_at(lambda one: one.weights, linkage, weights)
    least, label = np.inf, ""
    for weighed in (heavy, linkage) if np.any(kept) else (linkage,):
        held = compact(weighed)
        for shake in (None, *shakes):
            start = (x, quat) if shake is None else _moved(linkage, t, x, quat, shake, ~kept)
            *found, corrections = iterated(held, t, *start)
            gaps, _, sizes = opening(held, t, *found, *still)
            joint, worst = _worst(held, gaps)
            if worst <= CLOSED * (1.0 + float(np.asarray(sizes)[0])):
                return (found[0], found[1], corrections), "", 0.0
            if worst < least:
                least, label = worst, linkage.label(joint)
    return None, label, least


def _still(x: Array, quat: Array) -> tuple[np.ndarray, np.ndarray]:
    """Velocities of bodies at rest."""
    return np.zeros(x.shape), np.zeros((3, quat.shape[1]))


def iterated(linkage: AnyLinkage, t, x: Array, quat: Array) -> tuple[Array, Array, int]:
    """The Newton iteration, until joints are closed to round-off or it has gone on for too long."""
    shift, before = PLACING, np.inf
    for corrections in range(CORRECTIONS):
        *moved, largest = _corrected(linkage, t, x, quat, on_device(shift))
        if float(largest) <= 1e-15 * (1.0 + float(np.max(np.abs(np.asarray(x)), initial=0.0))):
            return x, quat, corrections
        # As of Levenberg and Marquardt.
        shift = FALL * shift if float(largest) < (1.0 - FELL) * before else min(PLACING, shift / FALL)
        (x, quat), before = moved, float(largest)
    return x, quat, CORRECTIONS


def _moving_along(linkage: Linkage, t, x: Array, quat: Array, v: Array, Omega: Array) -> tuple[Array, Array]:
    """Velocities that keep the joints closed, nearest to given ones in the metric of the mass."""
    held = compact(linkage)
    for repeated in range(REPEATED):
        v, Omega, off = _along(held, t, x, quat, v, Omega, jnp.asarray(PLACING * FALL**repeated))
        if not float(off) > 1e-15:
            break
    _, rates, sizes = opening(held, t, x, quat, v, Omega)
    joint, worst = _worst(held, rates)
    if not worst <= CLOSED * (1.0 + float(np.asarray(sizes)[1])):
        raise InputError(
            Driven.of(linkage, t, x, quat).rates()
            or f"no velocities keep the joints closed: {linkage.label(joint)} is off by a rate of "
            f"{worst:.3g}; give rates that go together, and none of a joint that a drive or a loop holds"
        )
    return v, Omega


def _worst(linkage: AnyLinkage, rows: Rows) -> tuple[int, float]:
    """Place and number of the condition that is furthest from zero."""
    sizes = np.hstack([np.max(np.abs(part), axis=-1) for part in rows])
    return linkage.listed[int(np.argmax(sizes))], float(np.max(sizes))


def live_at(system: "AbstractSystem", t, state: State) -> tuple[Array, Array, Array, Array, Array]:
    t = on_device(t, float)
    return t, *_live(system, t, state)


@once
def _live(system: "AbstractSystem", t, state: State) -> tuple[Array, Array, Array, Array]:
    return system.live(t, state)


@once
def _from_live(system: "AbstractSystem", t, *live: Array) -> State:
    return system.from_live(t, *live)


def _flat(v: Array, Omega: Array) -> Array:
    return jnp.concatenate([v.reshape(-1), Omega.reshape(-1)])


@once
def opening(linkage: AnyLinkage, t, x: Array, quat: Array, v: Array, Omega: Array):
    """Gaps and rates of all joints, and the sizes of positions and velocities."""
    R, twist = matrices(quat), _flat(v, Omega)
    sizes = jnp.stack([jnp.max(jnp.abs(x), initial=0.0), jnp.max(jnp.abs(twist), initial=0.0)])
    return linkage.gaps(t, x, R), linkage.rates(t, x, R, twist), sizes


@once
def _moved(linkage: Linkage, t, x: Array, quat: Array, rates: Array, loose: Array) -> tuple[Array, Array]:
    """Live positions and rotations after a unit time at constant rates along the tree, as far as loose."""
    return stepped(x, quat, jnp.where(loose, expanded(linkage, t, x, matrices(quat), rates), 0.0))


def stepped(x: Array, quat: Array, move: Array) -> tuple[Array, Array]:
    """Positions and rotations after a motion given as a twist."""
    turns = move[x.size :].reshape(3, quat.shape[1])
    return x + move[: x.size].reshape(x.shape), multiply(quat.T, quat_exp(turns.T)).T


@once
def _corrected(linkage: AnyLinkage, t, x: Array, quat: Array, shift: Array) -> tuple[Array, Array, Array]:
    """Live positions and rotations after a correction, and the largest gap before it."""
    R = matrices(quat)
    gaps = linkage.gaps(t, x, R)
    largest = _largest(gaps)
    off = largest / (1.0 + jnp.max(jnp.abs(x), initial=0.0))
    move = _answer(linkage, t, x, R, gaps, jnp.minimum(shift, PLACING * off))
    turns = move[x.size :].reshape(3, quat.shape[1])
    least = jnp.minimum(1.0, LONGEST / jnp.maximum(jnp.max(jnp.abs(turns), initial=0.0), 1e-300))
    return *stepped(x, quat, least * move), largest


@once
def _along(
    linkage: AnyLinkage, t, x: Array, quat: Array, v: Array, Omega: Array, shift: Array
) -> tuple[Array, Array, Array]:
    """Velocities along the joints, nearest in the metric of the mass, and how far off those given were."""
    R, twist = matrices(quat), _flat(v, Omega)
    rates = linkage.rates(t, x, R, twist)
    off = _largest(rates) / (1.0 + jnp.max(jnp.abs(twist), initial=0.0))
    push = _answer(linkage, t, x, R, rates, jnp.minimum(shift, PLACING * off))
    return v + push[: v.size].reshape(v.shape), Omega + push[v.size :].reshape(Omega.shape), off


def _answer(linkage: AnyLinkage, t, x: Array, R: Array, rows: Rows, shift: Array) -> Array:
    r"""The least twist, in the metric of the mass, that takes rows back, $G u = -b$.

    With a large $\varepsilon$ an iteration may start anywhere. But a body is moved only where it is below the
    ratio of the mass of another, through which joints act on it, and its own.
    """
    reach = linkage.at(t, x, R, jnp.maximum(LEAST_SHIFT, shift))
    return linkage.weights * reach.pull(reach.solve([-row for row in rows], PLACING_REPETITIONS))


def _largest(rows: Rows) -> Array:
    """Largest number of some rows."""
    return jnp.max(jnp.abs(jnp.concatenate([row.reshape(-1) for row in rows])))
