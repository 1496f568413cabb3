"""Looking through accepted steps for what ends a run, and finding the place inside a step."""

from collections.abc import Callable
from functools import partial

import jax
import numpy as np

from poinsot.core import AbstractProblem, Packed, Result, optional
from poinsot.integrators.adaptive import Batch
from poinsot.kernels import jitted
from poinsot.simulation._evaluation import in_blocks
from poinsot.simulation._event import Event
from poinsot.simulation._fold import Folds

SAMPLES = 8
"""Points of a step, its end included, between which a stop condition is looked at for a change of sign.

Steps of high order are long; a condition that is met and left again within one would be missed at its ends.
"""
BLOCK = 256
"""States looked at in one call of a compiled function."""

Finding = tuple[float, int, Result]
"""Time, step and reason of an end."""


class Lookout:
    """Watches a run for states that are not finite, for singularities and for a stop condition."""

    def __init__(self, problem: AbstractProblem, event: Event | None, y: Packed, folds: Folds | None = None):
        self._problem, self._event, self._folds = problem, event, folds
        self._singular = problem.clearance(y) is not None

    def cut(self, batch: Batch, t: float, y: np.ndarray) -> Batch:
        """The batch, which begins at `t` and `y`, up to the first reason to end the run.

        Where the state ceases to be finite the step that does it is left out; a singularity and a stop
        condition are located, and their step ends there.
        """
        # Sums first, which are finite only if all are: looking at each takes several times as long.
        if not np.all(np.isfinite(np.ones(len(batch.y)) @ batch.y)):
            finite = np.all(np.isfinite(batch.y), axis=1)
            if not np.all(finite):
                batch = _before(batch, int(np.argmin(finite)), Result.non_finite)
        if not len(batch.t):
            return batch
        findings = [*self._singularity(batch, t, y), *self._fold(batch, t, y), *self._stop(batch, t, y)]
        if not findings:
            return batch
        return cut(batch, *min(findings, key=lambda finding: abs(finding[0] - t)))

    def _singularity(self, batch: Batch, t: float, y: np.ndarray) -> list[Finding]:
        """Where the problem first loses its meaning: at the end of a step, or on the way through it.

        A step that leaps over a singularity shows it on the chord between its ends, which costs no evaluation
        of the right-hand side; only there is the dense output asked.
        """
        if not self._singular:
            return []
        look = partial(_clearance, self._problem)
        times, states = np.append(t, batch.t), np.concatenate([y[None], batch.y])
        ends = in_blocks(look, times, states, BLOCK)
        fractions = (np.arange(1, SAMPLES) / SAMPLES)[:, None]
        chords = states[:-1, None] + fractions * np.diff(states, axis=0)[:, None]
        moments = np.repeat(times[1:], SAMPLES - 1)
        inner = in_blocks(look, moments, chords.reshape(len(moments), -1), BLOCK).reshape(len(batch.t), -1)
        suspect = (ends[1:] < 0.0) | (np.min(inner, axis=1) < np.minimum(ends[:-1], ends[1:]))
        for step in np.flatnonzero(suspect):
            begin, end = times[step : step + 2]
            lowest = end if ends[step + 1] < 0.0 else _lowest(look, batch, begin, end)
            if _at(look, batch, lowest) < 0.0:
                return [(_zero(look, batch, begin, lowest), int(step), Result.near_singularity)]
        return []

    def _fold(self, batch: Batch, t: float, y: np.ndarray) -> list[Finding]:
        """Where joints that drift open first lose rank."""
        found = None if self._folds is None else self._folds.first(batch, t, y)
        return [] if found is None else [(*found, Result.joints_may_fold)]

    def _stop(self, batch: Batch, t: float, y: np.ndarray) -> list[Finding]:
        """Where the stop condition is first met, by points within the steps."""
        event = self._event
        if event is None:
            return []
        look = partial(_value, self._problem, event)
        begins = np.concatenate([[t], batch.t[:-1]])
        fractions = np.arange(1, SAMPLES) / SAMPLES
        inner = begins[:, None] + fractions * (batch.t - begins)[:, None]
        states = batch.dense(inner.reshape(-1)).reshape(len(begins), SAMPLES - 1, -1)
        points = np.append(t, np.concatenate([inner, batch.t[:, None]], axis=1))
        packed = np.concatenate([states, batch.y[:, None]], axis=1).reshape(-1, batch.y.shape[1])
        values = in_blocks(look, points, np.concatenate([y[None], packed]), BLOCK)
        met = np.flatnonzero(event.crossed(values[:-1], values[1:]) | np.isnan(values[1:]))
        if not len(met):
            return []
        place = int(met[0])
        if np.isnan(values[place + 1]):
            return [(points[place + 1], place // SAMPLES, Result.event_undefined)]
        found = _zero(look, batch, points[place], points[place + 1])
        return [(found, place // SAMPLES, Result.stopped_by_event)]


def cut(batch: Batch, t: float, step: int, result: Result) -> Batch:
    """The batch up to time `t` within one of its steps, or at its end, where the run ends with a result."""
    last = batch.y[step : step + 1] if t == batch.t[step] else batch.dense(np.array([t]))
    return Batch(
        t=np.append(batch.t[:step], t),
        y=np.concatenate([batch.y[:step], last]),
        rejected=batch.rejected[: step + 1],
        dense=batch.dense,
        result=result,
    )


def _before(batch: Batch, step: int, result: Result) -> Batch:
    """The batch without one of its steps and those after it."""
    return Batch(batch.t[:step], batch.y[:step], batch.rejected[:step], batch.dense, result)


def _at(look: Callable, batch: Batch, t: float) -> float:
    """A function of time and state on the dense output."""
    times = np.array([t])
    return float(look(times, batch.dense(times))[0])


def _zero(look: Callable, batch: Batch, begin: float, end: float) -> float:
    """Time between two at which a function of time and state vanishes, to round-off of the interval."""
    optimize = optional("scipy.optimize", "adaptive", "locating a stop condition")

    def value(fraction: float) -> float:
        return _at(look, batch, begin + fraction * (end - begin))

    if value(0.0) * value(1.0) >= 0.0:
        # A change of sign within round-off of the end, between a step's end and its dense output.
        return end
    return begin + optimize.brentq(value, 0.0, 1.0, xtol=1e-300, rtol=2.0**-50) * (end - begin)


def _lowest(look: Callable, batch: Batch, begin: float, end: float) -> float:
    """Time between two at which a function of time and state is least."""
    optimize = optional("scipy.optimize", "adaptive", "locating a singularity")
    bounds = sorted((begin, end))
    return float(optimize.minimize_scalar(lambda t: _at(look, batch, t), bounds=bounds, method="bounded").x)


@jitted
def _clearance(problem: AbstractProblem, times, states):
    return jax.vmap(problem.clearance)(states)


@jitted
def _value(problem: AbstractProblem, event: Event, times, states):
    return jax.vmap(lambda t, y: event.value(problem, t, y))(times, states)
