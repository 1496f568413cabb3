"""SciPy's solvers, a step at a time."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from poinsot.core import Projection, Result, optional
from poinsot.integrators.adaptive import _host
from poinsot.integrators.adaptive._base import Batch, Counts, Engine, Task
from poinsot.integrators.adaptive._dense import Piecewise, Projected
from poinsot.integrators.adaptive._options import FEWEST_ULPS


class Watched:
    """A right-hand side that counts its calls, and notes those of one step and at which times they were."""

    def __init__(self, field: _host.Field, counts: Counts):
        self._field, self._counts = field, counts
        self.calls, self.times = 0, set[float]()
        self.latest = np.zeros(0)

    def __call__(self, t: float, y: np.ndarray) -> np.ndarray:
        self._counts.rhs += 1
        self.calls += 1
        self.times.add(t)
        self.latest = self._field(t, y)
        return self.latest

    def forget(self, t: float) -> None:
        """Begin a step at time `t`, at which looking does not count."""
        self.calls, self.times = 0, {t}

    @property
    def new_times(self) -> int:
        """Different times looked at in the step, its start left out."""
        return len(self.times) - 1


class ScipyEngine(Engine):
    """A run by one of SciPy's classes.

    They try step sizes inside one call and do not say how many. But every attempt looks at the right-hand
    side a certain number of times, or at times of its own: that tells the number of attempts.

    Args:
        task: the run.
        solver: name of the solver, for messages.
        kind: name of SciPy's class.
        attempts: how many there were at the step just taken, the one that succeeded included.
        with_jacobian: whether the class is to be given the derivative of the right-hand side.
        first_step: size of the first attempt, or None.
        max_step: largest step, or None.
        projection: what to put back onto the constraints after each step.
        dense: makes the dense output of the step just taken; by default what SciPy makes.
    """

    def __init__(
        self,
        task: Task,
        solver: str,
        kind: str,
        *,
        attempts: Callable[[Watched], int],
        with_jacobian: bool = False,
        first_step: float | None,
        max_step: float | None,
        projection: Projection = "none",
        dense: Callable[[Any, Watched], Callable] | None = None,
    ):
        make = getattr(optional("scipy.integrate", "adaptive", solver), kind)
        self.counts = Counts()
        self.field = Watched(_host.field(task.problem), self.counts)
        self._attempts, self._dense = attempts, dense or _scipy_dense
        self._project = None if projection == "none" else _host.projection(task.problem, projection)
        options: dict[str, Any] = {"rtol": task.rtol, "atol": task.atol}
        if with_jacobian:
            options["jac"] = self._jacobian(_host.jacobian(task.problem))
        if first_step is not None:
            options["first_step"] = min(first_step, abs(task.t1 - task.t0))
        if max_step is not None:
            options["max_step"] = max_step
        self._stepper = make(self.field, task.t0, np.array(task.y), task.t1, **options)

    def advance(self, seconds: float) -> Batch:
        """Steps until the time is up or the run is over."""
        until = time.perf_counter() + seconds
        stepper = self._stepper
        ends, states, rejected, pieces = [stepper.t], [], [], []
        result = Result.successful
        # An attempt that overflows is rejected; what SciPy warns of, the result says.
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            while stepper.status == "running":
                result = self._step()
                if result is not Result.successful:
                    self.counts.rejected += self._attempts(self.field)
                    break
                rejected.append(max(1, self._attempts(self.field)) - 1)
                pieces.append(self._piece())
                ends.append(stepper.t)
                states.append(stepper.y)
                if time.perf_counter() > until:
                    break
        self.counts.accepted += len(states)
        self.counts.rejected += sum(rejected)
        times = np.array(ends)
        y = np.array(states).reshape(len(states), stepper.n)
        return Batch(times[1:], y, np.array(rejected, dtype=np.int64), Piecewise(times, pieces), result)

    def _step(self) -> Result:
        """One accepted step, or why there is none."""
        stepper, begin = self._stepper, self._stepper.t
        self.field.forget(begin)
        try:
            stepper.step()
        except ValueError:
            # SciPy's linear algebra does not take infinite numbers.
            return Result.non_finite
        self.counts.factorisations = int(stepper.nlu)
        # ODEPACK steps on where the others see that the time no longer grows.
        stuck = abs(stepper.t - begin) < FEWEST_ULPS * np.spacing(abs(stepper.t))
        if stepper.status == "finished" or (stepper.status == "running" and not stuck):
            return Result.successful
        return Result.step_too_small if np.all(np.isfinite(self.field.latest)) else Result.non_finite

    def _piece(self) -> Callable:
        """Dense output of the step just taken, which is then projected."""
        stepper, project = self._stepper, self._project
        piece = self._dense(stepper, self.field)
        if project is None:
            return piece
        stepper.y = project(stepper.t, stepper.y)
        # Kept from the unprojected state for the next step's first stage.
        stepper.f = self.field(stepper.t, stepper.y)
        return Projected(piece, project)

    def _jacobian(self, jacobian: _host.Field) -> _host.Field:
        def counted(t: float, y: np.ndarray) -> np.ndarray:
            self.counts.jacobians += 1
            return jacobian(t, y)

        return counted


def _scipy_dense(stepper: Any, field: Watched) -> Callable:
    output = stepper.dense_output()
    return lambda times: output(times).T
