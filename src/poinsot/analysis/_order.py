"""The order of a method, from a ladder of halved steps."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poinsot.analysis._travel import travel
from poinsot.core import AbstractProblem, InputError, State
from poinsot.integrators import AbstractIntegrator, FixedPoint, GaussLegendre
from poinsot.simulate._validate import check_integrator, check_state
from poinsot.solvers import EPS

LADDER = tuple(2**k for k in range(1, 13))
"""Numbers of steps of the default ladder."""
FLOOR = 16.0
"""Round-off expected of `n` steps, in units of `eps sqrt(n)` of the solution's size."""
ASYMPTOTIC = 0.1
"""How far a local slope may be from the finest one to belong to the asymptotic range."""


@dataclass(frozen=True)
class OrderEstimate:
    """Global errors on a ladder of steps, and the slopes fitted to them."""

    steps: np.ndarray
    """Numbers of steps."""
    h: np.ndarray
    """Step sizes."""
    error: dict[str, np.ndarray]
    """Largest error at the end, per label of the state; infinite where a run failed."""
    slope: dict[str, float]
    """Slope of each; NaN when fewer than three points can be used."""
    used: dict[str, np.ndarray]
    """Which points the slope is fitted to."""

    @property
    def order(self) -> float:
        """The smallest slope: the order of the method is that of its worst component."""
        return min(self.slope.values())


def order_estimate(
    problem: AbstractProblem,
    integrator: AbstractIntegrator,
    state: State,
    t1: float,
    *,
    t0: float = 0.0,
    reference: State | None = None,
    steps: Sequence[int] = LADDER,
) -> OrderEstimate:
    r"""Measure the order of convergence of the global error at `t1`, in the maximum norm.

    The slope is fitted by least squares to $\log e$ against $\log h$, for each label of the state. Which
    points count is decided without knowing the declared order:

    1. points at the round-off floor are dropped: those below $16\,\varepsilon \sqrt n$ times the size of the
       solution, after $n$ steps, and all finer ones;
    2. of the rest the three finest are taken, and coarser ones as long as the slope between neighbours stays
       within 0.1 of the finest such slope: coarser points are not yet asymptotic.

    Args:
        problem: a nonlinear one: on a linear problem many methods show an order they do not have.
        integrator: the method.
        state: start.
        t1: end time.
        t0: start time.
        reference: the exact solution at `t1`; else computed by `reference_solution`.
        steps: numbers of steps from `t0` to `t1`, increasing.
    """
    check_integrator(problem, integrator)
    y = check_state(problem, state, t0)
    counts = np.asarray(steps, dtype=np.int64)
    if counts.ndim != 1 or len(counts) < 3 or np.any(np.diff(counts) <= 0) or counts[0] < 1:
        raise InputError(f"steps = {list(steps)!r}; give at least three increasing numbers of steps")
    exact = reference_solution(problem, state, t1, t0=t0) if reference is None else reference
    h = (t1 - t0) / counts
    error = {label: np.full(len(counts), np.inf) for label in problem.labels}
    size = {label: float(np.max(np.abs(exact[label]))) for label in problem.labels}
    floor = {label: FLOOR * EPS * np.sqrt(counts) * size[label] for label in problem.labels}
    for rung, count in enumerate(counts):
        end = travel(problem, integrator, y, h[rung], count, t0)
        if end.ok:
            there = problem.unpack(end.y)
            for label in problem.labels:
                error[label][rung] = np.max(np.abs(np.asarray(there[label] - exact[label])))
        if all(error[label][rung] < floor[label][rung] for label in problem.labels):
            counts, h = counts[: rung + 1], h[: rung + 1]
            break
    rungs = len(counts)
    fits = {label: fit_slope(h, error[label][:rungs], floor[label][:rungs]) for label in problem.labels}
    return OrderEstimate(
        steps=counts,
        h=h,
        error={label: values[:rungs] for label, values in error.items()},
        slope={label: slope for label, (slope, _) in fits.items()},
        used={label: used for label, (_, used) in fits.items()},
    )


def fit_slope(h: np.ndarray, error: np.ndarray, floor: np.ndarray) -> tuple[float, np.ndarray]:
    """Slope of `log error` against `log h` over the asymptotic range, and which points that is.

    Args:
        h: step sizes, decreasing in magnitude.
        error: errors there; infinite ones are left out.
        floor: round-off expected at each.
    """
    used = np.zeros(len(h), dtype=bool)
    buried = error < floor
    last = int(np.argmax(buried)) if np.any(buried) else len(h)
    usable = [k for k in range(last) if np.isfinite(error[k])]
    if len(usable) < 3 or usable[-3] != usable[-1] - 2:
        return math.nan, used
    x, e = np.log(np.abs(h)), np.log(np.where(np.isfinite(error) & (error > 0.0), error, 1.0))
    local = np.diff(e) / np.diff(x)
    first = usable[-3]
    while first - 1 in usable and abs(local[first - 1] - local[usable[-2]]) <= ASYMPTOTIC:
        first -= 1
    used[first : usable[-1] + 1] = True
    return float(np.polyfit(x[used], e[used], 1)[0]), used


def reference_solution(
    problem: AbstractProblem, state: State, t1: float, *, t0: float = 0.0, tolerance: float = 1e-14
) -> State:
    """The solution at `t1` to round-off: Gauss of order 16, compensated, steps halved until nothing changes.

    Raises:
        InputError: when `tolerance` is not reached with 2**17 steps: the motion is too long or too wild.
    """
    integrator = GaussLegendre(stages=8, solver=FixedPoint(tolerance=0.0), compensated=True)
    y = check_state(problem, state, t0)
    before = None
    for count in (2**k for k in range(3, 18)):
        end = travel(problem, integrator, y, (t1 - t0) / count, count, t0)
        if not end.ok:
            continue
        now = np.asarray(end.y)
        if before is not None and np.max(np.abs(now - before)) <= tolerance * np.max(np.abs(now)):
            return problem.unpack(end.y)
        before = now
    raise InputError(
        f"t1 = {t1!r}: no reference solution to {tolerance:g} with 2**17 steps; take an earlier t1, or give "
        "the reference"
    )
