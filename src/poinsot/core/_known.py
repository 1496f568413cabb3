"""Known numbers, outside of traces and within: nothing is compiled for them."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend import core as jex
from jaxtyping import Array

# Earlier versions of JAX have it elsewhere.
_state = (jex if hasattr(jex, "get_opaque_trace_state") else jax.core).get_opaque_trace_state
_OUTSIDE = _state(convention="flax")


def concrete(*values: Any) -> bool:
    """Whether all values are known numbers: under `jit` and `grad` they are not, and nothing is checked."""
    return not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(values))


def within_trace() -> bool:
    """Whether a function is traced around the caller: what is computed there becomes a part of the trace."""
    return _state(convention="flax") != _OUTSIDE


def on_device(numbers: Any, dtype: Any = None) -> Array:
    """Numbers as an array of JAX of its own.

    `jnp.asarray` compiles a program for each shape that it has not met.
    """
    if within_trace() or not concrete(numbers):
        return jnp.asarray(numbers, dtype=dtype)
    return jax.device_put(np.array(numbers, dtype=dtype))


def plain(numbers: Any) -> Any:
    """Known numbers as an array of NumPy, with which nothing is compiled; others as they are."""
    return np.asarray(numbers) if concrete(numbers) else numbers


def joined(arrays: Iterable[Any], flat: bool = False) -> Array:
    """Arrays one after the other, each as one row of numbers if they are to be flat."""
    parts = list(arrays)
    known = not within_trace() and concrete(parts)
    parts = [np.asarray(part) for part in parts] if known else parts
    parts = [part.reshape(-1) for part in parts] if flat else parts
    return jax.device_put(np.concatenate(parts)) if known else jnp.concatenate(parts)


@contextmanager
def known_numbers() -> Iterator[None]:
    """Compute with known numbers in the block, also while a function is traced around it."""
    if not within_trace():
        # There JAX would compute the known parts of what is traced in the block, and compile each operation.
        yield
        return
    with jax.ensure_compile_time_eval():
        yield
