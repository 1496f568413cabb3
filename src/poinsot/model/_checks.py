"""Numbers that people give: float64 arrays of a known shape, with one clear line where they are not."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike

from poinsot.core import InputError, as_array, concrete, on_device

Numbers = ArrayLike | Sequence[Any]
"""What becomes an array: a number, an array, nested lists; also traced."""


def stacked(arrays: Sequence[Array], shape: tuple[int, ...], axis: int = 0) -> Array:
    """Arrays of one shape stacked, also when there are none; known numbers without a program for it."""
    if not arrays:
        return on_device(np.zeros((0, *shape) if axis == 0 else (*shape, 0)))
    if concrete(arrays):
        return on_device(np.stack([np.asarray(array) for array in arrays], axis=axis))
    return jnp.stack(arrays, axis=axis)


def as_positive(value: Any, field: str) -> Array:
    """A positive number."""
    array = as_array(value, field, ())
    if concrete(array) and not float(array) > 0.0:
        raise InputError(f"{field} = {float(array):g}; it must be positive")
    return array


def as_nonnegative(value: Any, field: str) -> Array:
    """A number that is positive or zero."""
    array = as_array(value, field, ())
    if concrete(array) and not float(array) >= 0.0:
        raise InputError(f"{field} = {float(array):g}; it must not be negative")
    return array


def as_passive(value: Any, field: str, active: bool, shape: tuple[int, ...] | None = ()) -> Array:
    """A stiffness or damping that takes energy up or away; with `active` it may also be negative."""
    array = as_array(value, field, shape)
    if not active and concrete(array) and np.any(np.asarray(array) < 0.0):
        raise InputError(f"{field} = {shown(array)}; it must not be negative, unless with active=True")
    return array


def shown(values: Any) -> str:
    """A few numbers as people write them: (1, 0.5, 2)."""
    flat = np.asarray(values, dtype=float)
    if flat.ndim == 0:
        return f"{float(flat) + 0.0:.6g}"
    return f"({', '.join(shown(part) for part in flat)})"
