"""Programs with the numbers of a model in place, ready to be called."""

import ctypes
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from poinsot.kernels._compile_time import compilation
from poinsot.kernels._cores import SHARES, cores, shared_out
from poinsot.kernels.native._blocks import STORED_DTYPES, Block, Bytes, table_of

if TYPE_CHECKING:
    from poinsot.kernels.native._program import NativeProgram

COPIED = 4096
"""Bytes of results that are copied out of memory that all calls use, which is faster than new memory."""
WORTH = 4e-5
"""Seconds of work for which another thread is worth waking."""


BRIEF = 1e-3
"""Seconds of work that is cut into one piece for each thread."""


class Call:
    """A program of one run with its model in place."""

    def __init__(self, program: "NativeProgram", model: list[np.ndarray]):
        self.program, self._lock = program, Lock()
        self._shared, self._given = Block(program.shared, 1), Block(program.given, 1)
        self._views = [
            *_further_views(self._shared, model),
            *(self._given.single(leaf) for leaf in program.given.leaves),
        ]
        self._workspace, self._produced = Bytes(program.workspace), Block(program.produced, 1)
        self._results = [self._produced.single(leaf) for leaf in program.produced.leaves]
        self._one = program.result == jax.tree.structure(0)
        self._copied = sum(one.nbytes for one in self._results) <= COPIED
        pointers = program.pointers(self._shared, self._given, self._produced, self._workspace)
        self._table = table_of(pointers)
        self._enter()

    def _enter(self) -> None:
        self._entry = partial(self.program.entry, ctypes.addressof(self._table), 0, 1)

    def improve(self) -> None:
        """Take faster code, which takes longer to compile, if there is such."""
        if self.program.hurried:
            with compilation():
                self.program.improve()
        self._enter()

    def __call__(self, grid, runs) -> Any:
        """Results, in arrays of their own."""
        return self.of_leaves(jax.tree.leaves((grid, runs)))

    def of_leaves(self, leaves: Iterable[Any]) -> Any:
        """The same of all arrays of grid and run in a row."""
        with self._lock:
            for view, leaf in zip(self._views, leaves, strict=True):
                view[...] = leaf
            if self._copied:
                self._entry()
                if self._one:
                    return self._results[0].copy()
                results = [one.copy() for one in self._results]
            else:
                produced = Block(self.program.produced, 1)
                self.program.run(self._shared, self._given, produced, 0, 1)
                results = produced.arrays()
        return jax.tree.unflatten(self.program.result, results)


class RowsCall:
    """A program of many runs, as rows of ordinary arrays, with its model in place.

    Tiles of runs go to as many threads as their time is worth.
    """

    def __init__(self, program: "NativeProgram", model: list[np.ndarray]):
        self.program, self._lock = program, Lock()
        self._shared = Block(program.shared, 1)
        self._views = _further_views(self._shared, model)
        self._scratch: list[tuple[Any, int]] = []
        """Tables with memory for one tile that no thread uses at the moment, and their addresses."""
        self._one = program.result == jax.tree.structure(0)
        self._types = [(leaf.shape, STORED_DTYPES[leaf.kind]) for leaf in program.produced.leaves]
        self._rows = len(program.given.leaves) + len(program.produced.leaves)
        self._fixed = len(program.pointers(self._shared, *self._new_memory()))
        self._seconds = 0.0
        """Of a tile, as seen in the fastest call."""

    def __call__(self, grid: Iterable[Any], runs: Sequence[np.ndarray]) -> Any:
        """Results, with the runs in front.

        Args:
            grid: arrays that all runs share.
            runs: arrays with the runs in front, equally many.
        """
        count, width = len(runs[0]), self.program.width
        if 0 < count < width:
            padded = [np.concatenate([one, np.repeat(one[-1:], width - count, axis=0)]) for one in runs]
            return jax.tree.map(lambda leaf: leaf[:count], self(grid, padded))
        rows = [one if one.flags.c_contiguous else np.ascontiguousarray(one) for one in runs]
        results = [np.empty((count, *shape), dtype) for shape, dtype in self._types]
        rows += results
        with self._lock:
            for view, leaf in zip(self._views, grid, strict=True):
                view[...] = leaf
            if count:
                self._run(rows, count)
        return results[0] if self._one else jax.tree.unflatten(self.program.result, results)

    def _run(self, rows: list[np.ndarray], count: int) -> None:
        addresses = _addresses(rows)
        tiles, left = divmod(count, self.program.width)
        expected = self._seconds * tiles
        if expected < WORTH:
            self._work(addresses, 0, tiles)
        else:
            threads = min(cores(), 1 + int(expected / WORTH))
            work = partial(self._work, addresses)
            shared_out(work, tiles, threads, shares=1 if expected < BRIEF else SHARES)
        if left:
            # The last vector begins earlier, in runs that are computed twice.
            skipped = count - self.program.width
            steps = [one.strides[0] for one in rows]
            self._work([a + skipped * step for a, step in zip(addresses, steps, strict=True)], 0, 1)

    def _work(self, addresses: list[int], first: int, last: int) -> None:
        """Compute some tiles."""
        table, address = scratch = self._scratch.pop() if self._scratch else self._new_scratch()
        table[self._fixed :] = addresses
        began = time.perf_counter()
        self.program.entry(address, first, last)
        seconds = (time.perf_counter() - began) / (last - first)
        self._scratch.append(scratch)
        # Of the work alone: the time of a thread to wake up would call for more threads.
        if not 0.0 < self._seconds <= seconds:
            self._seconds = seconds

    def _new_memory(self) -> tuple[Block, Block, Bytes]:
        return Block(self.program.given, 1), Block(self.program.produced, 1), Bytes(self.program.workspace)

    def _new_scratch(self) -> tuple[Any, int]:
        memory = self._new_memory()
        table = table_of(self.program.pointers(self._shared, *memory), self._rows)
        # The table lives as long as what its pointers lead to.
        table.memory = memory
        return table, ctypes.addressof(table)


# Typed by hand: before Python 3.12 the types of buffers do not know arrays.
_from_buffer: Callable[[Any], ctypes.c_char] = ctypes.c_char.from_buffer


def _addresses(arrays: Sequence[np.ndarray]) -> list[int]:
    """Where arrays begin. The interface of arrays, for those that must not be written to, takes longer."""
    try:
        return [ctypes.addressof(_from_buffer(one)) for one in arrays]
    except (TypeError, ValueError):
        return [one.__array_interface__["data"][0] for one in arrays]


def _further_views(shared: Block, model: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Put a model into the block of what runs share; the arrays for what further belongs there."""
    views = [shared.single(leaf) for leaf in shared.layout.leaves]
    for view, leaf in zip(views, model, strict=False):
        view[...] = leaf
    return views[len(model) :]
