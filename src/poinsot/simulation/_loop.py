"""The one time loop: everything that runs, runs through here."""

from typing import Any, Protocol

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Int

from poinsot.core import AbstractProblem, Packed, Result
from poinsot.core.types import IntScalar
from poinsot.integrators import AbstractIntegrator
from poinsot.kernels import Bound, Kernel, jitted
from poinsot.simulation._event import Event, locate
from poinsot.simulation._sampling import Sampler


class LoopState(eqx.Module):
    """Where a run stands. Saved whole, it resumes bit for bit."""

    n: Int[Array, "*lanes"]
    """Steps taken; the time is `t0 + n h`."""
    y: Packed
    carry: Any
    result: Int[Array, "*lanes"]
    iterations: IntScalar
    held: Array | None = None
    """Forces of a sampled controller."""


class AbstractMarcher(Protocol):
    """What takes a run from step to step."""

    def start(self, y: Packed) -> LoopState:
        """The state before the first step."""
        ...

    def march(self, loop: LoopState, until) -> LoopState:
        """Steps up to step number `until`, or to the first failure."""
        ...

    def part_step(self, loop: LoopState, fraction) -> tuple[Packed, IntScalar]:
        """The state `fraction` of a step further, off the grid."""
        ...


class Marcher(eqx.Module):
    """A problem, an integrator and a grid of times: steps a `LoopState` along it."""

    problem: AbstractProblem
    integrator: AbstractIntegrator
    t0: Array
    h: Array
    event: Event | None = None
    sampler: Sampler | None = None

    def start(self, y: Packed) -> LoopState:
        """The state before the first step."""
        held = None if self.sampler is None else self.sampler.forces(self.t0, y)
        carry = self.integrator.init(self._holding(held), self.t0, self.h, y)
        lanes = self.problem.lanes(y)
        result = jnp.full(lanes, Result.successful, dtype=jnp.int32)
        return LoopState(jnp.zeros(lanes, dtype=jnp.int64), y, carry, result, jnp.int64(0), held)

    def _holding(self, held: Array | None) -> AbstractProblem:
        """The problem with the forces of a sampled controller."""
        if self.sampler is None or held is None:
            return self.problem
        return self.sampler.holding(self.problem, held)

    def _resampled(self, loop: LoopState, n: IntScalar) -> tuple[Array | None, Any]:
        """Forces and carry of the next step: new ones where a sample is due."""
        sampler = self.sampler
        if sampler is None:
            return None, loop.carry
        t = self.time(n)

        def sample():
            held = sampler.forces(t, loop.y)
            # What is carried may be made of forces, which jump.
            return held, self.integrator.init(self._holding(held), t, self.h, loop.y)

        return lax.cond(n % sampler.every == 0, sample, lambda: (loop.held, loop.carry))

    def time(self, n) -> Array:
        """Time of step `n`: never a running sum, which would drift."""
        return self.t0 + jnp.asarray(n, dtype=float) * self.h

    def step(self, loop: LoopState, n: IntScalar | None = None) -> LoopState:
        """One step. A lane that fails or meets the event keeps the state before it, with the reason.

        What the integrator carries is not held back: no step follows, and it is most of a long state.

        Args:
            loop: where the run stands.
            n: number of the step, where lanes may have stopped at different ones; else taken from `loop`.
        """
        n = loop.n if n is None else n
        t = self.time(n)
        held, carry = self._resampled(loop, n)
        y, carry, info = self.integrator.step(self._holding(held), t, self.h, loop.y, carry)
        components = tuple(range(y.ndim - len(self.problem.lanes(y))))
        finite = jnp.all(jnp.isfinite(y), axis=components)
        result = jnp.where(finite, Result.successful, Result.non_finite)
        clearance = self.problem.clearance(y)
        if clearance is not None:
            result = jnp.where(finite & (clearance < 0.0), Result.near_singularity, result)
        result = jnp.where(info.result == Result.successful, result, info.result)
        if self.event is not None:
            before = self.event.value(self.problem, t, loop.y)
            after = self.event.value(self.problem, self.time(n + 1), y)
            met = jnp.where(self.event.crossed(before, after), Result.stopped_by_event, Result.successful)
            met = jnp.where(jnp.isnan(after), Result.event_undefined, met)
            result = jnp.where(result == Result.successful, met, result)
        taken = result == Result.successful
        y = jnp.where(taken, y, loop.y)
        count = loop.n + taken.astype(loop.n.dtype)
        iterations = loop.iterations + info.iterations.astype(loop.iterations.dtype)
        return LoopState(count, y, carry, result.astype(jnp.int32), iterations, held)

    def step_unless_failed(self, loop: LoopState, n: IntScalar) -> LoopState:
        """Step number `n`; of a lane that has failed only how it failed is kept, and where.

        For loops of a fixed number of steps, which look at no state after that.
        """
        failed = loop.result != Result.successful
        following = self.step(loop, n)
        outcome = jnp.where(failed, loop.n, following.n), jnp.where(failed, loop.result, following.result)
        return eqx.tree_at(lambda one: (one.n, one.result), following, outcome)

    def march_together(self, loop: LoopState, first, until) -> LoopState:
        """Steps from step number `first` up to `until`, whatever happens: for runs side by side.

        Of a run that has failed only how it failed is kept, and where.
        """
        return lax.fori_loop(first, until, lambda n, loop: self.step_unless_failed(loop, n), loop)

    def march(self, loop: LoopState, until) -> LoopState:
        """Steps up to step number `until`, or to the first failure or event."""

        def proceed(loop):
            return (loop.n < until) & (loop.result == Result.successful)

        # A bound method of a module with array fields cannot be hashed, which JAX asks of a loop's body.
        return lax.while_loop(proceed, lambda loop: self.step(loop), loop)

    def part_step(self, loop: LoopState, fraction) -> tuple[Packed, IntScalar]:
        """The state `fraction` of a step further, off the grid, and the outcome; the run is not touched."""
        h = fraction * self.h
        t = self.time(loop.n)
        problem = self._holding(self._resampled(loop, loop.n)[0])
        fresh = self.integrator.init(problem, t, h, loop.y)
        y, _, info = self.integrator.step(problem, t, h, loop.y, fresh)
        return jnp.where(fraction == 0.0, loop.y, y), jnp.where(fraction == 0.0, loop.result, info.result)

    def locate_event(self, loop: LoopState) -> tuple[Array, Packed]:
        """Fraction of the next step at which the event happens, to round-off, and the state there."""
        event = self.event
        assert event is not None

        def probe(fraction):
            y, _ = self.part_step(loop, fraction)
            return event.value(self.problem, self.time(loop.n.astype(float) + fraction), y), y

        return locate(probe, event.value(self.problem, self.time(loop.n), loop.y), loop.y)


def record(marcher: "AbstractMarcher", loop: LoopState, targets: Array, fractions: Array | None, count):
    """March through step numbers `targets[:count]`, saving the state at each (or a part step beyond).

    One program for every chunk of a run: `count` and `targets` are traced, so chunking changes no bit.

    Returns:
        The loop state, the saved states, and how many were saved.
    """

    def proceed(carry):
        loop, _, saved = carry
        return (saved < count) & (loop.result == Result.successful)

    def advance(carry):
        loop, buffer, saved = carry
        loop = marcher.march(loop, targets[saved])
        y, reached = loop.y, loop.n == targets[saved]
        if fractions is not None:
            y, result = marcher.part_step(loop, fractions[saved])
            reached = reached & (result == Result.successful)
            loop = eqx.tree_at(
                lambda one: one.result, loop, jnp.where(loop.result == Result.successful, result, loop.result)
            )
        return loop, buffer.at[saved].set(y), saved + reached.astype(saved.dtype)

    buffer = jnp.zeros((targets.shape[0], *loop.y.shape))
    return lax.while_loop(proceed, advance, (loop, buffer, jnp.int64(0)))


record_rows = jitted(record)
"""`record` for marchers of their own kind, compiled by XLA."""


@jitted
def start_rows(marcher: Marcher, y: Packed) -> LoopState:
    """`Marcher.start` for these: each of its operations by itself would be compiled by itself."""
    return marcher.start(y)


Model = tuple[Any, ...]
"""What a `Marcher` has beside its grid: problem, integrator and, where there are such, event and sampler."""


def _marcher(model: Model, t0: Array, h: Array) -> Marcher:
    problem, integrator, *further = model
    return Marcher(problem, integrator, t0, h, *further)


def begin(model: Model, grid, y: Packed) -> LoopState:
    """`Marcher.start`, for a kernel."""
    return _marcher(model, *grid).start(y)


def record_run(model: Model, grid, loop: LoopState):
    """`record` of a `Marcher`, for a kernel."""
    t0, h, targets, fractions, count = grid
    return record(_marcher(model, t0, h), loop, targets, fractions, count)


def march_run(model: Model, grid, y: Packed) -> LoopState:
    """A whole run without saved states, for a kernel: `grid` is `(t0, h, steps)`."""
    t0, h, steps = grid
    marcher = _marcher(model, t0, h)
    return marcher.march(marcher.start(y), steps)


def locate_event(model: Model, grid, loop: LoopState) -> tuple[Array, Packed]:
    """`Marcher.locate_event`, for a kernel."""
    return _marcher(model, *grid).locate_event(loop)


MANY_STEPS = 20_000
"""Steps beyond which those of long code are worth ten times the time to compile it."""


class KernelMarcher:
    """A `Marcher` whose functions are compiled by a kernel."""

    def __init__(self, marcher: Marcher, kernel: Kernel):
        # On the host, where every call of a compiled program reads them.
        self._grid = np.asarray(marcher.t0), np.asarray(marcher.h)
        self._bound = Bound(kernel, (marcher.problem, marcher.integrator, marcher.event, marcher.sampler))

    def start(self, y: Packed) -> LoopState:
        """The state before the first step."""
        return self._bound(begin, self._grid, y, effort=0)

    def prepare(self, loop: LoopState, targets, fractions, steps: int) -> None:
        """Compile natively what a run of so many steps needs, if that is possible; the kernel knows then."""
        native = self._bound.native(record_run, (*self._grid, targets, fractions, np.int64(0)), loop)
        if native is not None and steps > MANY_STEPS:
            native.improve()

    def record(self, loop: LoopState, targets, fractions, count):
        """As `record`, of arrays on the host."""
        return self._bound(record_run, (*self._grid, targets, fractions, count), loop)

    def locate_event(self, loop: LoopState) -> tuple[Array, Packed]:
        """As `Marcher.locate_event`."""
        return self._bound(locate_event, self._grid, loop, effort=0)
