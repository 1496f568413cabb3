"""Adaptive runs as one compiled loop of attempts."""

import functools
import time
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import AbstractProblem, Packed, Projection, Result
from poinsot.core.types import IntScalar, Scalar
from poinsot.integrators.adaptive._base import Batch, Counts, Engine, Task
from poinsot.integrators.adaptive._dense import PartSteps
from poinsot.integrators.adaptive._method import AbstractMethod, Cost, Demands, starting_step

NUMBERS = 2**16
"""Numbers in the buffer of a batch: half a megabyte, so that XLA still compiles the loop as one piece."""
STRETCH = 1.01
"""The last step may be so much longer than proposed: a tiny one left over would be of no use."""
EPS = 2.0**-52
REMEMBERED = 128
"""Compiled functions that are kept for later runs."""


class Run(NamedTuple):
    """Where a run stands. A plain tuple, which a call of a compiled program looks through fastest."""

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


def room(y: Packed | np.ndarray) -> int:
    """Accepted steps that a batch has room for."""
    return int(np.clip(NUMBERS // (y.size + 3), 16, 4096))


def begin(stepper: Stepper, t, y: Packed, first_step: Scalar) -> tuple[Run, Float[Array, "capacity row"]]:
    """The run before its first step, and memory for the rows of a batch."""
    return stepper.start(t, y, first_step), jnp.zeros((room(y), 3 + y.size))


def march(stepper: Stepper, run: Run, rows: Float[Array, "capacity row"], attempts: IntScalar):
    """Accepted steps, until the end, a failure, or as many `attempts` or accepted steps as allowed.

    Returns:
        The run, rows as `Stepper.attempt` gives them, and in one array of integers how many rows there are,
        the result, and the counts in the order of `Counts`.
    """
    before = run.accepted + run.rejected

    def proceed(loop):
        run, _, filled = loop
        unspent = (run.accepted + run.rejected - before < attempts) | (filled == 0)
        open_ended = (run.t != stepper.t1) & (run.result == Result.successful)
        return unspent & (filled < len(rows)) & open_ended

    def body(loop):
        run, rows, filled = loop
        following, row = stepper.attempt(run)
        # Written in any case; a row of a rejected attempt is overwritten by the next.
        rows = lax.dynamic_update_slice(rows, row[None], (filled, jnp.int64(0)))
        return following, rows, filled + following.accepted - run.accepted

    run, rows, filled = lax.while_loop(proceed, body, (run, rows, jnp.int64(0)))
    counts = (*run.cost, run.accepted, run.rejected)
    return run, rows, jnp.stack([filled, run.result.astype(jnp.int64), *counts])


def part_steps(stepper: Stepper, t: Array, h: Array, y: Array, order: Array, count: IntScalar) -> Array:
    """States within steps: `h` after their starts `t`, `y`, for the first `count` of them."""

    def body(i, states):
        end = stepper.method.part(stepper.problem, t[i], h[i], y[i], order[i])
        return states.at[i].set(jnp.where(h[i] == 0.0, y[i], stepper.projected(t[i] + h[i], end)))

    return lax.fori_loop(0, count, body, y)


class Compiled:
    """Functions of a stepper, compiled once for all steppers that differ in numbers only.

    A call looks at arrays alone, unlike one of `eqx.filter_jit`, which goes through the whole problem anew:
    that takes as long as hundreds of steps.
    """

    def __init__(self, stepper: Stepper):
        leaves, self._structure = jax.tree.flatten(stepper)
        self._numbers = [leaf for leaf in leaves if eqx.is_array(leaf)]
        self._rest = tuple(_NUMBER if eqx.is_array(leaf) else leaf for leaf in leaves)
        self._functions: dict[Callable, Callable] = {}

    def __call__(self, function: Callable, *arguments: Any) -> Any:
        """The value of `function(stepper, *arguments)`."""
        if function not in self._functions:
            self._functions[function] = _compiled(self._structure, self._rest, function)
        return self._functions[function](self._numbers, *arguments)


_NUMBER = object()
"""Holds the place of an array among the leaves of a stepper."""


@functools.lru_cache(maxsize=REMEMBERED)
def _compiled(structure: Any, rest: tuple, function: Callable) -> Callable:
    def call(numbers: list, *arguments):
        left = iter(numbers)
        leaves = [next(left) if leaf is _NUMBER else leaf for leaf in rest]
        return function(jax.tree.unflatten(structure, leaves), *arguments)

    return jax.jit(call, donate_argnums=_DONATED.get(function, ()))


_DONATED = {march: (2,)}
"""Arguments whose memory the result may take: the rows of one batch for those of the next."""


def _first(rows: Array, count: int) -> np.ndarray:
    """A copy of the first rows on the host."""
    # `np.asarray` remembers its view in the array, which then cannot give its memory to the next batch.
    seen: Any = np.from_dlpack(cast(Any, rows)) if jax.default_backend() == "cpu" else np.asarray(rows)
    return np.array(seen[:count])


class Parts(NamedTuple):
    """Parts of the steps of a batch, for its dense output."""

    compiled: Compiled
    order: np.ndarray
    """What each step had."""

    def __call__(self, step, t, h, y, count) -> Array:
        """States `h` after the starts of steps."""
        return self.compiled(part_steps, t, h, y, self.order[step], count)


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
        numbers = np.array([task.rtol, task.atol, np.inf if max_step is None else max_step, task.t1])
        self._compiled = Compiled(Stepper(method, task.problem, numbers, projection))
        y = np.asarray(task.y, dtype=float)
        # The size of the problem stands for the cost of a step, until a batch has been timed.
        self._attempts = int(np.clip(NUMBERS // max(y.size, 1), 16, room(y)))
        self._t, self._y = task.t0, y
        self._run, self._rows = self._compiled(begin, np.float64(task.t0), y, np.float64(first_step or 0.0))

    def advance(self, seconds: float) -> Batch:
        """Further accepted steps."""
        tick = time.perf_counter()
        before = self.counts.accepted + self.counts.rejected
        self._run, self._rows, summary = self._compiled(
            march, self._run, self._rows, np.int64(self._attempts)
        )
        filled, result, *counts = np.asarray(summary).tolist()
        self.counts = Counts(*counts)
        tried = self.counts.accepted + self.counts.rejected - before
        pace = seconds * tried / max(time.perf_counter() - tick, 1e-9)
        self._attempts = int(np.clip(pace, 1, 2 * room(self._y)))
        return self._batch(_first(self._rows, filled), Result(result))

    def _batch(self, rows: np.ndarray, result: Result) -> Batch:
        t, y = rows[:, 0], rows[:, 3:]
        part = Parts(self._compiled, rows[:, 2].astype(int))
        dense = PartSteps(part, np.append(self._t, t), np.concatenate([self._y[None], y]))
        if len(rows):
            self._t, self._y = t[-1], y[-1]
        return Batch(t, y, rows[:, 1].astype(int), dense, result)
