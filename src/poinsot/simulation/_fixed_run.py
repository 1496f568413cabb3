"""The run of an integrator with fixed steps, in chunks between which progress is shown."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from poinsot.core import AbstractProblem, Packed, Result
from poinsot.integrators import AbstractIntegrator
from poinsot.simulation._event import Event
from poinsot.simulation._loop import LoopState, Marcher, begin, locate_event
from poinsot.simulation._progress import Progress
from poinsot.simulation._row_march import RowMarcher
from poinsot.simulation._row_shards import RowShards, row_marcher
from poinsot.simulation._schedule import Pace, Schedule
from poinsot.simulation._trajectory import Record
from poinsot.simulation._validate import count_steps
from poinsot.simulation._window_march import WindowMarcher

AnyMarcher = Marcher | WindowMarcher | RowMarcher | RowShards

CAPACITY = 2**18
"""Numbers held on the device before a chunk hands its saved states over."""


@dataclass(frozen=True)
class FixedRun:
    """Steps of one size, and which of them are saved."""

    integrator: AbstractIntegrator
    t0: float
    dt: float
    steps: int
    schedule: Schedule
    progress: bool | None

    @classmethod
    def planned(
        cls,
        integrator: AbstractIntegrator,
        span: tuple[float, float],
        dt: float,
        last_step: Literal["refuse", "shorten"],
        saves: tuple[int, Sequence[float] | None],
        progress: bool | None,
    ) -> "FixedRun":
        """The run, once the numbers are right."""
        t0, t1 = span
        save_every, save_at = saves
        steps, left_over = count_steps(t0, t1, dt, last_step)
        if save_at is None:
            schedule = Schedule.every(t0, dt, steps, left_over, save_every)
        else:
            schedule = Schedule.at(t0, dt, steps, left_over, save_at)
        return cls(integrator, t0, dt, steps, schedule, progress)

    def __call__(self, problem: AbstractProblem, y: Packed, event: Event | None) -> Record:
        """Carry it out."""
        grid = jnp.asarray(self.t0, dtype=float), jnp.asarray(self.dt, dtype=float)
        return _run(row_marcher(Marcher(problem, self.integrator, *grid, event)), y, self)


def _run(marcher: AnyMarcher, y: Packed, plan: FixedRun) -> Record:
    """March through the schedule chunk by chunk."""
    schedule, t0, dt = plan.schedule, plan.t0, plan.dt
    capacity = int(np.clip(CAPACITY // max(y.size, 1), 1, 8192))
    saved_states, saved, result, pace = [np.asarray(y)[None]], 0, Result.successful, Pace()
    loop = begin(marcher, y)
    began = time.perf_counter()
    with Progress(plan.progress, plan.steps, plan.integrator.name) as bar:
        try:
            while saved < len(schedule) and result is Result.successful:
                tick, before = time.perf_counter(), int(loop.n)
                loop, states = _chunk(marcher, loop, schedule, saved, capacity, pace)
                saved_states.append(states)
                saved += len(states)
                result, taken = Result(int(loop.result)), int(loop.n) - before
                if result is Result.non_finite and isinstance(marcher, (RowMarcher, RowShards)):
                    # Steps were taken without looking: once more from the last good state, looking at each.
                    marcher, result = marcher.plain, Result.successful
                    loop = eqx.tree_at(lambda one: one.result, loop, jnp.int32(result))
                pace.learn(taken, time.perf_counter() - tick)
                bar.update(int(loop.n))
        except KeyboardInterrupt:
            result = Result.interrupted
    times = np.concatenate([[t0], schedule.times[:saved]])
    end = _unsaved_end(marcher, loop, result, schedule, saved)
    if end is not None:
        place, y = end
        saved_states.append(np.asarray(y)[None])
        times = np.append(times, t0 + place * dt)
    return Record(
        times=times,
        packed=np.concatenate(saved_states),
        t0=t0,
        result=result,
        steps=int(loop.n),
        wall_seconds=time.perf_counter() - began,
        told={"dt": dt, "iterations": int(loop.iterations)},
    )


def _unsaved_end(marcher: AnyMarcher, loop: LoopState, result: Result, schedule: Schedule, saved: int):
    """Where a run ended off its schedule, in steps, and the state there: the event, or the last good step."""
    if result is Result.stopped_by_event and isinstance(marcher, Marcher):
        fraction, y = locate_event(marcher, loop)
        return int(loop.n) + float(fraction), y
    last_saved = int(schedule.targets[saved - 1]) if saved else 0
    if result is not Result.successful and int(loop.n) > last_saved:
        return int(loop.n), loop.y
    return None


def _chunk(
    marcher: AnyMarcher, loop: LoopState, schedule: Schedule, saved: int, capacity: int, pace: Pace
) -> tuple[LoopState, np.ndarray]:
    """One call of the compiled program: as many saves as fit its buffer and the pace."""
    reach = int(loop.n) + pace.steps
    end = min(int(np.searchsorted(schedule.targets, reach, side="right")), saved + capacity)
    keep = end > saved
    # A save interval longer than a chunk is walked in parts, whose states are thrown away.
    targets = schedule.targets[saved:end] if keep else np.array([reach])
    count = len(targets)
    padded = jnp.asarray(np.pad(targets, (0, capacity - count)))
    fractions = None
    if schedule.fractions is not None:
        part = schedule.fractions[saved:end] if keep else np.zeros(1)
        fractions = jnp.asarray(np.pad(part, (0, capacity - count)))
    loop, buffer, done = marcher.record(loop, padded, fractions, jnp.int64(count))
    # Cut on the host: a slice of a device array compiles anew for every length.
    return loop, np.asarray(buffer)[: int(done) if keep else 0]
