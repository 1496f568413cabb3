"""The time loop of a row of bodies: in one piece, or for a long one in windows shared among the cores."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import Group, Packed, Result
from poinsot.integrators import Composition
from poinsot.simulation._loop import LoopState, Marcher, record
from poinsot.simulation._row import Row

WINDOW = 1024
"""Bodies of a long row that go through several steps together, in the cache of a core."""
EVALUATIONS = 16
"""Forces evaluated in a window before its ends are out of date and neighbouring windows must meet."""
LONG = 4 * WINDOW
"""Bodies from which a row is cut into windows on a CPU."""


class RowMarcher(eqx.Module):
    """A `Marcher` that takes the steps of a `Row` without looking, and looks at the end.

    Where something is not finite then, it goes back to where it began: `plain` finds the step and the reason.
    """

    plain: Marcher
    row: Row

    def start(self, y: Packed) -> LoopState:
        """The state before the first step."""
        return self.plain.start(y)

    def part_step(self, loop: LoopState, fraction) -> tuple[Packed, Array]:
        """As `Marcher.part_step`."""
        return self.plain.part_step(loop, fraction)

    def march(self, loop: LoopState, until) -> LoopState:
        """Steps up to step number `until`."""
        rows = self.row.with_margin(self.rows(loop), 1, 1)
        rows = self.row.steps(rows, jnp.int64(-1), self.plain.h, until - loop.n)
        return self.reached(loop, rows[:, 1:-1], until)

    def rows(self, loop: LoopState) -> Float[Array, "19 n"]:
        """All bodies where a run stands."""
        own = loop.carry[0] if self._composed else loop.carry
        return self.row.rows(self._problem, loop.y, own)

    def reached(self, loop: LoopState, rows: Float[Array, "19 n"], until) -> LoopState:
        """Where the run stands after steps from `loop`: at their end, or where it was if they failed."""
        y, own = self.row.packed(self._problem, rows)
        carry: Any = (own,) if self._composed else own
        finite = jnp.all(jnp.isfinite(rows))
        n, y, carry = jax.tree.map(
            lambda new, old: jnp.where(finite, new, old), (until, y, carry), (loop.n, loop.y, loop.carry)
        )
        result = jnp.where(finite, Result.successful, Result.non_finite).astype(jnp.int32)
        return LoopState(n, y, carry, result, loop.iterations)

    @property
    def _problem(self) -> Group:
        assert isinstance(self.plain.problem, Group)
        return self.plain.problem

    @property
    def _composed(self) -> bool:
        return isinstance(self.plain.integrator, Composition)

    def record(self, loop: LoopState, targets: Array, fractions: Array | None, count):
        """As `Marcher.record`."""
        return record(self, loop, targets, fractions, count)


class RowShards(eqx.Module):
    """A long row on a CPU: cut among its cores, and on each of them into windows.

    A window takes several steps by itself with so many bodies on both sides as these reach, and gives back
    those it had right. So a window stays in the cache, and cores meet once in several steps.
    """

    whole: RowMarcher

    @property
    def plain(self) -> Marcher:
        """What looks at every step."""
        return self.whole.plain

    def start(self, y: Packed) -> LoopState:
        """The state before the first step."""
        return self.plain.start(y)

    def record(self, loop: LoopState, targets: Array, fractions: Array | None, count):
        """As `Marcher.record`, step numbers on the host."""
        saved = np.zeros((targets.shape[0], *loop.y.shape))
        done = 0
        with ThreadPoolExecutor(_cores()) as pool:
            for target in np.asarray(targets)[: int(count)]:
                loop = self._march(pool, loop, int(target))
                if Result(int(loop.result)) is not Result.successful:
                    break
                saved[done] = loop.y if fractions is None else _part_step(self.plain, loop, fractions[done])
                done += 1
        return loop, saved, done

    def _march(self, pool: ThreadPoolExecutor, loop: LoopState, until: int) -> LoopState:
        """Rounds of a few steps up to step number `until`."""
        row, n = self.whole.row, int(loop.n)
        count, evaluations = row.local.count, len(row.weights)
        stride = max(1, EVALUATIONS // evaluations)
        margin = stride * evaluations
        shard = WINDOW * -(-count // (WINDOW * _cores()))
        shards = range(-(-count // shard))
        rows = np.array(_with_margin(self.whole, loop, margin, margin + len(shards) * shard - count))

        def advance(k: int, steps: int) -> np.ndarray:
            piece = jnp.asarray(rows[:, k * shard : (k + 1) * shard + 2 * margin])
            first = jnp.int64(k * shard - margin)
            return np.asarray(_windows(row, piece, first, self.plain.h, jnp.int64(steps), margin))

        while n < until:
            steps = min(stride, until - n)
            pieces = list(pool.map(lambda k, steps=steps: advance(k, steps), shards))
            rows[:, margin : margin + len(shards) * shard] = np.concatenate(pieces, axis=1)
            n += steps
        return _reached(self.whole, loop, jnp.asarray(rows[:, margin : margin + count]), jnp.int64(until))


def row_marcher(marcher: Marcher) -> Marcher | RowMarcher | RowShards:
    """The fastest loop for a problem and an integrator: that of a row where they are such, else itself."""
    row = None if marcher.event is not None else Row.of(marcher.problem, marcher.integrator)
    if row is None:
        return marcher
    whole = RowMarcher(marcher, row)
    return RowShards(whole) if jax.default_backend() == "cpu" and row.local.count > LONG else whole


@eqx.filter_jit
def _windows(row: Row, piece: Float[Array, "19 n"], first, h, steps, margin: int) -> Float[Array, "19 m"]:
    """Steps of a stretch of the row, window by window; what comes back lacks the margin."""

    def one(begin) -> Float[Array, "19 window"]:
        window = lax.dynamic_slice(piece, (0, begin), (piece.shape[0], WINDOW + 2 * margin))
        return row.steps(window, first + begin, h, steps)[:, margin:-margin]

    windows = lax.map(one, jnp.arange(0, piece.shape[1] - 2 * margin, WINDOW))
    return jnp.moveaxis(windows, 0, 1).reshape(piece.shape[0], -1)


@eqx.filter_jit
def _with_margin(marcher: RowMarcher, loop: LoopState, before: int, behind: int) -> Float[Array, "19 n"]:
    """All bodies where a run stands, and bodies beyond both ends that take no part."""
    return marcher.row.with_margin(marcher.rows(loop), before, behind)


@eqx.filter_jit
def _reached(marcher: RowMarcher, loop: LoopState, rows: Float[Array, "19 n"], until) -> LoopState:
    return marcher.reached(loop, rows, until)


@eqx.filter_jit
def _part_step(marcher: Marcher, loop: LoopState, fraction) -> Packed:
    return marcher.part_step(loop, fraction)[0]


def _cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
