"""Programs with the numbers of a model in place, ready to be called."""

import ctypes
import math
import time
from collections.abc import Iterable, Sequence
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from poinsot.kernels._cores import SHARES, cores, shared_out
from poinsot.kernels.native._blocks import STORED_DTYPES, Block, Bytes

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
        self._entry = partial(
            program.entry,
            *program.pointers(self._shared, self._given, self._produced, self._workspace),
            0,
            1,
        )

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
        self._scratch: list[tuple[Any, list[int]]] = []
        """Memory for one tile that no thread uses at the moment, with its addresses."""
        self._one = program.result == jax.tree.structure(0)
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
        runs = [one if one.flags.c_contiguous else np.ascontiguousarray(one) for one in runs]
        leaves = self.program.produced.leaves
        results = [np.empty((count, *leaf.shape), STORED_DTYPES[leaf.kind]) for leaf in leaves]
        with self._lock:
            for view, leaf in zip(self._views, grid, strict=True):
                view[...] = leaf
            if count:
                self._run([*runs, *results], count)
        if self._one:
            return results[0]
        return jax.tree.unflatten(self.program.result, results)

    def _run(self, rows: list[np.ndarray], count: int) -> None:
        addresses = [_address(one) for one in rows]
        width = self.program.width
        tiles, left = divmod(count, width)
        expected = self._seconds * tiles

        def work(first: int, last: int) -> None:
            memory, fixed = self._scratch.pop() if self._scratch else self._new_scratch()
            began = time.perf_counter()
            self.program.entry(*fixed, *addresses, first, last)
            seconds = (time.perf_counter() - began) / (last - first)
            if left and last == tiles:
                # The last vector begins earlier, in runs that are computed twice.
                steps = [one.itemsize * math.prod(one.shape[1:]) for one in rows]
                pairs = zip(addresses, steps, strict=True)
                moved = [address + (count - width) * step for address, step in pairs]
                self.program.entry(*fixed, *moved, 0, 1)
            self._scratch.append((memory, fixed))
            # Of the work alone: the time of a thread to wake up would call for more threads.
            self._seconds = min(self._seconds, seconds) if self._seconds else seconds

        if expected < WORTH:
            return work(0, tiles)
        threads = min(cores(), 1 + int(expected / WORTH))
        return shared_out(work, tiles, threads, shares=1 if expected < BRIEF else SHARES)

    def _new_scratch(self) -> tuple[Any, list[int]]:
        program = self.program
        memory = Block(program.given, 1), Block(program.produced, 1), Bytes(program.workspace)
        return memory, program.pointers(self._shared, *memory)


def _address(array: Any) -> int:
    """Where an array begins. The interface of arrays, for those that must not be written to, takes longer."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):
        return array.__array_interface__["data"][0]


def _further_views(shared: Block, model: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Put a model into the block of what runs share; the arrays for what further belongs there."""
    views = [shared.single(leaf) for leaf in shared.layout.leaves]
    for view, leaf in zip(views, model, strict=False):
        view[...] = leaf
    return views[len(model) :]
