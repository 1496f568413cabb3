"""Taylor series of high order: the fastest way to the last digits of a smooth motion."""

import functools
import time
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import equinox as eqx
import numpy as np

from poinsot.core import AbstractProblem, InputError, Result, optional, quoted
from poinsot.integrators.adaptive import _host
from poinsot.integrators.adaptive._base import AbstractAdaptive, AdaptiveTraits, Batch, Counts, Engine, Task
from poinsot.integrators.adaptive._taylor_domain import first_undefined
from poinsot.integrators.adaptive._taylor_equations import SOLVER, equations

Precision = Literal["double", "extended", "quadruple"]

FINEST = {"double": 2.3e-16, "extended": 1.1e-19, "quadruple": 2e-34}
"""One unit in the last place of each precision."""

FIRST_CHUNK = 4096
"""Steps of the first batch. A call of heyoka with dense output takes a millisecond before its first step."""
LONG = 4000
"""Operations, those with constants included, beyond which the code of a series is compact. Written out it
runs twice as fast, but 3000 compile in six seconds in place of one, and 8000 in minutes."""
MOST_STEPS = 10**7
"""Steps of any batch."""


class Taylor(AbstractAdaptive):
    r"""Taylor series of the solution, by heyoka.

    In every step the series of order $p$ is computed from the right-hand side by automatic differentiation,

    $$ y(t + h) = \sum_{k=0}^{p} \frac{y^{(k)}(t)}{k!}\,h^k, \qquad
       p \approx 1 - \tfrac12 \ln \text{tol}, $$

    and $h$ follows from the size of its last two terms. The trace of the right-hand side is rewritten in
    heyoka's expressions and compiled by it. Steps are long, there are no rejections, and the error is that
    of the tolerance down to round-off. Nothing is kept by construction, and nothing is projected onto
    constraints or joints: at the finest tolerance, energy and constraints are kept to round-off, which grows
    like a random walk. A series knows nothing of a right-hand side beyond its start, so one that may be
    undefined somewhere (the root of a difference, a choice with a NaN) is evaluated within every step too,
    and the run ends where it ceases to be finite.

    *Properties*: of any order; the tolerance is the smaller one of `rtol` and `atol`, relative to the largest
    component of the state where that is above one. In counts of right-hand sides every order of the series
    counts as one. A compile takes a second at the first run of a problem, of linkages in loops ten.

    Args:
        precision: of the arithmetic: "double", "extended" (80 bits) or "quadruple", whose results are rounded
            to double. Tolerances may then be as fine as the precision.
        dense: keep the series of every step, as dense output, step sizes, `save_at` and stop conditions need
            it. Without, a run keeps its end alone and takes half the time.

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
        if self.precision not in FINEST:
            known = ", ".join(map(repr, FINEST))
            raise InputError(f"{SOLVER}: precision = {quoted(self.precision)}; it must be one of {known}")

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
        return TaylorEngine(task, self.precision, self.dense)


class TaylorEngine(Engine):
    """A run by heyoka."""

    def __init__(self, task: Task, precision: Precision, dense: bool):
        self.counts = Counts()
        self._number, self._t1, self._dense = _arithmetic(precision).number, task.t1, dense
        tolerance = min(task.rtol, task.atol) if task.atol > 0.0 else task.rtol
        self._compiled = _compiled(_host.key(task.problem), len(task.y), precision, tolerance)
        self._time = self._number(task.t0)
        self._state = np.array(
            [self._number(float(value)) for value in task.y], self._compiled.taylor.state.dtype
        )
        self._chunk = FIRST_CHUNK

    def advance(self, seconds: float) -> Batch:
        """As many steps as the time allows, going by those before."""
        tick = time.perf_counter()
        taylor, rates = self._compiled
        steps, series, result = self._propagate(self._chunk, self._dense or rates is not None)
        elapsed = max(time.perf_counter() - tick, 1e-6)
        self._chunk = max(1, min(8 * self._chunk, int(max(steps, 1) * seconds / elapsed), MOST_STEPS))
        self.counts.accepted += steps
        self.counts.rhs += steps * (taylor.order + 1)
        if series is None:
            kept = slice(1 if steps else 0)
            ends, states = np.array([self._time])[kept].astype(float), self._state[None][kept].astype(float)
            return Batch(ends, states, np.zeros(len(ends), dtype=np.int64), _no_dense, result)
        motion = _Series(series)
        times = np.asarray(series.times).astype(float)
        undefined = None if rates is None else first_undefined(rates, times, motion)
        if undefined is not None:
            step, there = undefined
            times, result = np.append(times[: step + 1], there), Result.non_finite
            self.counts.accepted -= steps - step - 1
        ends = times[1:][np.diff(times) != 0.0]
        if not self._dense:
            ends, motion = ends[-1:], _no_dense
        return Batch(ends, _Series(series)(ends), np.zeros(len(ends), dtype=np.int64), motion, result)

    def _propagate(self, most: int, dense: bool) -> tuple[int, Any, Result]:
        """Take at most so many steps: how many it were, their series, and why there are no more."""
        hy, taylor = optional("heyoka", "taylor", SOLVER), self._compiled.taylor
        # The compiled integrator serves all runs of the problem, also those in progress.
        taylor.time, taylor.state[:] = self._time, self._state
        outcome, _, _, steps, series, _ = taylor.propagate_until(
            self._number(self._t1), max_steps=most, c_output=dense
        )
        if outcome != hy.taylor_outcome.err_nf_state:
            self._time, self._state = taylor.time, taylor.state.copy()
            return steps, series, Result.successful
        if steps and not dense:
            # What came before the step that failed is no longer there: up to it once more.
            self._propagate(steps, dense)
        return steps, series, Result.non_finite


class _Series:
    """The series of some steps."""

    def __init__(self, output: Any):
        self._output, self._number = output, output.times.dtype.type

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


@functools.lru_cache(maxsize=16)
def _compiled(key: _host.Key, size: int, precision: Precision, tolerance: float) -> _Compiled:
    hy: Any = optional("heyoka", "taylor", SOLVER)
    arithmetic = _arithmetic(precision)
    number = arithmetic.number
    pairs, defined, count = equations(key.problem, size, lambda value: hy.expression(number(value)))
    zero = np.array([number(0.0)] * size, dtype=arithmetic.type)
    settings = {"tol": number(tolerance), "fp_type": arithmetic.type, "compact_mode": count > LONG}
    taylor = hy.taylor_adaptive(pairs, zero, **settings)
    if defined:
        return _Compiled(taylor, None)
    variables, rates = zip(*pairs, strict=True)
    field = hy.cfunc(list(rates), vars=list(variables), fp_type=arithmetic.type, compact_mode=count > LONG)

    def at(times: np.ndarray, states: np.ndarray) -> np.ndarray:
        columns = np.ascontiguousarray(states.T).astype(arithmetic.type)
        return np.asarray(field(columns, time=times.astype(arithmetic.type))).astype(float).T

    return _Compiled(taylor, at)
