"""Looking through accepted steps for what ends a run, and finding the place inside a step."""

from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
import numpy as np

from poinsot.core import AbstractProblem, Result, optional
from poinsot.integrators.adaptive import Batch
from poinsot.simulation._event import Event
from poinsot.simulation._trajectory import in_blocks

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

    def __init__(self, problem: AbstractProblem, event: Event | None):
        self._problem, self._event = problem, event

    def cut(self, batch: Batch, t: float, y: np.ndarray) -> Batch:
        """The batch, which begins at `t` and `y`, up to the first reason to end the run.

        Where the state ceases to be finite the step that does it is left out; a singularity and a stop
        condition are located, and their step ends there.
        """
        broken = np.flatnonzero(~np.all(np.isfinite(batch.y), axis=1))
        if len(broken):
            batch = _before(batch, int(broken[0]), Result.non_finite)
        if not len(batch.t):
            return batch
        findings = [*self._singularity(batch, t), *self._stop(batch, t, y)]
        if not findings:
            return batch
        return cut(batch, *min(findings, key=lambda finding: abs(finding[0] - t)))

    def _singularity(self, batch: Batch, t: float) -> list[Finding]:
        """Where the problem first loses its meaning, by the ends of steps."""
        if self._problem.clearance(batch.y[0]) is None:
            return []
        look = partial(_clearance, self._problem)
        near = np.flatnonzero(in_blocks(look, batch.t, batch.y, BLOCK) < 0.0)
        if not len(near):
            return []
        step = int(near[0])
        begin = batch.t[step - 1] if step else t
        return [(_zero(look, batch, begin, batch.t[step]), step, Result.near_singularity)]

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
        met = np.flatnonzero(event.crossed(values[:-1], values[1:]))
        if not len(met):
            return []
        place = int(met[0])
        found = _zero(look, batch, points[place], points[place + 1])
        return [(found, place // SAMPLES, Result.stopped_by_event)]


def cut(batch: Batch, t: float, step: int, result: Result) -> Batch:
    """The batch up to time `t` within one of its steps, where the run ends with a result."""
    return Batch(
        t=np.append(batch.t[:step], t),
        y=np.concatenate([batch.y[:step], batch.dense(np.array([t]))]),
        rejected=batch.rejected[: step + 1],
        dense=batch.dense,
        result=result,
    )


def _before(batch: Batch, step: int, result: Result) -> Batch:
    """The batch without one of its steps and those after it."""
    return Batch(batch.t[:step], batch.y[:step], batch.rejected[:step], batch.dense, result)


def _zero(look: Callable, batch: Batch, begin: float, end: float) -> float:
    """Time between two at which a function of time and state vanishes, to round-off of the interval."""
    optimize = optional("scipy.optimize", "adaptive", "locating a stop condition")

    def value(fraction: float) -> float:
        times = np.array([begin + fraction * (end - begin)])
        return float(look(times, batch.dense(times))[0])

    if value(0.0) * value(1.0) >= 0.0:
        # A change of sign within round-off of the end, between a step's end and its dense output.
        return end
    fraction = optimize.brentq(value, 0.0, 1.0, xtol=1e-300, rtol=2.0**-50)
    return begin + fraction * (end - begin)


@eqx.filter_jit
def _clearance(problem: AbstractProblem, times, states):
    return jax.vmap(problem.clearance)(states)


@eqx.filter_jit
def _value(problem: AbstractProblem, event: Event, times, states):
    return jax.vmap(lambda t, y: event.value(problem, t, y))(times, states)
