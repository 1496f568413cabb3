"""Drives that jump, or move faster than steps can follow: found before a run, by their functions alone."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from poinsot.core import InputError, concrete
from poinsot.model import AbstractSystem
from poinsot.model.joints import Drive, angular
from poinsot.simulation._evaluation import at_states
from poinsot.simulation._turns import nearest_turn

LOOKED = 2**15
"""Intervals that a run is looked at in; where it has fewer steps, these are the intervals."""
PARTS = 8
"""Into so many an interval is cut where a function moves otherwise than its slopes at both ends say."""
SUSPECT = 1e-6
"""By how much it must, in units of how far the function moves in all, or of its largest rate."""
FALLS = 0.25
"""In an eighth of a step that must fall to this share: for a smooth function it falls to 1/512."""
NOISE = 1e4 * 2.0**-52
FINEST = 1e-9
"""What counts as a step of an adaptive solver, in units of the run: it comes down to any smooth rise."""
LEVELS = 8
"""Cuts by which a jump is located in the end."""

Course = Callable[[np.ndarray], np.ndarray]
"""A function of time with its first two derivatives, at many times: (time, 3)."""


class Jump(NamedTuple):
    """Where a motion jumps."""

    t: float
    order: int
    """0 where the position does, 1 where the rate does."""
    size: float


def check_drives_smooth(system: Any, t0: float, t1: float, dt: float | None) -> None:
    """Refuse a drive whose position or rate jumps during a run, unless it says that it may.

    Raises:
        InputError: it names the drive, its joint and the time.
    """
    linkage = system.linkage if isinstance(system, AbstractSystem) else None
    if linkage is None or t0 == t1:
        return
    span = min(t0, t1), max(t0, t1)
    step = FINEST * (span[1] - span[0]) if dt is None else abs(dt)
    for place, one in enumerate(linkage.conditions):
        if not isinstance(one, Drive) or one.jumps or not concrete(one, t0, t1):
            continue
        joint = linkage.joints[linkage.seen[place][0]]
        turns = angular((joint.freedoms or ())[one.place_in(joint)])
        jump = first_jump(_course_of(one), span, step, turns)
        if jump is not None:
            what = ("", "the rate of ")[jump.order]
            raise InputError(
                f"{what}{linkage.label(place)} jumps by {jump.size:.3g} at t = {jump.t:.6g}, or rises there "
                f"in less than a step of {step:.3g}; let it rise over several steps, or allow it by "
                "Drive(..., jumps=True)"
            )


def first_jump(course: Course, span: tuple[float, float], step: float, turns: bool = False) -> Jump | None:
    r"""Find the first place where a function or its rate jumps, or rises within a small part of a step.

    Over an interval $w$ a function $g$ grows by $\tfrac w2(g_0' + g_1')$ and a defect. Where $g$ is smooth,
    the defect falls with the third power of $w$, and with the first where its slope jumps. A jump stays. The
    intervals with a defect are cut until they are as short as a step, and then once more.

    Args:
        course: the function.
        span: times between which to look, the earlier first.
        step: length of a step.
        turns: whether whole turns do not count.
    """
    steps = (span[1] - span[0]) / step
    ends = np.linspace(*span, 1 + int(min(LOOKED, max(1.0, np.ceil(steps * (1.0 - 1e-9))))))
    seen = course(ends)
    found = []
    for order in (0, 1):
        g = seen[:, order]
        finite = g[np.isfinite(g)]
        if not len(finite):
            continue
        moves = np.ptp(finite) if order == 0 else np.max(np.abs(finite))
        floor = max(SUSPECT * float(moves), _noise(ends, seen, order))
        place = _jumps(_Defect(course, order, turns and order == 0), ends, step, floor)
        if place is not None:
            found.append(place)
    return min(found, default=None)


class _Defect(NamedTuple):
    """What a function, or its rate, moves by over intervals beside its slopes at both ends."""

    course: Course
    order: int
    turns: bool

    def __call__(self, times: Float[np.ndarray, "k n"]) -> Float[np.ndarray, "k m"]:
        """The defects between neighbours in each row; zero where anything is not finite."""
        seen = self.course(times.reshape(-1)).reshape(*times.shape, 3)
        g, slope = seen[..., self.order], seen[..., self.order + 1]
        with np.errstate(invalid="ignore", over="ignore"):
            off = np.diff(g) - 0.5 * np.diff(times) * (slope[:, 1:] + slope[:, :-1])
        off = np.where(np.isfinite(off), off, 0.0)
        return np.abs(nearest_turn(off, np.zeros(())) if self.turns else off)


def _jumps(defect: _Defect, ends: np.ndarray, step: float, floor: float) -> Jump | None:
    """The first jump between some times, or None."""
    some = np.flatnonzero(defect(ends[None])[0] > floor)
    begin, width = ends[some], ends[some + 1] - ends[some]
    while len(begin):
        parts, worst, times = _cut(defect, begin, width)
        stays = parts > floor
        if width[0] <= step * (1.0 + 1e-9):
            # The defect of one step may vanish by chance, where that of those beside it does not.
            beside = np.clip(begin[:, None] + width[:, None] * np.arange(-1.0, 3.0), ends[0], ends[-1])
            stays &= parts > FALLS * np.max(defect(beside), axis=1)
            if not np.any(stays):
                return None
            first = int(np.argmax(stays))
            return _located(defect, times[first, worst[first]], width[first] / PARTS)
        begin, width = times[np.arange(len(begin)), worst][stays], width[stays] / PARTS
    return None


def _cut(defect: _Defect, begin: np.ndarray, width: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Largest defects of parts of intervals, which parts these are, and their ends."""
    times = begin[:, None] + width[:, None] * (np.arange(PARTS + 1) / PARTS)
    parts = defect(times)
    worst = np.argmax(parts, axis=1)
    return parts[np.arange(len(begin)), worst], worst, times


def _located(defect: _Defect, begin: float, width: float) -> Jump:
    """Where in an interval the jump is."""
    size = 0.0
    for _ in range(LEVELS):
        parts, worst, times = _cut(defect, np.array([begin]), np.array([width]))
        if not parts[0] > 0.5 * size:
            break
        size, begin, width = float(parts[0]), float(times[0, worst[0]]), width / PARTS
    return Jump(begin + 0.5 * width, defect.order, size)


def _noise(times: np.ndarray, seen: np.ndarray, order: int) -> float:
    """What rounding leaves of defects: of the values, and of the time."""
    with np.errstate(invalid="ignore", over="ignore"):
        sizes = np.abs(seen[:, order]) + np.abs(times * seen[:, order + 1])
    return NOISE * float(np.max(sizes[np.isfinite(sizes)], initial=0.0))


def _course_of(drive: Drive) -> Course:
    function = drive.unnamed().function

    def course(times: np.ndarray) -> np.ndarray:
        return np.asarray(at_states(_course, function, times, np.zeros((len(times), 1))))

    return course


def _course(function: Callable, grid: Any, at: Any) -> Float[jax.Array, "3"]:
    """A function of time with its first two derivatives."""
    t, _ = at

    def rate(t):
        return jax.jvp(function, (t,), (jnp.ones_like(t),))

    (value, slope), (_, bend) = jax.jvp(rate, (t,), (jnp.ones_like(t),))
    return jnp.stack([value, slope, bend])
