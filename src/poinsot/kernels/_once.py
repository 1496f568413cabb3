"""Functions that are called once or twice: compiled whole, and quickly."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from poinsot.core import on_device
from poinsot.kernels._apart import arrays, is_traced
from poinsot.kernels._kernel import SHORT, Kernel
from poinsot.kernels._programs import jitted
from poinsot.kernels._snapshot import settled

QUICK = 0
"""Effort of the native compiler: code that runs once need not run fast."""
MANY = 2**18
"""States beyond which faster code is worth the time to compile it; the numbers are the same."""
QUICKLY: dict[str, Any] = {"xla_backend_optimization_level": 0}
"""How XLA compiles in about half the time."""
AT_ONCE = 4096
"""States that are looked at in one go; whole vectors of them."""


def once(function: Callable) -> Callable:
    """A function of a model and arrays, for one call or two: native where it can be, else by XLA.

    Called as it stands, each of its operations would be compiled by itself, which takes many times longer.
    Within a trace it becomes a part of what is traced.
    """
    quickly, traced, lifted = jitted(function, QUICKLY), jitted(function), _Lifted(function)

    @wraps(function)
    def call(model: Any, *arguments: Any) -> Any:
        kernel, model = Kernel.lenient(), settled(model)
        given = jax.tree.map(lambda leaf: np.float64(leaf) if isinstance(leaf, float) else leaf, arguments)
        short = all(np.size(leaf) <= SHORT for leaf in jax.tree.leaves(given))
        if is_traced(model, given):
            return traced(model, *arguments)
        if short:
            program = kernel.program(lifted, model, (), given, effort=QUICK)
            if program is not None:
                return jax.tree.map(on_device, program.bound()((), arrays(given)))
        return quickly(model, *arguments)

    return call


@dataclass(frozen=True)
class _Lifted:
    """A function of a model and its arguments as one of model, grid and runs."""

    function: Callable

    def __call__(self, model: Any, grid: Any, runs: Any) -> Any:
        return self.function(model, *runs)


@dataclass(frozen=True)
class _OfNothing:
    """A function of arguments as one of a model besides."""

    function: Callable

    def __call__(self, model: Any, *arguments: Any) -> Any:
        return self.function(*arguments)


def alone(function: Callable) -> Callable:
    """A function of arrays, compiled whole where it is called by itself on known numbers.

    Within a trace it is the function as it stands.
    """
    compiled = once(_OfNothing(function))

    @wraps(function)
    def call(*arguments: Any) -> Any:
        if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(arguments)):
            return function(*arguments)
        return compiled((), *arguments)

    return call


def each_state(
    function: Callable,
    model: Any,
    times: np.ndarray,
    packed: np.ndarray,
    grid: Any = (),
    count: int | None = None,
) -> Any | None:
    """A function of many states, side by side in native code; None where it cannot be.

    Args:
        function: of a model, of the grid, and of the time and the packed state.
        model: what it looks at.
        times: of the states, `(k,)`.
        packed: the states, `(k, n)`.
        grid: further arrays, the same for all states.
        count: of states there will be in all, where they come bit by bit.
    """
    kernel = Kernel.lenient()
    if not kernel.native or packed[0].size > SHORT:
        return None
    effort = QUICK if (count or len(times)) <= MANY else 1
    program = kernel.program(function, model, grid, (times[0], packed[0]), width=None, effort=effort)
    if program is None:
        return None
    if program.width == 1:
        return by_blocks(partial(_in_turn, program.bound(), grid), (times, packed), AT_ONCE, 1)
    shared = program.block(grid)
    return by_blocks(lambda *runs: program.program(shared, runs), (times, packed), AT_ONCE, program.width)


def _in_turn(function: Callable, grid: Any, *given: np.ndarray) -> Any:
    """A function of one run, called with each."""
    results = [function(grid, run) for run in zip(*given, strict=True)]
    return jax.tree.map(lambda *leaves: np.stack(leaves), *results)


def by_blocks(function: Callable, given: tuple[np.ndarray, ...], block: int, multiple: int) -> Any:
    """A function of the rows of arrays, called with blocks of rows one after the other.

    Beyond the arguments and the results there is memory for one block.

    Args:
        function: of arrays with equally many rows, giving a tree of such.
        given: the arrays.
        block: rows of a call at most.
        multiple: rows of a call are filled up to a multiple of this, the last one repeated.
    """
    count, results = len(given[0]), None
    for begin in range(0, count, block):
        part = function(*(filled(array[begin : begin + block], multiple) for array in given))
        rows = slice(begin, min(begin + block, count))
        if results is None:
            results = jax.tree.map(lambda leaf: np.empty((count, *leaf.shape[1:]), leaf.dtype), part)
        for whole, leaf in zip(jax.tree.leaves(results), jax.tree.leaves(part), strict=True):
            # On the host: a slice of a device array compiles anew for every length.
            whole[rows] = np.asarray(leaf)[: rows.stop - rows.start]
    return results


def filled(array: np.ndarray, width: int) -> np.ndarray:
    """Runs in front, as many as fill whole vectors: the last one is repeated."""
    missing = -len(array) % width
    return np.concatenate([array, np.repeat(array[-1:], missing, axis=0)]) if missing else array
