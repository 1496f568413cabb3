"""Taylor series of high order: the fastest way to the last digits of a smooth motion."""

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import equinox as eqx
import numpy as np

from poinsot.core import AbstractProblem, InputError, Projection, Result, optional
from poinsot.integrators.adaptive import _host
from poinsot.integrators.adaptive._base import AdaptiveTraits, Batch, Counts, Dense, Engine, Task
from poinsot.integrators.adaptive._dense import Piecewise, Projected
from poinsot.integrators.adaptive._options import ProjectingSolver
from poinsot.integrators.adaptive._taylor_domain import first_undefined
from poinsot.integrators.adaptive._taylor_equations import SOLVER, equations
from poinsot.kernels import with_numbers

Precision = Literal["double", "extended", "quadruple"]

FINEST = {"double": 2.3e-16, "extended": 1.1e-19, "quadruple": 2e-34}
"""One unit in the last place of each precision."""

FIRST_CHUNK = 4096
"""Steps of the first batch. A call of heyoka with dense output takes a millisecond before its first step."""
FIRST_PROJECTED = 64
"""The same where each step is a call."""
LONG = 4000
"""Operations, those with constants included, beyond which the code of a series is compact. Written out it
runs twice as fast, but 3000 compile in six seconds in place of one, and 8000 in minutes."""
MOST_STEPS = 10**7
"""Steps of any batch."""


class Taylor(ProjectingSolver):
    r"""Taylor series of the solution, by heyoka.

    In every step the series of order $p$ is computed from the right-hand side by automatic differentiation,

    $$ y(t + h) = \sum_{k=0}^{p} \frac{y^{(k)}(t)}{k!}\,h^k, \qquad
       p \approx 1 - \tfrac12 \ln \text{tol}, $$

    and $h$ follows from the size of its last two terms. The trace of the right-hand side is rewritten in
    heyoka's expressions and compiled by it. Steps are long, there are no rejections, and the error is that
    of the tolerance down to round-off. Nothing is kept by construction: at the finest tolerance, energy and
    constraints are kept to round-off, which grows like a random walk. With `projection` constraints are met
    after every step, and each step is a call of its own. A series knows nothing of a right-hand side beyond
    its start, so one that may be undefined somewhere (the root of a difference, a choice with a NaN) is
    evaluated within every step too, and the run ends where it ceases to be finite.

    *Properties*: of any order; the tolerance is the smaller one of `rtol` and `atol`, relative to the largest
    component of the state where that is above one. In counts of right-hand sides every order of the series
    counts as one. A compile takes a second at the first run of a problem, of linkages in loops ten.

    Args:
        precision: of the arithmetic: "double", "extended" (80 bits) or "quadruple", whose results are rounded
            to double. Tolerances may then be as fine as the precision.
        dense: keep the series of every step, as dense output, step sizes, `save_at` and stop conditions need
            it. Without, a run keeps its end alone and takes half the time.
        projection: put positions, velocities or both back onto the constraints after each step: "position",
            "velocity", "both", or True for both. In double precision only.

    Reference:
        Jorba, Zou: A software package for the numerical integration of ODEs by means of high-order Taylor
        methods, Experimental Mathematics 14 (2005); Biscani, Izzo: Revisiting high-order Taylor methods for
        astrodynamics and celestial mechanics, MNRAS 504 (2021).

    Example:
        >>> import poinsot as pt
        >>> kepler = pt.library.kepler(eccentricity=0.6)
        >>> solver = pt.integrators.Taylor()
        >>> finest = {"rtol": 1e-15, "atol": 1e-15}
        >>> run = pt.simulate(kepler.problem, kepler.start, t1=10.0, integrator=solver, **finest)
    """

    precision: Precision = eqx.field(default="double", static=True)
    dense: bool = eqx.field(default=True, static=True)

    def __check_init__(self):
        if self.precision != "double" and self.projection != "none":
            raise InputError(
                f"{SOLVER}: projection = {self.projection!r} with precision = {self.precision!r}; "
                "projections are computed in double precision: leave one of them out"
            )

    @property
    def traits(self) -> AdaptiveTraits:
        """Of any order."""
        return AdaptiveTraits(
            name=f"Taylor series in {self.precision} precision",
            order=None,
            one_step=True,
            stiff=False,
            needs="ode",
            package="heyoka",
            extra="taylor",
            reference="Jorba, Zou, Experimental Mathematics 14 (2005); Biscani, Izzo, MNRAS 504 (2021)",
        )

    @property
    def dense_output(self) -> bool:
        """Unless it was declined."""
        return self.dense

    @property
    def finest(self) -> float:
        """One unit in the last place."""
        return FINEST[self.precision]

    def refusal(self, problem: AbstractProblem) -> str | None:
        """Takes ordinary equations whose operations, without branches and loops, can be written down."""
        reason = super().refusal(problem)
        if reason is not None:
            return reason
        if problem.pivots:
            return (
                "has no series of linear equations that are solved with a choice of pivots, as they are in "
                "this form; take the form 'index0', or in joint coordinates 'recursive', of the same motion"
            )
        if problem.looped:
            return "has no series of loops, which go through the joints here; take DormandPrince853()"
        return None

    def start(self, task: Task) -> Engine:
        """Begin a run."""
        if self.projection == "none":
            return TaylorEngine(task, self.precision, self.dense)
        return ProjectedTaylorEngine(task, self.dense, self.projection)


class Motion(Dense, Protocol):
    """The motion of some steps."""

    @property
    def ends(self) -> np.ndarray:
        """Start of the first step, and ends of all."""
        ...


class TaylorEngine(Engine):
    """A run by heyoka."""

    def __init__(self, task: Task, precision: Precision, dense: bool):
        self.counts = Counts()
        self._number, self._t1, self._dense = _arithmetic(precision).number, task.t1, dense
        tolerance = min(task.rtol, task.atol) if task.atol > 0.0 else task.rtol
        self._compiled = with_numbers(_Expanded(len(task.y), precision, tolerance), task.problem)
        self._time = self._number(task.t0)
        self._state = np.array(
            [self._number(float(value)) for value in task.y], self._compiled.taylor.state.dtype
        )
        self._chunk = FIRST_CHUNK

    def advance(self, seconds: float) -> Batch:
        """As many steps as the time allows, going by those before."""
        tick = time.perf_counter()
        taylor, rates = self._compiled
        steps, motion, result = self._propagate(self._chunk, self._dense or rates is not None)
        elapsed = max(time.perf_counter() - tick, 1e-6)
        self._chunk = max(1, min(8 * self._chunk, int(max(steps, 1) * seconds / elapsed), MOST_STEPS))
        self.counts.accepted += steps
        self.counts.rhs += steps * (taylor.order + 1)
        if motion is None:
            kept = slice(1 if steps else 0)
            ends, states = np.array([self._time])[kept].astype(float), self._state[None][kept].astype(float)
            return Batch(ends, states, np.zeros(len(ends), dtype=np.int64), _no_dense, result)
        times = motion.ends
        undefined = None if rates is None else first_undefined(rates, times, motion)
        if undefined is not None:
            step, there = undefined
            times, result = np.append(times[: step + 1], there), Result.non_finite
            self.counts.accepted -= steps - step - 1
        ends = times[1:][np.diff(times) != 0.0]
        if not self._dense:
            ends = ends[-1:]
        dense = motion if self._dense else _no_dense
        return Batch(ends, motion(ends), np.zeros(len(ends), dtype=np.int64), dense, result)

    def _propagate(self, most: int, dense: bool) -> tuple[int, Motion | None, Result]:
        """Take at most so many steps: how many it were, the motion, and why there are no more."""
        hy, taylor = optional("heyoka", "taylor", SOLVER), self._compiled.taylor
        # The compiled integrator serves all runs of the problem, also those in progress.
        taylor.time, taylor.state[:] = self._time, self._state
        outcome, _, _, steps, series, _ = taylor.propagate_until(
            self._number(self._t1), max_steps=most, c_output=dense
        )
        motion = None if series is None else _Series(series)
        if outcome != hy.taylor_outcome.err_nf_state:
            self._time, self._state = taylor.time, taylor.state.copy()
            return steps, motion, Result.successful
        if steps and not dense:
            # What came before the step that failed is no longer there: up to it once more.
            self._propagate(steps, dense)
        return steps, motion, Result.non_finite


class ProjectedTaylorEngine(TaylorEngine):
    """A run by heyoka a step at a time, each put back onto the constraints."""

    def __init__(self, task: Task, dense: bool, projection: Projection):
        super().__init__(task, "double", dense)
        self._project = _host.projection(task.problem, projection)
        self._chunk = FIRST_PROJECTED

    def _propagate(self, most: int, dense: bool) -> tuple[int, Motion | None, Result]:
        hy, taylor = optional("heyoka", "taylor", SOLVER), self._compiled.taylor
        ends, pieces, result = [self._time], [], Result.successful
        while len(ends) <= most and self._time != self._t1:
            taylor.time, taylor.state[:] = self._time, self._state
            outcome, _ = taylor.step(max_delta_t=self._t1 - self._time, write_tc=dense)
            if outcome == hy.taylor_outcome.err_nf_state:
                result = Result.non_finite
                break
            if dense:
                series = functools.partial(_polynomial, self._time, taylor.tc.T.copy())
                pieces.append(Projected(series, self._project))
            self._time = self._t1 if outcome == hy.taylor_outcome.time_limit else taylor.time
            self._state = self._project(self._time, taylor.state)
            ends.append(self._time)
        return len(ends) - 1, Piecewise(np.array(ends), pieces) if pieces else None, result


def _polynomial(begin: float, coefficients: np.ndarray, times: np.ndarray) -> np.ndarray:
    return np.polynomial.polynomial.polyval(times - begin, coefficients).T


class _Series:
    """The series of some steps, whose start and ends are `ends`."""

    def __init__(self, output: Any):
        self._output, self._number = output, output.times.dtype.type
        self.ends = np.asarray(output.times).astype(float)

    def __call__(self, times: np.ndarray) -> np.ndarray:
        return np.asarray(self._output(np.asarray(times).astype(self._number))).astype(float)


def _no_dense(times: np.ndarray) -> np.ndarray:
    raise InputError(f"{SOLVER}(dense=False) keeps the end of a run alone; leave dense out for other times")


class _Arithmetic(NamedTuple):
    """What heyoka calls a precision: the type of its numbers, and how to make one."""

    type: Any
    number: Any


def _arithmetic(precision: Precision) -> _Arithmetic:
    hy: Any = optional("heyoka", "taylor", SOLVER)
    kind = {"double": float, "extended": np.longdouble, "quadruple": getattr(hy, "real128", None)}[precision]
    if kind is None:
        raise InputError(f"{SOLVER}: precision = 'quadruple' is not in this build of heyoka; take 'extended'")
    return _Arithmetic(kind, kind)


class _Compiled(NamedTuple):
    """The integrator of a problem, whose time and state are set by each run."""

    taylor: Any
    rates: Callable[[np.ndarray, np.ndarray], np.ndarray] | None
    """The right-hand side at times `(k,)` and states `(k, n)`, or None where it is defined everywhere."""


@dataclass(frozen=True)
class _Expanded:
    """Makes the integrator of a problem whose states have so many numbers."""

    size: int
    precision: Precision
    tolerance: float

    def __call__(self, problem: AbstractProblem) -> _Compiled:
        hy: Any = optional("heyoka", "taylor", SOLVER)
        arithmetic = _arithmetic(self.precision)
        number = arithmetic.number
        pairs, defined, count = equations(problem, self.size, lambda value: hy.expression(number(value)))
        zero = np.array([number(0.0)] * self.size, dtype=arithmetic.type)
        kind = {"fp_type": arithmetic.type, "compact_mode": count > LONG}
        taylor = hy.taylor_adaptive(pairs, zero, tol=number(self.tolerance), **kind)
        if defined:
            return _Compiled(taylor, None)
        variables, rates = zip(*pairs, strict=True)
        field = hy.cfunc(
            list(rates), vars=list(variables), fp_type=arithmetic.type, compact_mode=count > LONG
        )

        def at(times: np.ndarray, states: np.ndarray) -> np.ndarray:
            columns = np.ascontiguousarray(states.T).astype(arithmetic.type)
            return np.asarray(field(columns, time=times.astype(arithmetic.type))).astype(float).T

        return _Compiled(taylor, at)
