"""Adaptive runs as one compiled loop of attempts."""

import functools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import AbstractProblem, Packed, Projection, Result
from poinsot.core.types import IntScalar, Scalar
from poinsot.integrators.adaptive._base import Batch, Counts, Engine, Task
from poinsot.integrators.adaptive._dense import PartSteps
from poinsot.integrators.adaptive._folded import Folded
from poinsot.integrators.adaptive._host import Itself
from poinsot.integrators.adaptive._method import AbstractMethod, Cost, Demands, starting_step
from poinsot.kernels import Bound, Choice, Kernel

NUMBERS = 2**16
"""Numbers in the buffer of the first batch: it is cleared before, in the time of a hundred steps."""
FURTHER = 4
"""Times as many in those after it: a run that gets there is long, and each batch takes time of its own."""
STRETCH = 1.01
"""The last step may be so much longer than proposed: a tiny one left over would be of no use."""
EPS = 2.0**-52
REMEMBERED = 128
"""Compiled functions that are kept for later runs."""


class Run(NamedTuple):
    """Where a run stands."""

    t: Scalar
    y: Packed
    h: Scalar
    """The step to try next."""
    carry: Any
    refused: IntScalar
    """Attempts rejected since the last accepted step."""
    result: IntScalar
    cost: Cost
    accepted: IntScalar
    rejected: IntScalar


class Stepper(NamedTuple):
    """A method on a problem, with its demands: tries steps until the end."""

    method: AbstractMethod
    problem: AbstractProblem
    numbers: Any
    """Tolerances, largest step and end: in one array, as every argument of a compiled program takes time."""
    projection: Projection

    @property
    def demands(self) -> Demands:
        """What is asked of the steps."""
        return Demands(*self.numbers[:3])

    @property
    def t1(self) -> Scalar:
        """The end."""
        return self.numbers[3]

    def start(self, t, y: Packed, first_step: Scalar) -> Run:
        """The run before its first step; `first_step` zero stands for a guess."""
        zero = jnp.int64(0)
        carry, order = self.method.init(self.problem, t, y, self.demands)

        def guess():
            return starting_step(self.problem, t, self.t1, y, self.demands, order), Cost.of(rhs=2)

        def given():
            return jnp.sign(self.t1 - t) * jnp.minimum(first_step, self.demands.max_step), Cost.of()

        h, cost = lax.cond(first_step > 0.0, given, guess)
        return Run(t, y, h, carry, zero, jnp.int32(Result.successful), cost, zero, zero)

    def projected(self, t, y: Packed) -> Packed:
        """The state put back onto the constraints, as far as was asked for."""
        return y if self.projection == "none" else self.problem.project(t, y, self.projection)

    def attempt(self, run: Run) -> tuple[Run, Float[Array, " row"]]:
        """Try one step.

        Returns:
            The run after it, and what is kept of the step if it was accepted: its end, how many attempts
            were rejected before it, the order, the state.
        """
        left = self.t1 - run.t
        last = jnp.abs(left) <= STRETCH * jnp.abs(run.h)
        h = jnp.where(last, left, run.h)
        end = jnp.where(last, self.t1, run.t + h)
        tried = self.method.attempt(self.problem, run.t, h, run.y, run.carry, self.demands)
        y = tried.y
        if self.projection != "none":
            y = lax.cond(tried.accepted, functools.partial(self.projected, end), lambda y: y, y)
        finite = jnp.all(jnp.isfinite(y)) & jnp.isfinite(tried.h)
        accepted = tried.accepted & finite

        row = jnp.concatenate([jnp.stack([end, run.refused.astype(float), tried.order.astype(float)]), y])
        t, y = jnp.where(accepted, end, run.t), jnp.where(accepted, y, run.y)
        h = jnp.where(finite, tried.h, 0.1 * h)
        h = jnp.clip(h, -self.demands.max_step, self.demands.max_step)
        # Ten units of round-off of the time, as few as leave a step any digits.
        stuck = (jnp.abs(h) <= 10.0 * EPS * jnp.abs(t) + 1e-300) & (t != self.t1)
        why = jnp.where(finite, Result.step_too_small, Result.non_finite)
        result = jnp.where(stuck, why, run.result).astype(jnp.int32)
        count = accepted.astype(jnp.int64)
        refused = jnp.where(accepted, 0, run.refused + 1)
        cost = run.cost.plus(tried.cost)
        return Run(
            t, y, h, tried.carry, refused, result, cost, run.accepted + count, run.rejected + 1 - count
        ), row


Model = tuple[AbstractMethod, AbstractProblem, Projection]
"""What a `Stepper` has beside its numbers."""


def begin(model: Model, grid, start: Float[Array, " size"]):
    """The first steps; `start` is the time, the first step and the state. Otherwise like `march`."""
    stepper, attempts = _stepper(model, grid[0]), grid[1]
    run = stepper.start(start[0], start[2:], start[1])
    return march(stepper, run, attempts, capacity(run.y.size))


def proceed(model: Model, grid, folded: Folded[Run]):
    """Further steps. Otherwise like `march`."""
    run = folded.tree()
    return march(_stepper(model, grid[0]), run, grid[1], FURTHER * capacity(run.y.size))


def _stepper(model: Model, numbers: Array) -> Stepper:
    method, problem, projection = model
    return Stepper(method, problem, numbers, projection)


def march(stepper: Stepper, run: Run, attempts: IntScalar, room: int):
    """Accepted steps, until the end, a failure, so many `attempts`, or there is no `room` for more.

    Returns:
        The run; where it stood and then rows as `Stepper.attempt` gives them; and in one array of integers
        how many steps there are, the result, and the counts in the order of `Counts`.
    """
    before = run.accepted + run.rejected
    start = jnp.concatenate([run.t[None], jnp.zeros(2), run.y])

    def going(loop):
        run, _, filled = loop
        unspent = (run.accepted + run.rejected - before < attempts) | (filled == 0)
        open_ended = (run.t != stepper.t1) & (run.result == Result.successful)
        return unspent & (filled < room) & open_ended

    def body(loop):
        run, rows, filled = loop
        following, row = stepper.attempt(run)
        # Written in any case; a row of a rejected attempt is overwritten by the next.
        rows = lax.dynamic_update_slice(rows, row[None], (filled + 1, jnp.int64(0)))
        return following, rows, filled + following.accepted - run.accepted

    # Repeated, which takes less time than one row before zeros.
    rows = jnp.broadcast_to(start, (room + 1, len(start)))
    run, rows, filled = lax.while_loop(going, body, (run, rows, jnp.int64(0)))
    counts = (*run.cost, run.accepted, run.rejected)
    return Folded.of(run), rows, jnp.stack([filled, run.result.astype(jnp.int64), *counts])


def capacity(size: int) -> int:
    """Accepted steps that the first batch has room for, with so many numbers in a state."""
    return min(max(NUMBERS // (size + 3), 16), 4096)


def part_steps(model: Model, grid, steps) -> Array:
    """States within steps: `h` after their starts `t`, `y`, for the first `count` of them."""
    stepper, count = _stepper(model, grid[0]), grid[1]
    t, h, y, order = steps

    def body(i, states):
        end = stepper.method.part(stepper.problem, t[i], h[i], y[i], order[i])
        return states.at[i].set(jnp.where(h[i] == 0.0, y[i], stepper.projected(t[i] + h[i], end)))

    return lax.fori_loop(0, count, body, y)


@functools.lru_cache(maxsize=REMEMBERED)
def _functions(method: Itself, problem: Itself, projection: Projection, choice: Choice, fast: bool) -> Bound:
    """Those of a method and a problem, which are not looked through again when they come again."""
    return Bound(Kernel(choice, fast), (method.thing, problem.thing, projection))


class Parts(NamedTuple):
    """Parts of the steps of a batch, for its dense output."""

    compiled: Bound
    numbers: np.ndarray
    order: np.ndarray
    """What each step had."""

    def __call__(self, step, t, h, y, count) -> Array:
        """States `h` after the starts of steps."""
        return self.compiled(part_steps, (self.numbers, count), (t, h, y, self.order[step].astype(int)))


class JittedEngine(Engine):
    """A run of a compiled method. It ends exactly at `t1`; its counts are without those of dense output."""

    def __init__(
        self,
        method: AbstractMethod,
        task: Task,
        *,
        first_step: float | None = None,
        max_step: float | None = None,
        projection: Projection = "none",
    ):
        self.counts = Counts()
        kernel = task.kernel
        self._compiled = _functions(
            Itself(method), Itself(task.problem), projection, kernel.choice, kernel.fast
        )
        self._numbers = np.array([task.rtol, task.atol, np.inf if max_step is None else max_step, task.t1])
        start = np.concatenate([[task.t0, first_step or 0.0], task.y])
        self._next: tuple[Callable, Any] = begin, start
        # A full batch, the shorter the larger the problem, until one has been timed.
        self._capacity = self._attempts = capacity(len(task.y))
        self._compiled.native(begin, (self._numbers, np.int64(0)), start)

    def advance(self, seconds: float) -> Batch:
        """Further accepted steps."""
        tick = time.perf_counter()
        before = self.counts.accepted + self.counts.rejected
        function, stand = self._next
        run, rows, summary = self._compiled(function, (self._numbers, np.int64(self._attempts)), stand)
        self._next = proceed, run
        self.kernel = self._compiled.kernel.description
        steps, result, *counts = np.asarray(summary).tolist()
        self.counts = Counts(*counts)
        tried = self.counts.accepted + self.counts.rejected - before
        pace = seconds * tried / max(time.perf_counter() - tick, 1e-9)
        self._attempts = min(max(int(pace), 1), 2 * FURTHER * self._capacity)
        return self._batch(np.asarray(rows), steps, Result(result))

    def _batch(self, rows: np.ndarray, steps: int, result: Result) -> Batch:
        # A copy where steps are few, which then do not keep the memory of a full batch.
        rows = rows[: steps + 1] if 2 * steps > len(rows) else rows[: steps + 1].copy()
        t, y = rows[:, 0], rows[:, 3:]
        parts = Parts(self._compiled, self._numbers, rows[1:, 2])
        return Batch(t[1:], y[1:], rows[1:, 1].astype(int), PartSteps(parts, t, y), result)
