"""Runs of one method at a ladder of accuracies, timed and counted."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import jax
import jax.monitoring
import numpy as np

from poinsot.analysis._work_points import Refused, WorkPoint, WorkPrecision, label
from poinsot.analysis._work_reference import Yardstick
from poinsot.coordinates import AbstractOrientation
from poinsot.core import AbstractProblem, InputError, Packed, Result, State
from poinsot.integrators import AbstractAdaptive, AbstractIntegrator, ExplicitRungeKutta, ImplicitRungeKutta
from poinsot.kernels import SHORT, Bound, Kernel, programs_made
from poinsot.model import AbstractSystem
from poinsot.simulation._adaptive_run import AdaptiveRun
from poinsot.simulation._loop import march_run
from poinsot.simulation._subject import BodiesSubject, ProblemSubject, subject_of
from poinsot.simulation._validate import check_state

ENOUGH = 2.0
"""Seconds after which a run is not repeated."""
GROWTH, MOST = 2.0, 4.0
"""How much longer than the first run of a ladder the second is expected to take, and the most for any."""

Method = AbstractIntegrator | AbstractAdaptive
Choice = tuple[AbstractOrientation | str | None, str | None]


@dataclass
class Contest:
    """Runs of several methods on one problem, as they come in."""

    problem: AbstractProblem | AbstractSystem
    state: State
    span: tuple[float, float]
    yardstick: Yardstick
    repeats: int
    patience: float | None
    points: list[WorkPoint] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    compile_seconds: dict[str, float] = field(default_factory=dict)

    @property
    def result(self) -> WorkPrecision:
        """What was measured so far."""
        found = tuple(self.points), dict(self.compile_seconds), tuple(self.refused)
        return WorkPrecision(*found, self.yardstick.source)

    def enter(self, name: str, place: str, method: Method, choice: Choice, ladder: Sequence[float]) -> None:
        """Run a method in a formulation at each rung of its ladder, as long as the patience lasts."""
        try:
            subject = subject_of(self.problem, method, self.state, *choice, self.span[0])
            contender = Contender(name, place, method, subject, self.span, self.yardstick)
            self.compile_seconds[label(name, place)] = contender.first(ladder[0])
        except InputError as error:
            self.refused.append(Refused(name, place, str(error).split(". These fit:")[0]))
            return
        before = None
        for at, rung in enumerate(ladder, start=1):
            try:
                point = contender.point(rung, self.repeats)
            except InputError as error:
                self.refused.append(Refused(name, place, str(error)))
                continue
            self.points.append(point)
            growth = GROWTH if before is None else min(max(1.0, point.seconds / before), MOST)
            before, expected = point.seconds, growth * point.seconds
            if self.patience is not None and expected > self.patience and at < len(ladder):
                rest = ", ".join(f"{one:g}" for one in ladder[at:])
                reason = f"not run at {rest}: {expected:.0f} s expected, patience = {self.patience:g} s"
                self.refused.append(Refused(name, place, reason))
                return


@dataclass(frozen=True)
class Contender:
    """A method on a problem, with what its runs are measured by."""

    name: str
    formulation: str
    method: Method
    subject: ProblemSubject | BodiesSubject
    span: tuple[float, float]
    yardstick: Yardstick

    def point(self, rung: float, repeats: int) -> WorkPoint:
        """The best of some runs at one tolerance, or with one number of steps."""
        compiled = _compilations()
        before, best = compiled(), self._run(rung)
        if compiled() > before:
            # A run of more steps than any before may need a further program, which is not its own time.
            best = self._run(rung)
        spent = best.seconds
        for _ in range(repeats - 1):
            if spent > ENOUGH:
                break
            again = self._run(rung)
            best, spent = replace(best, seconds=min(best.seconds, again.seconds)), spent + again.seconds
        return best

    def first(self, rung: float) -> float:
        """Time of a run that compiles."""
        began = time.perf_counter()
        self._run(rung)
        return time.perf_counter() - began

    def _run(self, rung: float) -> WorkPoint:
        y = check_state(self.subject.problem, self.subject.start, self.span[0])
        if isinstance(self.method, AbstractAdaptive):
            return self._chosen_steps(self.method, y, rung)
        return self._fixed_steps(self.method, y, int(rung))

    def _chosen_steps(self, solver: AbstractAdaptive, y: Packed, rung: float) -> WorkPoint:
        t0, t1 = self.span
        by_tolerance = solver.control == "tolerance"
        accuracy = (None, rung, rung) if by_tolerance else ((t1 - t0) / int(rung), None, None)
        # Of the states only the last one is of use.
        run = AdaptiveRun.planned(solver, self.span, accuracy, (2**62, None), False)
        record = run.observing(self.subject.observed)(self.subject.problem, y, None)
        if record.result is Result.interrupted:
            raise KeyboardInterrupt
        history = record.history
        assert history is not None
        sizes = np.abs(history.steps.h)
        return WorkPoint(
            method=self.name,
            formulation=self.formulation,
            tolerance=rung if by_tolerance else None,
            steps=history.counts.accepted,
            rejected=history.counts.rejected,
            h=float(np.median(sizes)) if len(sizes) else float("nan"),
            error=self._error(record.packed[-1], record.result),
            rhs=history.counts.rhs,
            jacobians=history.counts.jacobians,
            iterations=0,
            seconds=record.wall_seconds,
            result=record.result.name,
        )

    def _fixed_steps(self, integrator: AbstractIntegrator, y: Packed, count: int) -> WorkPoint:
        t0, t1 = self.span
        h = (t1 - t0) / count
        model, kernel = (self.subject.problem, integrator), Kernel()
        if y.size > SHORT and not self.subject.problem.looped and kernel.choice != "native":
            kernel.give_up("a long state")
        march = Bound(kernel, model)
        grid = np.float64(t0), np.float64(h), np.int64(count)
        march.native(march_run, grid, y)
        began = time.perf_counter()
        loop = jax.block_until_ready(march(march_run, grid, np.asarray(y)))
        seconds, result = time.perf_counter() - began, Result(int(loop.result))
        iterations = int(loop.iterations)
        return WorkPoint(
            method=self.name,
            formulation=self.formulation,
            tolerance=None,
            steps=count,
            rejected=0,
            h=abs(h),
            error=self._error(np.asarray(loop.y), result),
            rhs=_evaluations(integrator, count, iterations),
            jacobians=0,
            iterations=iterations,
            seconds=seconds,
            result=result.name,
        )

    def _error(self, y: np.ndarray, result: Result) -> float:
        if result is not Result.successful:
            return float("inf")
        formulation = self.subject.formulation if isinstance(self.subject, BodiesSubject) else None
        return self.yardstick.error(formulation, y)


@cache
def _compilations() -> Callable[[], int]:
    """A function that tells how many programs were compiled since."""
    programs: list[str] = []

    def heard(event: str, duration_secs: float, **about: str | int) -> None:
        if event.endswith("backend_compile_duration"):
            programs.append(event)

    jax.monitoring.register_event_duration_secs_listener(heard)
    return lambda: len(programs) + programs_made()


def _evaluations(integrator: AbstractIntegrator, steps: int, iterations: int) -> int | None:
    """Right-hand sides of a Runge-Kutta method with fixed steps: each iteration takes all its stages once."""
    if isinstance(integrator, ExplicitRungeKutta):
        return steps * integrator.tableau.stages
    if isinstance(integrator, ImplicitRungeKutta):
        return iterations * integrator.tableau.stages
    return None
