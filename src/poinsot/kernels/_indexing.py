"""Where gathers and scatters read and write: the places as starts, known or not, plus known offsets.

An index outside means what XLA does: a start is moved inside, or a window that is not wholly inside is left
out. So it is also where JAX promises nothing (`PROMISE_IN_BOUNDS`): XLA reads the nearest window, and writes
nothing.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np


class Window(NamedTuple):
    """Elements of an array that are moved together: a start that indices give, and offsets from it."""

    starts: dict[int, Any]
    """Index given for each axis that has one: a number or a component."""
    limits: dict[int, int]
    """The largest start along each of these axes at which the window is still inside."""
    offsets: list[tuple[int, ...]]
    """Offset of each element along all axes of the array."""
    places: list[tuple[int, ...]]
    """Where each element stands in the result of a gather, or in the updates of a scatter."""

    def moves(self, *, clamped: bool) -> Iterator[tuple[tuple[int, ...], tuple[int, ...] | None]]:
        """Each of `places` with its place in the array, of starts that are plain numbers; None for outside.

        Args:
            clamped: whether a window outside is moved inside instead.
        """
        starts = {axis: int(start) for axis, start in self.starts.items()}
        inside = {axis: min(max(start, 0), self.limits[axis]) for axis, start in starts.items()}
        for place, offset in zip(self.places, self.offsets, strict=True):
            at = tuple(one + inside.get(axis, 0) for axis, one in enumerate(offset))
            yield place, at if clamped or starts == inside else None


def reads_clamped(params: dict) -> bool:
    """Whether a `gather` takes the nearest window in place of one outside, and not its filling."""
    return "FILL" not in str(params["mode"])


def writes_clamped(params: dict) -> bool:
    """Whether a scatter writes to the nearest window in place of one outside, and not nowhere."""
    return "CLIP" in str(params["mode"])


def filling(params: dict, dtype: Any) -> Any:
    """What a `gather` finds outside the array."""
    dtype, given = np.dtype(dtype), params.get("fill_value")
    if given is None:
        least = {"f": lambda: np.nan, "i": lambda: np.iinfo(dtype).min, "u": lambda: np.iinfo(dtype).max}
        given = least.get(dtype.kind, lambda: True)()
    return dtype.type(given)


def gathered(operand: tuple[int, ...], indices: np.ndarray, params: dict, result: tuple[int, ...]):
    """Windows of a `gather`, whose indices are taken apart."""
    numbers, sizes = params["dimension_numbers"], params["slice_sizes"]
    dropped = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    return _windows(
        operand,
        indices,
        sizes,
        inner=tuple(numbers.offset_dims),
        axes=[axis for axis in range(len(operand)) if axis not in dropped],
        start_axes=numbers.start_index_map,
        batching=dict(zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True)),
        result=result,
    )


def scattered(operand: tuple[int, ...], indices: np.ndarray, params: dict, updates: tuple[int, ...]):
    """Windows of a `scatter` or `scatter-add`, whose indices are taken apart."""
    numbers = params["dimension_numbers"]
    dropped = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
    axes = [axis for axis in range(len(operand)) if axis not in dropped]
    sizes = [1] * len(operand)
    for axis, place in zip(axes, numbers.update_window_dims, strict=True):
        sizes[axis] = updates[place]
    return _windows(
        operand,
        indices,
        sizes,
        inner=tuple(numbers.update_window_dims),
        axes=axes,
        start_axes=numbers.scatter_dims_to_operand_dims,
        batching=dict(zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True)),
        result=updates,
    )


def sliced(operand: tuple[int, ...], starts: Sequence[Any], sizes: Sequence[int]) -> Window:
    """The window of a `dynamic_slice` or `dynamic_update_slice`."""
    offsets = list(np.ndindex(*sizes))
    limits = {axis: length - size for axis, (length, size) in enumerate(zip(operand, sizes, strict=True))}
    return Window(dict(enumerate(starts)), limits, offsets, offsets)


def _windows(operand, indices, sizes, *, inner, axes, start_axes, batching, result) -> Iterator[Window]:
    outer = [axis for axis in range(len(result)) if axis not in inner]
    limits = {axis: operand[axis] - sizes[axis] for axis in start_axes}
    for batch in np.ndindex(*(result[axis] for axis in outer)):
        starts = {axis: indices[(*batch, k)] for k, axis in enumerate(start_axes)}
        fixed = {axis: batch[place] for axis, place in batching.items()}
        offsets, places = [], []
        for inside in np.ndindex(*(sizes[axis] for axis in axes)):
            offset, place = [0] * len(operand), [0] * len(result)
            for axis, value in fixed.items():
                offset[axis] = value
            for axis, value in zip(axes, inside, strict=True):
                offset[axis] += value
            for axis, value in zip(inner, inside, strict=True):
                place[axis] = value
            for axis, value in zip(outer, batch, strict=True):
                place[axis] = value
            offsets.append(tuple(offset))
            places.append(tuple(place))
        yield Window(starts, limits, offsets, places)


def padded(array: np.ndarray, value: Any, config: Sequence[tuple[int, int, int]]) -> np.ndarray:
    """An array with a value around and between its elements, as `lax.pad` has it."""
    for axis, (low, high, interior) in enumerate(config):
        length = array.shape[axis]
        spaced = length + max(length - 1, 0) * interior
        shape = [*array.shape]
        shape[axis] = low + spaced + high
        wider = np.empty(shape, dtype=array.dtype)
        wider[...] = value
        for k in range(length):
            place = low + k * (1 + interior)
            if 0 <= place < shape[axis]:
                at = (slice(None),) * axis
                wider[(*at, place)] = array[(*at, k)]
        array = wider
    return array
