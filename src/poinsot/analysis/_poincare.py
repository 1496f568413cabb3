"""Poincare sections: where a motion pierces a surface, each point by a solve of its own."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array

from poinsot.core import AbstractProblem, Packed, Result, State, UserFunction, checked, user_function
from poinsot.integrators import AbstractIntegrator
from poinsot.kernels import jitted, once
from poinsot.simulation import Event, Interrupted, SimulationError, Trajectory
from poinsot.simulation._event import Direction
from poinsot.simulation._loop import LoopState, Marcher
from poinsot.simulation._progress import Progress
from poinsot.simulation._schedule import Pace
from poinsot.simulation._trajectory import Record
from poinsot.simulation._validate import check_state, count_steps, fixed_for

CAPACITY = 2048
"""Crossings held on the device before a chunk hands them over."""
BLOCK = 128
"""Crossings located at once."""


@dataclass(frozen=True)
class PoincareSection:
    """Points of a motion on a surface, in the order of the run."""

    t: np.ndarray
    """Times of the points."""
    state: State
    """The states there, one per row."""
    steps: int
    """Steps of the whole run."""
    iterations: int
    """Iterations of implicit equations, all steps together."""
    wall_seconds: float
    """Time taken, the compilation included."""

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.t)


@checked
def poincare_section(
    problem: AbstractProblem,
    integrator: AbstractIntegrator | str,
    state: State,
    *,
    section: Callable,
    t1: float,
    dt: float,
    t0: float = 0.0,
    direction: Direction = 1,
    where: Callable | None = None,
    locate: bool = True,
    progress: bool | None = None,
) -> PoincareSection:
    r"""Points at which the motion crosses the surface $g = 0$.

    Every step is watched for a change of sign of $g$. The crossing itself is then found by a local solve:
    the fraction $\theta$ of the step for which a step of size $\theta h$ ends on the surface, to round-off,
    so that a point is as accurate as the run. Crossings closer together than one step are not seen apart.

    The start is a point of the section when $g$ is exactly zero there and moves in the right direction.

    Args:
        problem: what to solve.
        integrator: how; or its name.
        state: start, with the problem's labels.
        section: the function $g$ of the state, e.g. `lambda q, p: q[1]`; also with `t` and `params`.
        t1: end time, a whole number of steps from `t0`.
        dt: step, negative for a backward run.
        t0: start time.
        direction: 1 takes crossings at which $g$ grows along the run, -1 those where it falls, 0 both.
        where: a condition on the points, e.g. `lambda q, p: q[0] > 0`; points without it are left out.
        locate: `False` skips the local solves, for counting: points are then the ends of the steps in which
            the crossings lie, and `where` is asked there.
        progress: show a progress bar; by default on a terminal.

    Raises:
        InputError: on wrong input, before anything is computed.
        SimulationError: when a step fails; its `trajectory` holds the points up to there.
        Interrupted: on Ctrl-C; likewise.
    """
    steps, _ = count_steps(t0, t1, dt, "refuse")
    integrator = fixed_for(problem, integrator, "poincare_section")
    y = check_state(problem, state, t0)
    event = Event(section, direction).bound(problem)
    accept = None if where is None else user_function(where, problem.labels, "where")
    marcher = Marcher(problem, integrator, jnp.asarray(t0, dtype=float), jnp.asarray(dt, dtype=float), event)
    began = time.perf_counter()
    crossings, loop, result = _march(marcher, y, steps, progress)
    place, points = _points(marcher, crossings, locate)
    if bool(_starts_on_section(marcher, y)):
        place, points = np.append(0.0, place), np.concatenate([np.asarray(y)[None], points])
    times = t0 + place * dt
    if accept is not None:
        kept = np.asarray(_asked(marcher, accept, jnp.asarray(times), jnp.asarray(points)), dtype=bool)
        place, times, points = place[kept], times[kept], points[kept]
    taken, iterations, wall = int(loop.n), int(loop.iterations), time.perf_counter() - began
    if not result.ok:
        told = {"dt": dt, "iterations": iterations}
        record = Record(times, points, t0, result, steps=taken, wall_seconds=wall, told=told)
        trajectory = Trajectory.of(problem, integrator, record)
        interrupted = result is Result.interrupted
        raise Interrupted(trajectory) if interrupted else SimulationError(trajectory.message, trajectory)
    return PoincareSection(times, jax.vmap(problem.unpack)(jnp.asarray(points)), taken, iterations, wall)


class Crossings(eqx.Module):
    """Steps in which the section is crossed: their numbers, the states before and after them."""

    n: Array
    before: Array
    after: Array

    @classmethod
    def room(cls, capacity: int, y: Packed) -> "Crossings":
        """An empty buffer."""
        states = jnp.zeros((capacity, *y.shape))
        return cls(jnp.zeros(capacity, dtype=jnp.int64), states, states)

    def first(self, count: int) -> "Crossings":
        """The first `count`, on the host."""
        return jax.tree.map(lambda leaf: np.asarray(leaf)[:count], self)


def _march(
    marcher: Marcher, y: Packed, steps: int, progress: bool | None
) -> tuple[Crossings, LoopState, Result]:
    """The whole run, chunk by chunk; all crossings as arrays on the host."""
    # Watching for the event is done here: a marcher that knows it would stop before the crossing.
    free = Marcher(marcher.problem, marcher.integrator, marcher.t0, marcher.h)
    loop, result, pace = _begin(free, y), Result.successful, Pace()
    assert marcher.event is not None
    found = [Crossings.room(0, y).first(0)]
    with Progress(progress, steps, marcher.integrator.name) as bar:
        try:
            while int(loop.n) < steps and result is Result.successful:
                tick, done = time.perf_counter(), int(loop.n)
                until = min(done + pace.steps, steps)
                loop, buffer, count = _watch(free, marcher.event, loop, jnp.int64(until))
                found.append(buffer.first(int(count)))
                result, elapsed = Result(int(loop.result)), time.perf_counter() - tick
                pace.learn(int(loop.n) - done, elapsed)
                bar.update(int(loop.n))
        except KeyboardInterrupt:
            result = Result.interrupted
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *found), loop, result


@once
def _begin(marcher: Marcher, y: Packed) -> LoopState:
    return marcher.start(y)


@jitted
def _watch(marcher: Marcher, event: Event, loop: LoopState, until) -> tuple[LoopState, Crossings, Array]:
    """March up to step `until`, or until the buffer is full, keeping each step that crosses the section."""

    def value(loop: LoopState):
        return event.value(marcher.problem, marcher.time(loop.n), loop.y)

    def ongoing(loop: LoopState):
        return (loop.n < until) & (loop.result == Result.successful)

    def step(carry):
        loop, _, g, _ = carry
        following = marcher.step(loop)
        g_after = value(following)
        return following, loop.y, g_after, event.crossed(g, g_after)

    def advance(carry):
        loop, g, buffer, count = carry
        walk = (loop, loop.y, g, jnp.asarray(False))
        loop, before, g, met = lax.while_loop(lambda c: ongoing(c[0]) & ~c[3], step, walk)
        entry = Crossings(loop.n - 1, before, loop.y)
        buffer = jax.tree.map(lambda room, row: room.at[count].set(row), buffer, entry)
        return loop, g, buffer, count + met.astype(count.dtype)

    def proceed(carry):
        loop, _, _, count = carry
        return ongoing(loop) & (count < CAPACITY)

    start = (loop, value(loop), Crossings.room(CAPACITY, loop.y), jnp.int64(0))
    loop, _, buffer, count = lax.while_loop(proceed, advance, start)
    return loop, buffer, count


def _points(marcher: Marcher, crossings: Crossings, locate: bool) -> tuple[np.ndarray, np.ndarray]:
    """Where the points lie, in steps from the start, and the states there."""
    if not locate:
        return np.asarray(crossings.n) + 1.0, np.asarray(crossings.after)
    n, before = np.asarray(crossings.n), np.asarray(crossings.before)
    total = len(n)
    places, states = [np.zeros(0)], [np.zeros((0, *before.shape[1:]))]
    for begin_at in range(0, total, BLOCK):
        # The last block repeats its last crossing, so that all blocks run the same program.
        rows = np.minimum(np.arange(begin_at, begin_at + BLOCK), total - 1)
        size = min(BLOCK, total - begin_at)
        fraction, y = _locate_block(marcher, jnp.asarray(n[rows]), jnp.asarray(before[rows]))
        places.append(n[rows][:size] + np.asarray(fraction)[:size])
        states.append(np.asarray(y)[:size])
    return np.concatenate(places), np.concatenate(states)


@jitted
def _locate_block(marcher: Marcher, n: Array, y: Array) -> tuple[Array, Array]:
    """Located crossings of a block of steps."""

    def one(n, y):
        carry = marcher.integrator.init(marcher.problem, marcher.time(n), marcher.h, y)
        none = jnp.int32(0)
        return marcher.locate_event(LoopState(n, y, carry, none, none))

    return jax.vmap(one)(n, y)


@jitted
def _starts_on_section(marcher: Marcher, y: Packed):
    """Whether the start is a point: on the surface, and moving through it in the right direction."""
    problem, event, t = marcher.problem, marcher.event, marcher.t0
    assert event is not None
    rates = (jnp.ones_like(t), problem.vector_field(t, y))
    g, slope = jax.jvp(lambda t, y: event.value(problem, t, y), (t, y), rates)
    slope = slope * jnp.sign(marcher.h)
    return (g == 0.0) & {1: slope > 0.0, -1: slope < 0.0, 0: slope != 0.0}[event.direction]


@jitted
def _asked(marcher: Marcher, condition: UserFunction, times: Array, states: Array) -> Array:
    """The condition at every point."""
    return jax.vmap(lambda t, y: marcher.problem.evaluate(condition, t, y))(times, states)
