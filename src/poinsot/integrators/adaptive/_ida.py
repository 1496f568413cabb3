"""Backward differentiation for the equations with multipliers."""

import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.core import AbstractImplicit, AbstractProblem, Result, optional
from poinsot.integrators.adaptive import _host
from poinsot.integrators.adaptive._base import (
    AdaptiveTraits,
    Batch,
    Counts,
    Dense,
    Engine,
    Task,
)
from poinsot.integrators.adaptive._dense import Piecewise
from poinsot.integrators.adaptive._options import FEWEST_ULPS, SteppedSolver
from poinsot.kernels import jitted

UNTESTED = 1e20
"""Absolute tolerance of the multipliers, which leaves them out of the error test."""


class Ida(SteppedSolver):
    r"""Backward differentiation of orders 1 to 5 for differential-algebraic equations, by SUNDIALS.

    $$ F\Big(t_n, z_n, h_n^{-1} \sum_{i=0}^k \alpha_{n,i}\, z_{n-i}\Big) = 0, \qquad F(t, z, \dot z) = 0 $$

    On bodies in the form "index1" the unknowns are positions, velocities and multipliers, and the constraints
    of positions and velocities drift with the tolerance. On "index2" and "index3", and on `pt.Constrained`,
    it solves the stabilised form of Gear, Gupta and Leimkuhler, which holds both: to the tolerance within the
    solver, whose Newton iterations end there, and to round-off in the states it gives, which are projected.
    The projection leaves the run itself alone.

    *Properties*: order 1 to 5, for stiff problems; the Jacobian, a dense matrix, by automatic
    differentiation, so for up to 30 bodies with joints. Multipliers do not count in the error test. Dense
    output of degree 5 through the last steps and their slopes.

    Args:
        first_step: size of the first attempt; by default chosen.
        max_step: largest step, or None.

    Reference:
        Hindmarsh et al.: SUNDIALS, ACM Trans. Math. Softw. 31 (2005) 363-396; Gear, Leimkuhler, Gupta,
        J. Comput. Appl. Math. 12-13 (1985) 77-90.
    """

    @property
    def traits(self) -> AdaptiveTraits:
        """Implicit and of several steps."""
        return AdaptiveTraits(
            name="IDA",
            order=None,
            one_step=False,
            stiff=True,
            needs="dae",
            package="scikit-sundae",
            extra="adaptive",
            reference="Hindmarsh et al.: SUNDIALS, ACM Trans. Math. Softw. 31 (2005) 363-396",
        )

    def refusal(self, problem: AbstractProblem) -> str | None:
        """Takes the equations with multipliers."""
        form = problem.implicit_form(0)
        if form is not None:
            # The Jacobian is a dense matrix of all unknowns.
            return form.system.dense_refusal
        return (
            "needs equations with multipliers: the forms 'index1', 'index2' and 'index3' of bodies, or a "
            "pt.Constrained"
        )

    def start(self, task: Task) -> Engine:
        """Begin a run."""
        form = task.problem.implicit_form(len(task.y))
        assert form is not None, "looked at in refusal"
        options = {"first_step": self.first_step, "max_step": self.max_step}
        return _IdaEngine(task, form, {name: value for name, value in options.items() if value is not None})


class _IdaEngine(Engine):
    """A run of IDA, a step at a time."""

    def __init__(self, task: Task, form: AbstractImplicit, options: dict[str, Any]):
        IDA = optional("sksundae.ida", "adaptive", "Ida").IDA
        self.counts, self._t1 = Counts(), task.t1
        self._finish = _host.compiled((task.problem, form), _finished)
        self._residual = _host.compiled(form, _residual)
        self._jacobian = _host.compiled(form, _jacobian)
        z, rate = _started(form, task.t0, task.y)
        self._differential, multipliers = 2 * form.positions, np.arange(2 * form.positions, len(z))
        atol = np.full(len(z), task.atol)
        atol[multipliers] = UNTESTED
        self._times, self._finite = set[float](), True
        settings = {"rtol": task.rtol, "atol": atol, "algebraic_idx": multipliers} | options
        self._solver: Any = IDA(self._look, jacfn=self._differentiate, **settings)
        self._solver.init_step(task.t0, z, rate)
        self._latest = [(task.t0, z, rate)]

    def advance(self, seconds: float) -> Batch:
        """Steps until the time is up or the run is over."""
        until = time.perf_counter() + seconds
        ends, states, rejected, pieces = [self._latest[-1][0]], [], [], []
        result = Result.successful
        while ends[-1] != self._t1:
            self._times = {ends[-1]}
            step = self._solver.step(self._t1, method="onestep", tstop=self._t1)
            attempts = len(self._times) - 1
            stuck = abs(step.t - ends[-1]) < FEWEST_ULPS * np.spacing(abs(step.t)) and step.t != self._t1
            if stuck or not step.success:
                self.counts.rejected += attempts
                result = Result.step_too_small if self._finite else Result.non_finite
                break
            rejected.append(max(1, attempts) - 1)
            self._latest = [*self._latest[-3:], (float(step.t), step.y, step.yp)]
            pieces.append(self._interpolant())
            ends.append(float(step.t))
            states.append(self._finish(ends[-1], step.y))
            if time.perf_counter() > until:
                break
        self.counts.accepted += len(states)
        self.counts.rejected += sum(rejected)
        t, y = np.array(ends), np.array(states).reshape(len(states), -1)
        return Batch(t[1:], y, np.array(rejected, dtype=np.int64), Piecewise(t, pieces), result)

    def _look(self, t: float, z: np.ndarray, rate: np.ndarray, out: np.ndarray) -> None:
        self.counts.rhs += 1
        self._times.add(t)
        value = self._residual(t, z, rate)
        self._finite = bool(np.isfinite(value).all())
        out[:] = value

    def _differentiate(self, t: float, z, rate, residual, scale: float, out: np.ndarray) -> None:
        self.counts.jacobians += 1
        self.counts.factorisations += 1
        out[:] = self._jacobian(t, z, rate, scale)

    def _interpolant(self) -> Dense:
        """Through the ends of the last steps, with the slopes at both ends of the last one."""
        cut, latest, finish = self._differential, self._latest, self._finish
        made = []

        def polynomial() -> Any:
            Krogh = optional("scipy.interpolate", "adaptive", "Ida").KroghInterpolator
            nodes, values = [], []
            for t, z, _ in latest[:-2]:
                nodes, values = [*nodes, t], [*values, z[:cut]]
            for t, z, rate in latest[-2:]:
                nodes, values = [*nodes, t, t], [*values, z[:cut], rate[:cut]]
            return Krogh(nodes, values)

        def interpolate(times: np.ndarray) -> np.ndarray:
            if not made:
                made.append(polynomial())
            rest = np.zeros(len(latest[-1][1]) - cut)
            return np.array(
                [finish(t, np.append(z, rest)) for t, z in zip(times, made[0](times), strict=True)]
            )

        return interpolate


def _residual(form: AbstractImplicit, t, z, rate):
    return form.residual(t, z, rate)


def _jacobian(form: AbstractImplicit, t, z, rate, scale):
    r"""The matrix $F_z + c F_{\dot z}$ of Newton's iteration: the change along $(\delta z, c\,\delta z)$."""
    matrix = jax.jacfwd(lambda change: form.residual(t, z + change, rate + scale * change))(0.0 * z)
    shift = form.shift(t, z, scale)
    return matrix if shift is None else matrix + jnp.diag(shift)


def _finished(data: tuple[AbstractProblem, AbstractImplicit], t, z):
    """The packed state, on the constraints where the equations contain them."""
    problem, form = data
    return form.state(z) if problem.ordinary else problem.project(t, form.state(z), "both")


@jitted
def _start(form: AbstractImplicit, t, y):
    return form.start(t, y)


def _started(form: AbstractImplicit, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    z, rate = _start(form, t, y)
    return np.array(z), np.array(rate)
