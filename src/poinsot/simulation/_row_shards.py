"""The time loop of a long row on a CPU: in windows that fit its cache, shared among its cores."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import Packed, Result
from poinsot.kernels import cores, jitted
from poinsot.simulation._loop import LoopState, Marcher, start_rows
from poinsot.simulation._row import HEIGHT, Row
from poinsot.simulation._row_march import RowMarcher
from poinsot.simulation._window_march import WindowMarcher

WINDOW = 1024
"""Bodies of a long row that go through several steps together, in the cache of a core."""
EVALUATIONS = 16
"""Forces evaluated in a window before its ends are out of date and neighbouring windows must meet."""
VECTOR = 8
"""Bodies of which a window has a multiple: its rows then begin where vectors do."""
ROUNDS = 4
"""Times at most that windows meet before cores do: a thread that waits for another finds its cache cold."""
LONG = 4 * WINDOW
"""Bodies from which a row is cut into windows on a CPU."""


@dataclass(frozen=True)
class Cut:
    """How a row is cut: a shard for each core, and each shard into windows.

    A window takes several steps by itself, with so many bodies of its neighbours on both sides as these
    reach, and keeps those it had right. Shards do the same with several such rounds.
    """

    shards: int
    windows: int
    """Of each shard."""
    length: int
    """Bodies of a window."""
    stride: int
    """Steps of a round."""
    margin: int
    """Bodies that a round reaches."""
    rounds: int
    """Rounds before shards meet."""
    overlap: int
    """Bodies that a shard has of each of its neighbours."""

    @classmethod
    def of(cls, row: Row, shards: int) -> Self:
        """The cut of a row into so many shards."""
        stride = max(1, EVALUATIONS // len(row.weights))
        margin = stride * len(row.weights)
        # What a shard gives to the next lies within a window.
        rounds = max(1, min(ROUNDS, WINDOW // (4 * margin)))
        overlap = rounds * margin if shards > 1 else 0
        size = -(-row.local.count // shards) + 2 * overlap
        windows = -(-size // WINDOW)
        length = VECTOR * -(-size // (VECTOR * windows))
        return cls(shards, windows, length, stride, margin, rounds, overlap)

    @property
    def size(self) -> int:
        """Bodies of a shard that no other has."""
        return self.windows * self.length - 2 * self.overlap

    def pieces(self, row: Row, rows: Float[Array, "19 n"]) -> list[Array]:
        """The shards of a row; the last is filled up with bodies that take no part."""
        behind = self.overlap + self.shards * self.size - rows.shape[1]
        filled = row.with_margin(rows, self.overlap, behind)
        shards = [
            filled[:, k * self.size : (k + 1) * self.size + 2 * self.overlap] for k in range(self.shards)
        ]
        return [jnp.moveaxis(shard.reshape(HEIGHT, self.windows, self.length), 0, 1) for shard in shards]

    def joined(self, shards: Sequence[Array]) -> Float[Array, "19 n"]:
        """The inverse of `pieces`, but for bodies that fill up."""
        flat = [jnp.moveaxis(shard, 1, 0).reshape(HEIGHT, -1) for shard in shards]
        return jnp.concatenate([one[:, self.overlap : self.overlap + self.size] for one in flat], axis=1)

    def neighbours(self, row: Row, shards: Sequence[Array], k: int) -> tuple[np.ndarray, np.ndarray]:
        """What shard `k` has of the one before and of the one behind it."""
        before = behind = row.still(self.overlap)
        if k > 0:
            before = np.asarray(shards[k - 1])[
                -1, :, self.length - 2 * self.overlap : self.length - self.overlap
            ]
        if k + 1 < self.shards:
            behind = np.asarray(shards[k + 1])[0, :, self.overlap : 2 * self.overlap]
        return before, behind


class RowShards(eqx.Module):
    """A long row on a CPU, in a `Cut`: windows stay in the cache of a core, and cores seldom meet."""

    whole: RowMarcher

    @property
    def plain(self) -> Marcher:
        """What looks at every step."""
        return self.whole.plain

    def start(self, y: Packed) -> LoopState:
        """The state before the first step."""
        return start_rows(self.plain, y)

    def record(self, loop: LoopState, targets, fractions, count):
        """As `Marcher.record`, step numbers on the host."""
        saved = np.zeros((targets.shape[0], *loop.y.shape))
        done = 0
        with ThreadPoolExecutor(cores()) as pool:
            for target in np.asarray(targets)[: int(count)]:
                loop = self._march(pool, loop, int(target))
                if Result(int(loop.result)) is not Result.successful:
                    break
                saved[done] = loop.y if fractions is None else _part_step(self.plain, loop, fractions[done])
                done += 1
        return loop, saved, done

    def _march(self, pool: ThreadPoolExecutor, loop: LoopState, until: int) -> LoopState:
        """Steps up to step number `until`."""
        row, n = self.whole.row, int(loop.n)
        cut = Cut.of(row, min(cores(), -(-row.local.count // WINDOW)))
        shards = _pieces(self.whole, loop, cut)
        while n < until:
            steps = min(cut.rounds * cut.stride, until - n) if cut.shards > 1 else until - n

            def advance(k: int, shards=shards, steps=steps) -> Array:
                given, first = cut.neighbours(row, shards, k), jnp.int64(k * cut.size - cut.overlap)
                return jax.block_until_ready(
                    _rounds(row, cut, shards[k], given, first, self.plain.h, jnp.int64(steps))
                )

            shards = list(pool.map(advance, range(cut.shards)))
            n += steps
        return _joined(self.whole, loop, cut, shards, jnp.int64(until))


def row_marcher(marcher: Marcher) -> WindowMarcher | RowMarcher | RowShards | None:
    """The fastest loop for a row of bodies; None where problem or integrator are of another kind."""
    row = None if marcher.event is not None else Row.of(marcher.problem, marcher.integrator)
    if row is None:
        return WindowMarcher.of(marcher)
    whole = RowMarcher(marcher, row)
    # A step of very many parts reaches further than windows are long.
    cut = jax.default_backend() == "cpu" and row.local.count > LONG and 4 * len(row.weights) <= WINDOW
    return RowShards(whole) if cut else whole


@jitted
def _rounds(row: Row, cut: Cut, shard: Float[Array, "windows 19 length"], given, first, h, steps):
    """Steps of the shard that begins with body `first`, with what its neighbours have, window by window."""
    before, behind = given
    if cut.overlap:
        shard = shard.at[0, :, : cut.overlap].set(before).at[-1, :, -cut.overlap :].set(behind)
    still = row.still(cut.margin)[None]
    begins = first - cut.margin + cut.length * jnp.arange(cut.windows)

    def one_round(i, shard):
        left = jnp.concatenate([still, shard[:-1, :, -cut.margin :]])
        right = jnp.concatenate([shard[1:, :, : cut.margin], still])
        count = jnp.minimum(cut.stride, steps - i * cut.stride)

        def one(window):
            begin, *parts = window
            stepped = row.steps(jnp.concatenate(parts, axis=1), begin, h, count)
            return stepped[:, cut.margin : -cut.margin]

        return lax.map(one, (begins, left, shard, right))

    return lax.fori_loop(0, -(-steps // cut.stride), one_round, shard)


@jitted
def _pieces(marcher: RowMarcher, loop: LoopState, cut: Cut) -> list[Array]:
    """The bodies where a run stands, cut."""
    return cut.pieces(marcher.row, marcher.rows(loop))


@jitted
def _joined(marcher: RowMarcher, loop: LoopState, cut: Cut, shards: list[Array], until) -> LoopState:
    """Where the run stands, from its shards."""
    return marcher.reached(loop, cut.joined(shards)[:, : marcher.row.local.count], until)


@jitted
def _part_step(marcher: Marcher, loop: LoopState, fraction) -> Packed:
    return marcher.part_step(loop, fraction)[0]
