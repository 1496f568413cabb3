"""The run of a symmetric map in reversible steps: one compiled loop, and parts of its steps."""

import time
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float

from poinsot.core import AbstractProblem, Packed, Result, StepInfo
from poinsot.core.types import IntScalar, Scalar
from poinsot.integrators._base import AbstractIntegrator
from poinsot.integrators._update import add
from poinsot.integrators.adaptive._base import Batch, Counts, Engine, Task
from poinsot.integrators.adaptive._dense import PartSteps
from poinsot.integrators.adaptive._monitor import ChangeOfField, Monitor
from poinsot.integrators.runge_kutta import ImplicitRungeKutta, LobattoIIIAB
from poinsot.kernels import Bound

NUMBERS = 2**16
"""Numbers in the buffer of a batch."""
LEAP = 5.0
"""A step that differs from its neighbour by more than this factor no longer follows the monitor."""
EPS = 2.0**-52


class Stand(eqx.Module):
    """Where a run stands between two steps."""

    t: Scalar
    late: Scalar
    """What rounding took from the sum of the steps."""
    y: Packed
    carry: Any
    density: Scalar
    """Inverse of the next step, with its sign."""
    rhs: IntScalar
    """Evaluations of the right-hand side so far."""
    result: IntScalar


class Walker(eqx.Module):
    """A map on a problem, in steps that follow a monitor."""

    problem: AbstractProblem
    integrator: AbstractIntegrator
    monitor: Monitor

    def start(self, t: Scalar, h: Scalar, y: Packed) -> Stand:
        """Before the first step, of size `h`."""
        carry = self.integrator.init(self.problem, t, h, y)
        # The first step of a Runge-Kutta map begins with the derivative at its start.
        rhs = jnp.int64(0 if self.stages is None else 1)
        return Stand(t, jnp.zeros_like(t), y, carry, 1.0 / h, rhs, jnp.int32(Result.successful))

    def step(self, stand: Stand) -> tuple[Stand, Bool[Array, ""]]:
        """One step, and whether it was taken: it is not where the map fails."""
        h = 1.0 / stand.density
        y, carry, info = self.integrator.step(self.problem, stand.t, h, stand.y, stand.carry)
        finite = jnp.where(jnp.all(jnp.isfinite(y)), Result.successful, Result.non_finite)
        failure = jnp.where(info.result == Result.successful, finite, info.result).astype(jnp.int32)
        t, late = add(stand.t, h, stand.late)
        density = stand.density + self.monitor.growth(self.problem, t, y)
        ratio = density / stand.density
        # A comparison with NaN is false: a monitor that has lost its meaning ends the run too.
        follows = (ratio < LEAP) & (ratio > 1.0 / LEAP)
        resolved = 4.0 * EPS * jnp.abs(t * density) < 1.0
        then = jnp.where(resolved, Result.successful, Result.step_too_small)
        then = jnp.where(follows, then, Result.monitor_too_fast).astype(jnp.int32)
        taken = failure == Result.successful
        rhs = stand.rhs + self.evaluations(info)
        moved = Stand(t, jnp.asarray(late), y, carry, density, rhs, then)
        stopped = Stand(stand.t, stand.late, stand.y, stand.carry, stand.density, rhs, failure)
        return jax.tree.map(lambda new, old: jnp.where(taken, new, old), moved, stopped), taken

    def evaluations(self, info: StepInfo) -> IntScalar:
        """Of the right-hand side in a step: those of the monitor, and those of a Runge-Kutta map.

        The latter are one in each stage of each iteration. Other maps take the equations apart and do not
        evaluate their right-hand side.
        """
        return self.monitor.evaluations + (self.stages or 0) * info.iterations.astype(jnp.int64)

    @property
    def stages(self) -> int | None:
        """Of a Runge-Kutta map; None for others."""
        match self.integrator:
            case ImplicitRungeKutta(tableau=tableau):
                return tableau.stages
            case LobattoIIIAB(stages=stages):
                return stages
        return None

    def part(self, t: Scalar, h: Scalar, y: Packed) -> Packed:
        """The state `h` after the start of a step."""
        fresh = self.integrator.init(self.problem, t, h, y)
        return jnp.where(h == 0.0, y, self.integrator.step(self.problem, t, h, y, fresh)[0])


Model = tuple[AbstractProblem, AbstractIntegrator, Monitor]
"""What a `Walker` is made of."""


def _begin(model: Model, grid, start) -> Stand:
    return Walker(*model).start(*start)


def _scaled(problem: AbstractProblem, grid, start) -> ChangeOfField:
    return ChangeOfField.at(problem, *start)


def _walk(model: Model, grid, stand: Stand):
    """Steps until the end is passed, a failure, or as many as allowed: times and states, and how many."""
    walker, (t1, steps) = Walker(*model), grid

    def proceed(loop):
        stand, _, taken = loop
        ahead = (t1 - stand.t) * stand.density > 0.0
        return (taken < steps) & ahead & (stand.result == Result.successful)

    def body(loop):
        stand, rows, filled = loop
        stand, taken = walker.step(stand)
        row = jnp.concatenate([stand.t[None], stand.y])
        rows = lax.dynamic_update_slice(rows, row[None], (filled, jnp.int64(0)))
        return stand, rows, filled + taken.astype(jnp.int64)

    rows = jnp.zeros((_room(stand.y.size), 1 + stand.y.size))
    return lax.while_loop(proceed, body, (stand, rows, jnp.int64(0)))


def _room(size: int) -> int:
    """Steps that a batch has room for, with so many numbers in a state."""
    return int(np.clip(NUMBERS // (size + 1), 16, 8192))


def _parts(model: Model, count: IntScalar, steps) -> Float[Array, "k n"]:
    """States within steps: `h` after their starts `t`, `y`, for the first `count` of them."""
    walker, (t, h, y) = Walker(*model), steps
    return lax.fori_loop(0, count, lambda i, out: out.at[i].set(walker.part(t[i], h[i], y[i])), y)


class ReversibleEngine(Engine):
    """A run in reversible steps. The last of them may pass `t1`; none is rejected."""

    def __init__(self, integrator: AbstractIntegrator, monitor: Monitor | None, task: Task, dt: float):
        self.counts = Counts()
        t, h, y = np.float64(task.t0), np.float64(dt), np.asarray(task.y)
        if monitor is None:
            monitor = task.kernel(_scaled, task.problem, (), (t, y, h))
        self._functions = Bound(task.kernel, (task.problem, integrator, monitor))
        self._stand = self._functions(_begin, (), (t, h, y))
        self._t1 = np.float64(task.t1)
        self._room = _room(task.y.size)
        self._steps = min(256, self._room)
        self._last = np.array([task.t0]), np.asarray(task.y)[None]

    def advance(self, seconds: float) -> Batch:
        """Further steps."""
        tick = time.perf_counter()
        self._stand, rows, filled = self._functions(_walk, (self._t1, np.int64(self._steps)), self._stand)
        self.kernel = self._functions.kernel.description
        rows = np.array(rows)[: int(filled)]
        took = max(time.perf_counter() - tick, 1e-9)
        self._steps = int(np.clip(seconds * len(rows) / took, 16, self._room))
        self.counts.accepted += len(rows)
        self.counts.rhs = int(self._stand.rhs)
        t, y = rows[:, 0], rows[:, 1:]
        times, states = np.append(self._last[0], t), np.concatenate([self._last[1], y])
        self._last = times[-1:], states[-1:]
        dense = PartSteps(self._part, times, states)
        return Batch(t, y, np.zeros(len(t), dtype=int), dense, Result(int(self._stand.result)))

    def _part(self, step, t, h, y, count) -> Array:
        return self._functions(_parts, np.int64(count), (t, h, y))
