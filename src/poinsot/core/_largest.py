"""The largest of many numbers."""

from functools import reduce

import jax.numpy as jnp
from jaxtyping import Array

ABREAST = 8
"""Stretches of a long array that are looked at side by side."""
LONG = 64
"""Numbers in an array from which on that is worth it."""


def largest(numbers: Array, lanes: int = 0) -> Array:
    """Largest magnitude over all axes but so many last ones; NaN where there is one.

    On a CPU, XLA takes the maximum of an array one number after the other, each waiting for the last; but
    that of several arrays number by number in vectors: a long array goes in stretches.
    """
    sizes = jnp.abs(numbers)
    if lanes or numbers.size <= LONG:
        return jnp.max(sizes, axis=tuple(range(numbers.ndim - lanes)), initial=0.0)
    flat = sizes.reshape(-1)
    length = flat.size // ABREAST
    stretches = [flat[i * length : (i + 1) * length] for i in range(ABREAST)]
    return jnp.maximum(
        jnp.max(reduce(jnp.maximum, stretches)), jnp.max(flat[ABREAST * length :], initial=0.0)
    )
