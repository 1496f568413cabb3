"""Runs for people: validation, chunks, progress, a readable end whatever happens."""

import time
from collections.abc import Callable, Sequence
from typing import Literal

import jax.numpy as jnp
import numpy as np

from poinsot.coordinates import AbstractOrientation
from poinsot.core import AbstractProblem, Result, State
from poinsot.integrators import AbstractIntegrator
from poinsot.model import System
from poinsot.simulation._event import Event
from poinsot.simulation._loop import LoopState, Marcher, begin, locate_event, record
from poinsot.simulation._progress import Progress
from poinsot.simulation._schedule import Pace, Schedule
from poinsot.simulation._subject import subject_of
from poinsot.simulation._trajectory import Record, Trajectory
from poinsot.simulation._validate import check_state, count_steps

CAPACITY = 2**18
"""Numbers held on the device before a chunk hands its saved states over."""


class SimulationError(RuntimeError):
    """A run that did not reach its end. What was computed is in `trajectory`."""

    def __init__(self, message: str, trajectory: Trajectory):
        super().__init__(message)
        self.trajectory = trajectory


class Interrupted(KeyboardInterrupt):
    """A run that was interrupted. What was computed is in `trajectory`."""

    def __init__(self, trajectory: Trajectory):
        super().__init__(trajectory.message)
        self.trajectory = trajectory


def simulate(
    problem: AbstractProblem | System,
    state: State,
    *,
    t1: float,
    dt: float,
    integrator: AbstractIntegrator,
    coordinates: AbstractOrientation | None = None,
    form: str | None = None,
    t0: float = 0.0,
    save_every: int = 1,
    save_at: Sequence[float] | None = None,
    stop: Event | Callable | None = None,
    last_step: Literal["refuse", "shorten"] = "refuse",
    progress: bool | None = None,
    throw: bool = True,
) -> Trajectory:
    """Run from `t0` to `t1` in steps of `dt` and return the trajectory.

    Args:
        problem: what to solve: a problem such as `pt.Hamiltonian`, or a `pt.System` of bodies.
        state: start, with the problem's labels, e.g. `State(q=..., p=...)`; of a system, `system.state(...)`.
        t1: end time; before `t0` for a backward run.
        dt: step, negative for a backward run. `(t1 - t0) / dt` must be a whole number, see `last_step`.
        integrator: how to step.
        coordinates: for a system: of its rotations, one of `pt.coordinates`. By default quaternions, or the
            group where the integrator needs it.
        form: for a system: of the equations, "hamiltonian", "index3", "index2", "index1", "index0",
            "null_space" or "group". By default the first that coordinates and integrator both take.
        t0: start time.
        save_every: save each so-manieth state; start and end are always saved.
        save_at: save at these times instead (and the start); times between steps are reached by part steps
            that leave the run itself alone.
        stop: an `Event`, or a function of the state whose first zero ends the run; located to round-off. Of a
            system it is a function of the `Motion`: positions, rotations, velocities of all bodies.
        last_step: `"shorten"` ends on `t1` with a shorter last step.
        progress: show a progress bar; by default on a terminal.
        throw: raise `SimulationError` on failure; else return the trajectory up to there, with its result.

    Returns:
        A `Trajectory`; of a system a `BodyTrajectory`, with positions, rotations, velocities, momenta.

    Raises:
        InputError: on wrong input, before anything is computed.
        SimulationError: when a step fails; its `trajectory` holds what was computed.
        Interrupted: on Ctrl-C; likewise.
    """
    steps, left_over = count_steps(t0, t1, dt, last_step)
    subject = subject_of(problem, integrator, state, coordinates, form, t0)
    y = check_state(subject.problem, subject.start, t0)
    if save_at is None:
        schedule = Schedule.every(t0, dt, steps, left_over, save_every)
    else:
        schedule = Schedule.at(t0, dt, steps, left_over, save_at)
    event = None if stop is None else subject.event(stop)
    marcher = Marcher(
        subject.problem, integrator, jnp.asarray(t0, dtype=float), jnp.asarray(dt, dtype=float), event
    )
    trajectory = subject.trajectory(integrator, _run(marcher, y, schedule, t0, dt, steps, progress))
    if trajectory.result is Result.interrupted:
        raise Interrupted(trajectory)
    if throw and not trajectory.result.ok:
        raise SimulationError(trajectory.message, trajectory)
    return trajectory


def _run(marcher: Marcher, y, schedule: Schedule, t0: float, dt: float, steps: int, progress) -> Record:
    """March through the schedule chunk by chunk."""
    capacity = int(np.clip(CAPACITY // max(y.size, 1), 1, 8192))
    saved_states, saved, result, pace = [np.asarray(y)[None]], 0, Result.successful, Pace()
    loop = begin(marcher, y)
    began = time.perf_counter()
    with Progress(progress, steps, marcher.integrator.name) as bar:
        try:
            while saved < len(schedule) and result is Result.successful:
                tick, before = time.perf_counter(), int(loop.n)
                loop, states = _chunk(marcher, loop, schedule, saved, capacity, pace)
                saved_states.append(states)
                saved += len(states)
                result, taken = Result(int(loop.result)), int(loop.n) - before
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
        dt=dt,
        result=result,
        steps=int(loop.n),
        iterations=int(loop.iterations),
        wall_seconds=time.perf_counter() - began,
    )


def _unsaved_end(marcher: Marcher, loop: LoopState, result: Result, schedule: Schedule, saved: int):
    """Where a run ended off its schedule, in steps, and the state there: the event, or the last good step."""
    if result is Result.stopped_by_event:
        fraction, y = locate_event(marcher, loop)
        return int(loop.n) + float(fraction), y
    last_saved = int(schedule.targets[saved - 1]) if saved else 0
    if result is not Result.successful and int(loop.n) > last_saved:
        return int(loop.n), loop.y
    return None


def _chunk(
    marcher: Marcher, loop: LoopState, schedule: Schedule, saved: int, capacity: int, pace: Pace
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
    loop, buffer, done = record(marcher, loop, padded, fractions, jnp.int64(count))
    # Cut on the host: a slice of a device array compiles anew for every length.
    return loop, np.asarray(buffer)[: int(done) if keep else 0]
