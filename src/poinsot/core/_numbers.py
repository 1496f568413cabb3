"""Numbers that people give: float64 of a known shape, with one clear line where they are not."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from poinsot.core._errors import InputError
from poinsot.core._known import concrete, on_device
from poinsot.core._show import quoted


def as_floats(value: Any, field: str, wanted: str = "numbers") -> Array:
    """Convert numbers to a float64 array; known ones by NumPy, which compiles nothing.

    Args:
        value: numbers, lists, arrays, also traced ones.
        field: what it was given as, for the error message.
        wanted: what it must be, in words.

    Raises:
        InputError: it cannot be read as numbers.
    """
    if isinstance(value, jax.Array) and value.dtype == jnp.float64:
        return value
    try:
        if not concrete(value):
            return jnp.asarray(value, dtype=float)
        numbers = np.asarray(value)
        if numbers.dtype == object and all(isinstance(one, (int, float)) for one in numbers.flat):
            numbers = numbers.astype(float)
    except OverflowError:
        message = f"{field} = {quoted(value)}; it is beyond the range of double precision"
        raise InputError(message) from None
    except (TypeError, ValueError):
        raise InputError(f"{field} = {quoted(value)}; it must be {wanted}") from None
    if numbers.dtype.kind not in "iuf":
        raise InputError(f"{field} = {quoted(value)}; it must be {wanted}")
    return on_device(numbers.astype(float))


def as_array(value: Any, field: str, shape: tuple[int, ...] | None = None) -> Array:
    """Convert finite numbers to a float64 array, and check its shape where one is asked for.

    Args:
        value: numbers, lists, arrays, also traced ones.
        field: what it was given as, for the error message.
        shape: the shape it must have; any when None.

    Raises:
        InputError: it cannot be read as numbers, has another shape, or is not finite.
    """
    array = as_floats(value, field, _described(shape))
    if shape is not None and array.shape != shape:
        raise InputError(f"{field} has shape {array.shape}; it must be {_described(shape)}")
    if concrete(array):
        check_all_finite(np.asarray(array), field)
    return array


def as_batch(value: Any, field: str, shape: tuple[int, ...], what: str) -> Array:
    """A float64 array whose last axes have the given shape. Looks at shapes alone, also of traced numbers.

    Args:
        value: numbers, lists, arrays, also traced ones.
        field: what it was given as, for the error message.
        shape: of the last axes.
        what: what such an array is, in words.

    Raises:
        InputError: it cannot be read as numbers, or has another shape.
    """
    wanted = f"{what}, of shape {_shape_text(shape)}"
    array = as_floats(value, field, wanted)
    if array.shape[-len(shape) :] != shape:
        raise InputError(f"{field} has shape {array.shape}; it must be {wanted}")
    return array


def as_number(value: Any, field: str) -> float:
    """One finite number as a Python float: an integer, a float, a scalar of NumPy or JAX.

    Args:
        value: what was given; a float32 keeps its own value.
        field: what it was given as, for the error message.

    Raises:
        InputError: it is not one finite number.
    """
    if isinstance(value, (bool, str, bytes, list, tuple)) or not _is_real(value) or np.ndim(value) != 0:
        raise InputError(f"{field} = {quoted(value)}; it must be a finite number")
    try:
        number = float(value)
    except OverflowError:
        raise InputError(f"{field} = {quoted(value)}; it is beyond the range of double precision") from None
    if not math.isfinite(number):
        raise InputError(f"{field} = {quoted(value)}; it must be a finite number")
    return number


def as_count(value: Any, field: str, least: int = 1, most: int = 2**63 - 1) -> int:
    """A whole number within bounds, not a truth value.

    Args:
        value: what was given.
        field: what it was given as, for the error message.
        least: smallest that is accepted.
        most: largest that is accepted.

    Raises:
        InputError: it is not a whole number, or out of bounds.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{field} = {quoted(value)}; it must be a whole number of at least {least}")
    if value > most:
        raise InputError(f"{field} = {quoted(value)}; it must be at most {most}")
    return int(value)


def check_all_finite(numbers: np.ndarray, field: str) -> None:
    """Refuse infinities and NaN, naming the first place."""
    if not np.all(np.isfinite(numbers)):
        place = [int(i) for i in np.argwhere(~np.isfinite(numbers))[0]]
        where = f"{field}{place}" if place else field
        raise InputError(f"{where} = {numbers[tuple(place)]}; it must be finite")


def unscaled(vec: Any) -> Any:
    """A known vector times the power of two that brings its largest component next to one.

    The product is exact, and the square of its length neither overflows nor underflows. Traced vectors and
    those without a largest component stay as they are.
    """
    if not concrete(vec):
        return vec
    numbers = np.asarray(vec)
    largest = np.max(np.abs(numbers), axis=-1, keepdims=True)
    exponent = np.where((largest > 0.0) & np.isfinite(largest), np.frexp(largest)[1], 0)
    return on_device(np.ldexp(numbers, -exponent))


def _is_real(value: Any) -> bool:
    if isinstance(value, (int, float)):
        return True
    dtype = getattr(value, "dtype", None)
    return dtype is not None and dtype.kind in "iuf" and not isinstance(value, Tracer)


def _described(shape: tuple[int, ...] | None) -> str:
    """What an array of this shape is, in words."""
    if shape is None:
        return "numbers"
    if shape == ():
        return "one number"
    if len(shape) == 1:
        return f"{shape[0]} numbers"
    return f"numbers of shape {shape}"


def _shape_text(shape: tuple[int, ...]) -> str:
    return f"({', '.join(['...', *map(str, shape)])})"
