"""Taylor series of high order: the fastest way to the last digits of a smooth motion."""

import functools
import time
from typing import Any, Literal, NamedTuple

import equinox as eqx
import numpy as np

from poinsot.core import InputError, Result, optional, quoted
from poinsot.integrators.adaptive import _host
from poinsot.integrators.adaptive._base import AbstractAdaptive, AdaptiveTraits, Batch, Counts, Engine, Task
from poinsot.integrators.adaptive._taylor_equations import SOLVER, equations

Precision = Literal["double", "extended", "quadruple"]

FINEST = {"double": 2.3e-16, "extended": 1.1e-19, "quadruple": 2e-34}
"""One unit in the last place of each precision."""

FIRST_CHUNK = 4096
"""Steps of the first batch. A call of heyoka with dense output takes a millisecond before its first step."""
MOST_STEPS = 10**7
"""Steps of any batch."""


class Taylor(AbstractAdaptive):
    r"""Taylor series of the solution, by heyoka.

    In every step the series of order $p$ is computed from the right-hand side by automatic differentiation,

    $$ y(t + h) = \sum_{k=0}^{p} \frac{y^{(k)}(t)}{k!}\,h^k, \qquad
       p \approx 1 - \tfrac12 \ln \text{tol}, $$

    and $h$ follows from the size of its last two terms. The trace of the right-hand side is rewritten in
    heyoka's expressions and compiled by it. Steps are long, there are no rejections, and the error is that
    of the tolerance down to round-off. Nothing is kept by construction: at the finest tolerance, energy and
    constraints are kept to round-off, which grows like a random walk.

    *Properties*: of any order; the tolerance is the smaller one of `rtol` and `atol`, relative to the largest
    component of the state where that is above one. In counts of right-hand sides every order of the series
    counts as one. A compile takes a second at the first run of a problem.

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

    def start(self, task: Task) -> Engine:
        """Begin a run."""
        return TaylorEngine(task, self.precision, self.dense)


class TaylorEngine(Engine):
    """A run by heyoka."""

    def __init__(self, task: Task, precision: Precision, dense: bool):
        self.counts = Counts()
        self._number, self._t1, self._dense = _arithmetic(precision).number, task.t1, dense
        tolerance = min(task.rtol, task.atol) if task.atol > 0.0 else task.rtol
        self._taylor = _compiled(_host.key(task.problem), len(task.y), precision, tolerance)
        self._time = self._number(task.t0)
        self._state = np.array([self._number(float(value)) for value in task.y], self._taylor.state.dtype)
        self._chunk = FIRST_CHUNK

    def advance(self, seconds: float) -> Batch:
        """As many steps as the time allows, going by those before."""
        hy, taylor = optional("heyoka", "taylor", SOLVER), self._taylor
        tick = time.perf_counter()
        # The compiled integrator serves all runs of the problem, also those in progress.
        taylor.time, taylor.state[:] = self._time, self._state
        outcome, _, _, steps, series, _ = taylor.propagate_until(
            self._number(self._t1), max_steps=self._chunk, c_output=self._dense
        )
        self._time, self._state = taylor.time, taylor.state.copy()
        elapsed = max(time.perf_counter() - tick, 1e-6)
        self._chunk = max(1, min(8 * self._chunk, int(max(steps, 1) * seconds / elapsed), MOST_STEPS))
        self.counts.accepted += steps
        self.counts.rhs += steps * (taylor.order + 1)
        failed = outcome == hy.taylor_outcome.err_nf_state
        result = Result.non_finite if failed else Result.successful
        if not self._dense:
            end = np.array([float(self._time)]), self._state.astype(float)[None]
            return Batch(*end, np.zeros(1, dtype=np.int64), _no_dense, result)
        if series is None:
            return Batch(np.zeros(0), np.zeros((0, len(self._state))), np.zeros(0, int), _no_dense, result)
        motion = _Series(series)
        times = np.asarray(series.times)[1:].astype(float)
        return Batch(times, motion(times), np.zeros(len(times), dtype=np.int64), motion, result)


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


@functools.lru_cache(maxsize=16)
def _compiled(key: _host.Key, size: int, precision: Precision, tolerance: float) -> Any:
    """The integrator of a problem; its time and state are set by each run."""
    hy: Any = optional("heyoka", "taylor", SOLVER)
    arithmetic = _arithmetic(precision)
    number = arithmetic.number
    system = equations(key.problem, size, lambda value: hy.expression(number(value)))
    zero = np.array([number(0.0)] * size, dtype=arithmetic.type)
    return hy.taylor_adaptive(system, zero, tol=number(tolerance), fp_type=arithmetic.type)
