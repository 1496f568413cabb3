"""Keeping XLA from computing one thing many times."""

from collections.abc import Sequence
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

Tree = TypeVar("Tree")


def hold(values: Tree) -> Tree:
    """The same values, computed once before they are used.

    On a CPU, XLA puts the computation of a value into each of its uses, and in a chain of stages these
    multiply. On a GPU it does better without being told: a barrier there is a round trip to memory.
    """
    return lax.optimization_barrier(values) if jax.default_backend() == "cpu" else values


def held(components: Sequence[Array]) -> tuple[Array, ...]:
    """`hold` of equal components, such as those of a vector: on a CPU as one array, computed in one go."""
    if jax.default_backend() != "cpu":
        return tuple(components)
    return tuple(lax.optimization_barrier(jnp.stack(components)))
