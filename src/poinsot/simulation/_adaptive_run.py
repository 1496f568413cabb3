"""The run of an adaptive solver: batches of steps, looked through for what ends them and what is saved."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from poinsot.core import AbstractProblem, InputError, Packed, Result, UserFunction
from poinsot.equations import Formulation
from poinsot.integrators.adaptive import AbstractAdaptive, Batch, Dense, Engine, Piecewise, Task
from poinsot.kernels import Kernel
from poinsot.simulation._accuracy import Accuracy, flat
from poinsot.simulation._event import Event
from poinsot.simulation._fold import Folds
from poinsot.simulation._history import History, Steps
from poinsot.simulation._lookout import Lookout, cut
from poinsot.simulation._memory import BESIDE, SHARE, check_memory, memory
from poinsot.simulation._progress import Progress
from poinsot.simulation._schedule import check_save_every, check_save_times
from poinsot.simulation._trajectory import Record
from poinsot.simulation._work import DenseWork, Piece

BATCH_SECONDS = 0.25
"""How long steps are taken before progress is shown and an interrupt is answered."""
DENSE_NUMBERS = 2**21
"""Numbers in the states of a run up to which its dense output is kept even if few of its steps are saved."""
WATCHED_SECONDS = 0.02
"""The same with a stop condition: steps beyond it are in vain."""


@dataclass
class Ledger:
    """What a run has brought so far."""

    task: Task
    save_every: int
    save_at: np.ndarray | None
    result: Result = Result.successful
    times: list[np.ndarray] = field(default_factory=list)
    states: list[np.ndarray] = field(default_factory=list)
    ends: list[np.ndarray] = field(default_factory=list)
    rejected: list[np.ndarray] = field(default_factory=list)
    marks: list[float] = field(default_factory=list)
    pieces: list[Dense] = field(default_factory=list)
    """Dense output of the batches, with the end of each."""
    work: DenseWork | None = None
    steps: int = 0
    beyond: tuple[int, int] = (0, 0)
    """Steps accepted and rejected that the solver took beyond the end."""

    def __post_init__(self):
        self.t, self.y = self.task.t0, self.task.y
        self.direction = np.sign(self.task.t1 - self.task.t0)
        self._save(np.array([self.t]), self.y[None])
        self.ends.append(np.array([self.t]))

    @property
    def going(self) -> bool:
        """Whether the end is not reached and nothing has happened."""
        return self.result is Result.successful and self.direction * (self.task.t1 - self.t) > 0.0

    @property
    def numbers(self) -> int:
        """Numbers kept so far, about: of saved states, and as many of dense output."""
        saved = 0 if self.save_at is not None else self.steps // self.save_every
        return (2 if self.keeps_dense else 1) * saved * (len(self.y) + BESIDE)

    @property
    def keeps_dense(self) -> bool:
        """Whether dense output is kept: of all steps that are saved, of others as long as they are few."""
        return (self.save_every == 1 and self.save_at is None) or self.steps * len(self.y) <= DENSE_NUMBERS

    def enter(self, batch: Batch, made: Batch) -> None:
        """Take in further steps, of all that the solver made, and save what is to be saved of them."""
        count = len(batch.t)
        if made is not batch:
            rejected = int(np.sum(made.rejected) - np.sum(batch.rejected))
            self.beyond = self.beyond[0] + len(made.t) - count, self.beyond[1] + rejected
        if count:
            if self.save_at is None:
                chosen = slice(-(self.steps + 1) % self.save_every, None, self.save_every)
                times, states, saved = batch.t[chosen].copy(), batch.y[chosen].copy(), None
            else:
                places = self.direction * self.save_at
                due = (places > self.direction * self.t) & (places <= self.direction * batch.t[-1])
                times = saved = self.save_at[due]
                states, chosen = batch.dense(times) if len(times) else batch.y[:0], slice(None)
            if self.work is not None:
                self.work.enter(Piece(np.append(self.t, batch.t), batch.dense, saved, chosen))
            self._save(times, states)
            self.t, self.y = float(batch.t[-1]), batch.y[-1]
            # Copies, since those of a batch are parts of all that is kept of its steps.
            self.ends.append(batch.t.copy())
            self.rejected.append(batch.rejected.copy())
            self.steps += count
            if self.keeps_dense:
                self.marks.append(self.t)
                self.pieces.append(batch.dense)
            else:
                self.pieces.clear()
                if self.work is not None:
                    self.work.settle()
        self.result = batch.result

    def close(self) -> None:
        """Save the end: always of a run that saves steps, of one that saves at times if it broke off."""
        if (self.save_at is None or self.result is not Result.successful) and self.t != self.times[-1][-1]:
            self._save(np.array([self.t]), self.y[None])
            if self.work is not None:
                self.work.close()

    def history(self, engine: Engine) -> History:
        """Steps, counts and dense output of it all."""
        rejected = np.concatenate([np.zeros(0, dtype=np.int64), *self.rejected])
        marks, pieces, start = np.array([self.task.t0, *self.marks]), self.pieces, self.task.y

        def dense(times: np.ndarray) -> np.ndarray:
            # The start itself is there too when no step was taken.
            if not pieces:
                return np.repeat(start[None], len(times), axis=0)
            return Piecewise(marks, pieces)(times)

        counts = dataclasses.replace(engine.counts)
        # Steps beyond the end or a stop condition are none of the run, though they were evaluated.
        counts.accepted, counts.rejected = counts.accepted - self.beyond[0], counts.rejected - self.beyond[1]
        steps = Steps(np.concatenate(self.ends), rejected)
        if self.keeps_dense:
            return History(steps, counts, dense)
        what = f"save_every = {self.save_every}" if self.save_at is None else "save_at"
        lacking = (
            f"with {what} the dense output of so many steps ({self.steps:,}) is not kept; "
            "give these times in save_at=[...], or save_every=1"
        )
        return History(steps, counts, None, lacking)

    def _save(self, times: np.ndarray, states: np.ndarray) -> None:
        if len(times):
            self.times.append(times)
            self.states.append(states)


@dataclass(frozen=True)
class AdaptiveRun:
    """A solver that chooses its steps, and what is saved of them."""

    solver: AbstractAdaptive
    t0: float
    t1: float
    accuracy: Accuracy
    save_every: int
    save_at: np.ndarray | None
    progress: bool | None
    kernel: Kernel = field(default_factory=Kernel)

    @classmethod
    def planned(
        cls,
        solver: AbstractAdaptive,
        span: tuple[float, float],
        accuracy: tuple[float | None, float | None, float | None],
        saves: tuple[int, Sequence[float] | None],
        progress: bool | None,
        kernel: Kernel | None = None,
    ) -> "AdaptiveRun":
        """The run, once the numbers are right: `dt`, `rtol` and `atol`, and what to save."""
        save_every, save_at = saves
        checked = Accuracy.checked(solver, span, *accuracy)
        times = None if save_at is None else _within(save_at, *span)
        t0, t1 = map(float, span)
        return cls(solver, t0, t1, checked, check_save_every(save_every), times, progress, kernel or Kernel())

    def observing(self, observed: Callable[[Callable], UserFunction]) -> "AdaptiveRun":
        """The same run; `observed` makes of users' functions such of the problem's state."""
        return dataclasses.replace(self, solver=self.solver.observing(observed))

    def __call__(
        self,
        problem: AbstractProblem,
        y: Packed,
        event: Event | None,
        loaded: Formulation | None = None,
        jointed: Formulation | None = None,
    ) -> Record:
        """Take steps until the end, a stop condition, a failure or an interrupt.

        The ends of steps are looked at for states that are not finite or too near to a singularity; a stop
        condition is looked for inside the steps too. Both places are located with the dense output. `loaded`
        are the bodies on which work is done, `jointed` those whose joints are watched where the solver lets
        them drift open.
        """
        if self.save_at is not None:
            check_memory(len(self.save_at), y.size, None)
        accuracy = dataclasses.asdict(self.accuracy)
        task = Task(problem, flat(y), self.t0, self.t1, **accuracy, kernel=self.kernel)
        work = None
        if loaded is not None and self.solver.dense_output:
            work = DenseWork(loaded, self.solver.traits.order)
        ledger = Ledger(task, self.save_every, self.save_at, work=work)
        lookout = Lookout(problem, event, y, Folds.of(jointed) if self.solver.drifts(problem) else None)
        seconds = BATCH_SECONDS if event is None else WATCHED_SECONDS
        engine = self.solver.start(task)
        progress = Progress(self.progress, abs(self.t1 - self.t0), self.solver.name)
        began, room = time.perf_counter(), SHARE * memory() / 8.0
        with progress as bar:
            try:
                while ledger.going:
                    made = engine.advance(seconds)
                    batch = _cut_at_end(made, task)
                    ledger.enter(lookout.cut(batch, ledger.t, ledger.y), made)
                    bar.update(abs(ledger.t - self.t0), ledger.steps)
                    if ledger.going and (bar.out_of_reach or ledger.numbers > room):
                        ledger.result = Result.out_of_reach if bar.out_of_reach else Result.memory_full
            except KeyboardInterrupt:
                ledger.result = Result.interrupted
        ledger.close()
        history = ledger.history(engine)
        return Record(
            times=np.concatenate(ledger.times),
            packed=np.concatenate(ledger.states),
            t0=self.t0,
            result=ledger.result,
            steps=ledger.steps,
            wall_seconds=time.perf_counter() - began,
            told=self.accuracy.told | {"counts": dataclasses.asdict(history.counts), "kernel": engine.kernel},
            history=history,
            work=work,
        )


def _cut_at_end(batch: Batch, task: Task) -> Batch:
    """A batch that ends at `t1` if it passes it."""
    if not len(batch.t) or batch.t[-1] == task.t1:
        return batch
    direction = np.sign(task.t1 - task.t0)
    reached = np.flatnonzero(direction * (batch.t - task.t1) >= 0.0)
    return cut(batch, task.t1, int(reached[0]), Result.successful) if len(reached) else batch


def _within(save_at: Sequence[float], t0: float, t1: float) -> np.ndarray:
    """Times to save at, within the run."""
    times = check_save_times(save_at, t1 - t0)
    low, high = sorted((t0, t1))
    outside = (times < low) | (times > high)
    if np.any(outside):
        raise InputError(f"save_at has {float(times[outside][0])!r}, outside the run from {t0!r} to {t1!r}")
    return times
