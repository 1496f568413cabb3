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
        evaluations = len(row.weights)
        stride = max(1, EVALUATIONS // evaluations)
        margin = stride * evaluations
        windows = -(-row.local.count // (WINDOW * _cores()))
        shards = _cut(self.whole, loop, windows)
        still = row.still(margin)

        def advance(k: int, steps: int) -> Array:
            before = np.asarray(shards[k - 1])[-1, :, -margin:] if k else still
            behind = np.asarray(shards[k + 1])[0, :, :margin] if k + 1 < len(shards) else still
            first = jnp.int64(k * windows * WINDOW - margin)
            return _round(row, shards[k], before, behind, first, self.plain.h, jnp.int64(steps))

        while n < until:
            steps = min(stride, until - n)
            # All are done before the first is replaced: neighbours look at its edge.
            shards = list(
                pool.map(lambda k, steps=steps: jax.block_until_ready(advance(k, steps)), range(len(shards)))
            )
            n += steps
        return _joined(self.whole, loop, shards, jnp.int64(until))


def row_marcher(marcher: Marcher) -> Marcher | RowMarcher | RowShards:
    """The fastest loop for a problem and an integrator: that of a row where they are such, else itself."""
    row = None if marcher.event is not None else Row.of(marcher.problem, marcher.integrator)
    if row is None:
        return marcher
    whole = RowMarcher(marcher, row)
    return RowShards(whole) if jax.default_backend() == "cpu" and row.local.count > LONG else whole


@eqx.filter_jit
def _cut(marcher: RowMarcher, loop: LoopState, windows: int) -> list[Float[Array, "windows 19 window"]]:
    """The bodies where a run stands, in shards of so many windows; the last is filled up with still ones."""
    rows, length = marcher.rows(loop), windows * WINDOW
    count = -(-rows.shape[1] // length)
    filled = marcher.row.with_margin(rows, 0, count * length - rows.shape[1])
    shards = filled.reshape(len(rows), count, windows, WINDOW)
    return [jnp.moveaxis(shards[:, k], 0, 1) for k in range(count)]


@eqx.filter_jit
def _round(
    row: Row, shard: Float[Array, "windows 19 window"], before, behind, first, h, steps
) -> Float[Array, "windows 19 window"]:
    """Steps of a shard, window by window, with a margin of bodies `before` and `behind` it.

    Every window has its own bodies together in memory, and takes its margin from its neighbours as they were.
    """
    margin = before.shape[1]
    left = jnp.concatenate([before[None], shard[:-1, :, -margin:]])
    right = jnp.concatenate([shard[1:, :, :margin], behind[None]])
    begins = first + WINDOW * jnp.arange(len(shard))

    def one(window) -> Float[Array, "19 window"]:
        begin, *parts = window
        return row.steps(jnp.concatenate(parts, axis=1), begin, h, steps)[:, margin:-margin]

    return lax.map(one, (begins, left, shard, right))


@eqx.filter_jit
def _joined(marcher: RowMarcher, loop: LoopState, shards: list[Array], until) -> LoopState:
    """Where the run stands, from its shards."""
    rows = jnp.concatenate(
        [jnp.moveaxis(shard, 1, 0).reshape(shard.shape[1], -1) for shard in shards], axis=1
    )
    return marcher.reached(loop, rows[:, : marcher.row.local.count], until)


@eqx.filter_jit
def _part_step(marcher: Marcher, loop: LoopState, fraction) -> Packed:
    return marcher.part_step(loop, fraction)[0]


def _cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
