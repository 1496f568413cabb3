"""Numbers that people give: float64 arrays of a known shape, with one clear line where they are not."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, ArrayLike

from poinsot.core import InputError

Numbers = ArrayLike | Sequence[Any]
"""What becomes an array: a number, an array, nested lists; also traced."""


def concrete(*values: Any) -> bool:
    """Whether all values are known numbers: under `jit` and `grad` they are not, and nothing is checked."""
    return not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(values))


def as_array(value: Any, field: str, shape: tuple[int, ...] | None = None) -> Array:
    """A float64 array of finite numbers, of the given shape where one is asked for.

    Args:
        value: numbers, lists, arrays, also traced ones.
        field: what it was given as, for the error message.
        shape: the shape it must have; any when None.

    Raises:
        InputError: it is not numbers, not of that shape, or not finite.
    """
    array = _converted(value, field, shape)
    if shape is not None and array.shape != shape:
        raise InputError(f"{field} has shape {array.shape}; it must be {_described(shape)}")
    if concrete(array) and not np.all(np.isfinite(numbers := np.asarray(array))):
        place = [int(i) for i in np.argwhere(~np.isfinite(numbers))[0]]
        where = f"{field}{place}" if place else field
        raise InputError(f"{where} = {numbers[tuple(place)]}; it must be finite")
    return array


def stacked(arrays: Sequence[Array], shape: tuple[int, ...], axis: int = 0) -> Array:
    """Arrays of one shape stacked, also when there are none; known numbers without a program for it."""
    if not arrays:
        return jnp.asarray(np.zeros((0, *shape) if axis == 0 else (*shape, 0)))
    if concrete(arrays):
        return jnp.asarray(np.stack([np.asarray(array) for array in arrays], axis=axis))
    return jnp.stack(arrays, axis=axis)


def as_positive(value: Any, field: str) -> Array:
    """A positive number."""
    array = as_array(value, field, ())
    if concrete(array) and not float(array) > 0.0:
        raise InputError(f"{field} = {float(array):g}; it must be positive")
    return array


def as_index(value: Any, field: str) -> int:
    """The place of a body in the list of bodies."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise InputError(f"{field} = {value!r}; it must be the place of a body in the list, 0, 1, ...")
    return int(value)


def as_places(values: Sequence[int] | None, field: str) -> tuple[int, ...] | None:
    """Places of several bodies in the list of bodies, or None for all."""
    if values is None:
        return None
    if not isinstance(values, (list, tuple)) or not values:
        raise InputError(f"{field} = {values!r}; it must be a list of places, [0, 1, ...]")
    return tuple(as_index(value, field) for value in values)


def shown(values: Any) -> str:
    """A few numbers as people write them: (1, 0.5, 2)."""
    flat = np.asarray(values, dtype=float)
    if flat.ndim == 0:
        return f"{float(flat) + 0.0:.6g}"
    return f"({', '.join(shown(part) for part in flat)})"


def _converted(value: Any, field: str, shape: tuple[int, ...] | None) -> Array:
    """A float64 array of what may be numbers; known ones by NumPy, which compiles nothing."""
    refusal = InputError(f"{field} = {value!r}; it must be {_described(shape)}")
    try:
        if not concrete(value):
            return jnp.asarray(value, dtype=float)
        numbers = np.asarray(value)
    except (TypeError, ValueError):
        raise refusal from None
    if numbers.dtype.kind not in "biuf":
        raise refusal
    return jnp.asarray(numbers.astype(float))


def _described(shape: tuple[int, ...] | None) -> str:
    """What an array of this shape is, in words."""
    if shape is None:
        return "numbers"
    if shape == ():
        return "one number"
    if len(shape) == 1:
        return f"{shape[0]} numbers"
    return f"numbers of shape {shape}"
