"""Functions that are called once or twice: compiled whole, and quickly."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from poinsot.kernels._kernel import SHORT, Kernel, arrays

QUICK = 1
"""Effort of the native compiler: code that runs once need not run fast."""
QUICKLY: dict[str, Any] = {"compiler_options": {"xla_backend_optimization_level": 0}}
"""How `eqx.filter_jit` compiles in about half the time."""
AT_ONCE = 4096
"""States that are looked at in one go; whole vectors of them."""


def once(function: Callable) -> Callable:
    """A function of a model and arrays, for one call or two: native where it can be, else by XLA.

    Called as it stands, each of its operations would be compiled by itself, which takes many times longer. It
    cannot be called within another compiled function.
    """
    quickly = eqx.filter_jit(function, **QUICKLY)

    def lifted(model: Any, grid: Any, runs: Any) -> Any:
        return function(model, *runs)

    @wraps(function)
    def call(model: Any, *arguments: Any) -> Any:
        kernel = Kernel.lenient()
        given = jax.tree.map(lambda leaf: np.float64(leaf) if isinstance(leaf, float) else leaf, arguments)
        leaves = jax.tree.leaves((model, given))
        short = all(np.size(leaf) <= SHORT for leaf in jax.tree.leaves(given))
        if short and not any(isinstance(leaf, Tracer) for leaf in leaves):
            program = kernel.program(lifted, model, (), given, effort=QUICK)
            if program is not None:
                result = program.bound(jax.tree.leaves(arrays(model)))((), arrays(given))
                return jax.tree.map(jnp.asarray, result)
        return quickly(model, *arguments)

    return call


def each_state(function: Callable, model: Any, times: np.ndarray, packed: np.ndarray) -> Any | None:
    """A function of many states, side by side in native code; None where it cannot be.

    Args:
        function: of a model, of nothing, and of the time and the packed state.
        model: what it looks at.
        times: of the states, `(k,)`.
        packed: the states, `(k, n)`.
    """
    kernel = Kernel.lenient()
    if not kernel.native or packed[0].size > SHORT:
        return None
    from poinsot.kernels.native import target

    width = target().vector_bytes // 8
    program = kernel.program(function, model, (), (times[0], packed[0]), width, effort=QUICK)
    if program is None:
        return None
    shared, results = program.block(arrays(model), ()), []
    for begin in range(0, len(times), AT_ONCE):
        runs = [part[begin : begin + AT_ONCE] for part in (times, packed)]
        results.append(program(shared, tuple(filled(part, width) for part in runs)))
    return jax.tree.map(lambda *parts: np.concatenate(parts)[: len(times)], *results)


def filled(array: np.ndarray, width: int) -> np.ndarray:
    """Runs in front, as many as fill whole vectors: the last one is repeated."""
    return np.concatenate([array, np.repeat(array[-1:], -len(array) % width, axis=0)])
