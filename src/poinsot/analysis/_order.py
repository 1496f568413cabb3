"""The order of a method, from a ladder of halved steps."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.analysis._travel import travel
from poinsot.core import AbstractProblem, InputError, Packed, State, checked
from poinsot.integrators import AbstractIntegrator, FixedPoint, GaussLegendre
from poinsot.simulation._validate import check_state, fixed_for
from poinsot.solvers import EPS

LADDER = tuple(2**k for k in range(2, 13))
"""Numbers of steps of the default ladder."""
LEGS = 4
"""Equal parts of a run, at whose ends the error is taken: at one time alone it may happen to be small."""
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
    """Largest error of any component at any of the times compared, per label; infinite where a run failed."""
    floor: dict[str, np.ndarray]
    """Round-off expected there; smaller errors say nothing about the method."""
    slope: dict[str, float]
    """Slope of each; NaN when fewer than three points can be used."""
    used: dict[str, np.ndarray]
    """Which points the slope is fitted to."""

    @property
    def order(self) -> float:
        """The smallest slope: the order of the method is that of its worst component."""
        return min(self.slope.values())


@checked
def order_estimate(
    problem: AbstractProblem,
    integrator: AbstractIntegrator | str,
    state: State,
    t1: float,
    *,
    t0: float = 0.0,
    reference: State | None = None,
    steps: Sequence[int] = LADDER,
) -> OrderEstimate:
    r"""Measure the order of convergence of the global error up to `t1`, in the maximum norm.

    The error is the largest over all components at the quarters of the run. The slope is fitted by least
    squares to $\log e$ against $\log h$, for each label of the state. Which points count is decided without
    knowing the declared order:

    1. points at the round-off floor are dropped: those below $16\,\varepsilon \sqrt n$ times the size of the
       solution, after $n$ steps, and all finer ones;
    2. of the rest the three finest are taken, and coarser ones as long as the slope between neighbours stays
       within 0.1 of the finest such slope: coarser points are not yet asymptotic.

    Args:
        problem: a nonlinear one: on a linear problem many methods show an order they do not have.
        integrator: the method, or its name.
        state: start.
        t1: end time.
        t0: start time.
        reference: the exact solution, either at `t1` or, with a leading axis, at equally spaced times up to
            `t1`; by default `reference_solution` at the quarters.
        steps: numbers of steps from `t0` to `t1`, increasing, each divisible by the number of times compared.
    """
    integrator = fixed_for(problem, integrator, "order_estimate")
    y = check_state(problem, state, t0)
    exact = _compared(problem, state, t0, t1, reference)
    legs = exact.shape[0]
    counts = np.asarray(steps, dtype=np.int64)
    if counts.ndim != 1 or len(counts) < 3 or np.any(np.diff(counts) <= 0) or counts[0] < 1:
        raise InputError(f"steps = {list(steps)!r}; give at least three increasing numbers of steps")
    if np.any(counts % legs):
        raise InputError(f"steps = {list(steps)!r}; each must be divisible by the {legs} times compared")
    h = (t1 - t0) / counts
    halves = _by_label(problem, exact)
    size = {label: float(np.max(np.abs(values))) for label, values in halves.items()}
    floor = {label: FLOOR * EPS * np.sqrt(counts) * size[label] for label in size}
    error = {label: np.full(len(counts), np.inf) for label in size}
    rungs = len(counts)
    for rung in range(len(counts)):
        states = _visited(problem, integrator, y, t0, h[rung], int(counts[rung]) // legs, legs)
        for label, values in _by_label(problem, states - exact).items():
            largest = float(np.max(np.abs(values)))
            error[label][rung] = largest if np.isfinite(largest) else np.inf
        if all(error[label][rung] < floor[label][rung] for label in size):
            rungs = rung + 1
            break
    fits = {label: fit_slope(h[:rungs], error[label][:rungs], floor[label][:rungs]) for label in size}
    return OrderEstimate(
        steps=counts[:rungs],
        h=h[:rungs],
        error={label: values[:rungs] for label, values in error.items()},
        floor={label: values[:rungs] for label, values in floor.items()},
        slope={label: slope for label, (slope, _) in fits.items()},
        used={label: used for label, (_, used) in fits.items()},
    )


def _compared(problem: AbstractProblem, state: State, t0: float, t1: float, reference: State | None):
    """Packed exact states at the times compared, along a leading axis."""
    if reference is None:
        times = [t0 + (t1 - t0) * (leg + 1) / LEGS for leg in range(LEGS)]
        reference = reference_solution(problem, state, times, t0=t0)
    label = problem.labels[0]
    if reference[label].ndim == state[label].ndim:
        reference = State(**{name: value[None] for name, value in reference.items()})
    return np.asarray(jax.vmap(problem.pack)(reference))


def _visited(problem, integrator, y, t0: float, h: float, steps: int, legs: int) -> np.ndarray:
    """States at the ends of the legs; NaN after a failure."""
    states = np.full((legs, *y.shape), np.nan)
    for leg in range(legs):
        end = travel(problem, integrator, y, h, steps, t0 + leg * steps * h)
        if not end.ok:
            break
        y = end.y
        states[leg] = np.asarray(y)
    return states


def _by_label(problem: AbstractProblem, packed: np.ndarray) -> dict[str, np.ndarray]:
    """Parts of packed states by label."""
    states = jax.vmap(problem.unpack)(jnp.asarray(packed))
    return {label: np.asarray(states[label]) for label in problem.labels}


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


@checked
def reference_solution(
    problem: AbstractProblem,
    state: State,
    times: Sequence[float],
    *,
    t0: float = 0.0,
    tolerance: float = 1e-14,
) -> State:
    """The solution at some times to round-off, along a leading axis.

    Gauss of order 16, compensated, with steps halved until nothing changes.

    Raises:
        InputError: when `tolerance` is not reached with 2**17 steps between two times: the motion is too long
            or too wild.
    """
    y = check_state(problem, state, t0)
    visited = []
    for t1 in times:
        y = _accurate(problem, y, t0, t1, tolerance)
        visited.append(y)
        t0 = t1
    return jax.vmap(problem.unpack)(jnp.stack(visited))


def _accurate(problem: AbstractProblem, y: Packed, t0: float, t1: float, tolerance: float) -> Packed:
    """The packed solution at `t1`."""
    integrator = GaussLegendre(stages=8, solver=FixedPoint(tolerance=0.0), compensated=True)
    before = None
    for count in (2**k for k in range(3, 18)):
        end = travel(problem, integrator, y, (t1 - t0) / count, count, t0)
        if not end.ok:
            continue
        now = np.asarray(end.y)
        if before is not None and np.max(np.abs(now - before)) <= tolerance * np.max(np.abs(now)):
            return end.y
        before = now
    raise InputError(
        f"no reference solution at t = {t1!r} to {tolerance:g} with 2**17 steps; compare at earlier times, "
        "or give the reference"
    )
