"""The run of an integrator with fixed steps, in chunks between which progress is shown."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from poinsot.core import AbstractProblem, Packed, Result, on_device
from poinsot.equations import Formulation
from poinsot.integrators import AbstractIntegrator
from poinsot.kernels import SHORT, Kernel
from poinsot.simulation._event import Event
from poinsot.simulation._loop import KernelMarcher, LoopState, Marcher
from poinsot.simulation._memory import check_memory
from poinsot.simulation._progress import Progress
from poinsot.simulation._row_march import RowMarcher
from poinsot.simulation._row_shards import RowShards, row_marcher
from poinsot.simulation._sampling import SampledWork, Sampler
from poinsot.simulation._schedule import Pace, Schedule, Stretch
from poinsot.simulation._trajectory import Record
from poinsot.simulation._validate import count_steps
from poinsot.simulation._window_march import WindowMarcher
from poinsot.simulation._work import StepWork

AnyMarcher = KernelMarcher | WindowMarcher | RowMarcher | RowShards

Work = StepWork | SampledWork

CAPACITY = 2**18
"""Numbers held on the device before a chunk hands its saved states over."""
LIGHT = 64
"""Numbers in a state up to which a thousand native steps take no time that anybody waits for."""


@dataclass(frozen=True)
class FixedRun:
    """Steps of one size, and which of them are saved."""

    integrator: AbstractIntegrator
    t0: float
    dt: float
    steps: int
    schedule: Schedule
    progress: bool | None
    kernel: Kernel

    @classmethod
    def planned(
        cls,
        integrator: AbstractIntegrator,
        span: tuple[float, float],
        dt: float,
        last_step: Literal["refuse", "shorten"],
        saves: tuple[int, Sequence[float] | None],
        progress: bool | None,
        kernel: Kernel,
    ) -> "FixedRun":
        """The run, once the numbers are right."""
        t0, t1 = span
        save_every, save_at = saves
        steps, left_over = count_steps(t0, t1, dt, last_step)
        if save_at is None:
            schedule = Schedule.every(t0, dt, steps, left_over, save_every)
        else:
            schedule = Schedule.at(t0, dt, steps, left_over, save_at)
        return cls(integrator, t0, dt, steps, schedule, progress, kernel)

    @classmethod
    def of_steps(
        cls, integrator: AbstractIntegrator, grid: tuple[float, float, int], save_every: int, kernel: Kernel
    ) -> "FixedRun":
        """So many steps from `t0` of size `dt`, given as `(t0, dt, steps)`."""
        t0, dt, steps = grid
        return cls(integrator, t0, dt, steps, Schedule.every(t0, dt, steps, 0.0, save_every), False, kernel)

    def __call__(
        self,
        problem: AbstractProblem,
        y: Packed,
        event: Event | None,
        loaded: Formulation | None = None,
        sampler: Sampler | None = None,
    ) -> Record:
        """Carry it out; `loaded` are the bodies on which work is done, `sampler` holds forces on them."""
        check_memory(len(self.schedule), y.size, self.schedule.save_every)
        grid = on_device(self.t0, float), on_device(self.dt, float)
        marcher = Marcher(problem, self.integrator, *grid, event, sampler)
        if y.size > SHORT and not problem.looped and self.kernel.choice != "native":
            self.kernel.give_up(f"a state of {y.size} numbers is too long to be written out")
        compiled, rows = KernelMarcher(marcher, self.kernel), row_marcher(marcher)
        work = _work(loaded, sampler, (self.t0, self.dt, np.asarray(y), self.steps))
        if rows is not None and self.kernel.native:
            # Where native code would be too long, a row of bodies has a better loop than the plain one.
            compiled.prepare(compiled.start(y), *self.first_targets(y, work), self.steps)
        return _run(compiled if rows is None or self.kernel.native else rows, y, self, work)

    def room(self, y: Packed, work: Work | None) -> int:
        """States that a chunk has room for: the same for all runs that save more than their end.

        So one program serves them all. Of the end alone, clearing more room would take as long as the run.
        """
        alone = len(self.schedule) <= 1 and work is None
        return int(np.clip(CAPACITY // max(y.size, 1), 1, 1 if alone else 8192))

    def first_targets(self, y: Packed, work: Work | None) -> tuple[np.ndarray, np.ndarray | None]:
        """Arrays of the shapes that a chunk has."""
        room = self.room(y, work)
        return np.zeros(room, dtype=np.int64), None if self.schedule.fractions is None else np.zeros(room)

    def first_pace(self, y: Packed) -> Pace:
        """How far the first chunk goes."""
        pace = Pace()
        if self.kernel.native and y.size <= LIGHT:
            pace.steps *= 4
        return pace


def _work(
    loaded: Formulation | None, sampler: Sampler | None, run: tuple[float, float, np.ndarray, int]
) -> Work | None:
    """What integrates the work done on bodies, if any is done, in a run of such grid, start and steps."""
    if loaded is None:
        return None
    return StepWork(loaded, *run) if sampler is None else SampledWork(sampler, *run)


def _run(marcher: AnyMarcher, y: Packed, plan: FixedRun, work: Work | None) -> Record:
    """March through the schedule chunk by chunk."""
    schedule, t0, dt = plan.schedule, plan.t0, plan.dt
    capacity = plan.room(y, work)
    # Start and states to save, and one off the schedule; what is not reached takes no memory.
    packed, saved, result = np.empty((len(schedule) + 2, *y.shape)), 0, Result.successful
    packed[0] = y
    loop = marcher.start(y)
    if isinstance(marcher, KernelMarcher):
        marcher.prepare(loop, *plan.first_targets(y, work), plan.steps)
    pace = plan.first_pace(y)
    progress = Progress(plan.progress, plan.steps, plan.integrator.name)
    began = time.perf_counter()
    with progress as bar:
        try:
            while saved < len(schedule) and result is Result.successful:
                tick, before = time.perf_counter(), int(loop.n)
                reach = before + pace.steps
                if work is None:
                    stretch = schedule.stretch(saved, reach, capacity)
                else:
                    stretch = schedule.every_step(saved, before, reach, capacity)
                following, states = _chunk(marcher, loop, stretch, capacity, schedule.fractions is not None)
                stretch = stretch.first(len(states))
                if work is not None and len(states):
                    work.enter(t0 + (stretch.targets + stretch.beyond) * dt, states, stretch)
                count = int(np.count_nonzero(stretch.kept))
                packed[saved + 1 : saved + 1 + count] = states[stretch.kept]
                saved += count
                # An interrupt until here leaves the run where it was before the chunk.
                loop = following
                result, taken = Result(int(loop.result)), int(loop.n) - before
                if result is Result.non_finite and isinstance(marcher, (RowMarcher, RowShards)):
                    # Steps were taken without looking: once more from the last good state, looking at each.
                    marcher, result = KernelMarcher(marcher.plain, plan.kernel), Result.successful
                    loop = eqx.tree_at(lambda one: one.result, loop, jnp.int32(result))
                pace.learn(taken, time.perf_counter() - tick)
                bar.update(int(loop.n))
                if bar.out_of_reach and result is Result.successful:
                    result = Result.out_of_reach
        except KeyboardInterrupt:
            result = Result.interrupted
    times = np.concatenate([[t0], schedule.times[:saved]])
    end = _unsaved_end(marcher, loop, result, schedule, saved)
    if end is not None:
        place, y = end
        packed[saved + 1] = y
        times = np.append(times, t0 + place * dt)
        if work is not None:
            work.enter(times[-1:], packed[saved + 1][None], Stretch.end(place))
    return Record(
        times=times,
        packed=packed[: len(times)],
        t0=t0,
        result=result,
        steps=int(loop.n),
        wall_seconds=time.perf_counter() - began,
        told={"dt": dt, "iterations": int(loop.iterations), "kernel": plan.kernel.description}
        | _layout(marcher),
        work=None if work is None else work.close(),
        samples=work.samples if isinstance(work, SampledWork) else None,
    )


def _layout(marcher: AnyMarcher) -> dict[str, str]:
    """How a row of bodies was stepped, where it was taken apart."""
    if isinstance(marcher, WindowMarcher):
        return {"rows": "in windows along the row"}
    return {"rows": "body by body along the row"} if isinstance(marcher, (RowMarcher, RowShards)) else {}


def _unsaved_end(marcher: AnyMarcher, loop: LoopState, result: Result, schedule: Schedule, saved: int):
    """Where a run ended off its schedule, in steps, and the state there: the event, or the last good step."""
    if result is Result.stopped_by_event and isinstance(marcher, KernelMarcher):
        fraction, y = marcher.locate_event(loop)
        return int(loop.n) + float(fraction), y
    last_saved = int(schedule.targets[saved - 1]) if saved else 0
    if result is not Result.successful and int(loop.n) > last_saved:
        return int(loop.n), loop.y
    return None


def _chunk(
    marcher: AnyMarcher, loop: LoopState, stretch: Stretch, capacity: int, off_grid: bool
) -> tuple[LoopState, np.ndarray]:
    """One call of the compiled program, and the states it has reached."""
    targets = _filled_up(stretch.targets, capacity)
    fractions = _filled_up(stretch.beyond, capacity) if off_grid else None
    loop, buffer, done = marcher.record(loop, targets, fractions, np.int64(len(stretch)))
    # Cut on the host: a slice of a device array compiles anew for every length.
    return loop, np.asarray(buffer)[: int(done)]


def _filled_up(numbers: np.ndarray, count: int) -> np.ndarray:
    """So many numbers, the last of them zeros."""
    if len(numbers) == count:
        return numbers
    filled = np.zeros(count, dtype=numbers.dtype)
    filled[: len(numbers)] = numbers
    return filled
