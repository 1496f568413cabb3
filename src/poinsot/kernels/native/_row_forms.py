"""Operations on whole arrays as operations on each of their rows.

What belongs to one body, or to one link, is a *row*: its axis may be any axis of an array. A *packed* array
of one axis has the first components of all rows one after the other, then all second ones, as packed states
of bodies have.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from poinsot.kernels._components import ELEMENTWISE, REDUCTIONS

Operation = tuple[list[bool], Callable]
"""Which operands have rows, and the operation on one row of each of these and on the others."""


@dataclass(frozen=True)
class Layout:
    """Where the rows of an array are.

    Args:
        shape: of the array.
        length: number of rows.
    """

    shape: tuple[int, ...]
    length: int

    @property
    def packed(self) -> bool:
        """Whether components of rows stand one after the other along the only axis."""
        return len(self.shape) == 1 and self.shape[0] > self.length and self.shape[0] % self.length == 0

    @property
    def apart(self) -> tuple[int, ...]:
        """The shape with an axis of rows."""
        return (self.shape[0] // self.length, self.length) if self.packed else self.shape

    @property
    def found(self) -> bool:
        """Whether there are rows, along one axis that is known."""
        return self.packed or self.shape[:1] == (self.length,) or self.shape.count(self.length) == 1

    @property
    def axis(self) -> int:
        """The axis of the rows; the first one where there are several of the same length."""
        return 1 if self.packed else self.shape.index(self.length)

    @property
    def sides(self) -> tuple[int, int]:
        """Number of elements along all axes before that of the rows, and along all after it."""
        return math.prod(self.apart[: self.axis]), math.prod(self.apart[self.axis + 1 :])

    @property
    def row(self) -> tuple[int, ...]:
        """Shape of a row."""
        return self.apart[: self.axis] + self.apart[self.axis + 1 :]

    def rows(self, array: Any) -> Any:
        """The array with its rows in front."""
        return jnp.moveaxis(array.reshape(self.apart), self.axis, 0)

    def whole(self, rows: Any) -> Any:
        """The array of rows that stand in front."""
        return jnp.moveaxis(rows, 0, self.axis).reshape(self.shape)

    def inner(self, axes: Sequence[int]) -> tuple[int, ...]:
        """Axes of a row, by axes of the array."""
        return tuple(axis - (axis > self.axis) for axis in axes)


def of_rows(equation: Any, length: int) -> Operation | None:
    """An operation with one result, as one on rows; None where rows depend on others."""
    form = FORMS.get(equation.primitive.name)
    result = Layout(equation.outvars[0].aval.shape, length)
    given = [Layout(atom.aval.shape, length) for atom in equation.invars]
    return None if form is None or not result.found else form(equation, given, result)


def _elementwise(equation: Any, given: Sequence[Layout], result: Layout) -> Operation | None:
    """A single number is the same for all rows, and so is an operand with one row in place of all."""
    axis = 0 if result.packed else result.axis
    whole = [len(one.shape) == len(result.shape) for one in given]
    by_row = [same and one.found and one.axis == result.axis for one, same in zip(given, whole, strict=True)]
    spread = [same and one.shape[axis] == 1 for one, same in zip(given, whole, strict=True)]
    if not any(by_row) or not all(map(max, by_row, spread, [one.shape == () for one in given])):
        return None

    def row(*parts):
        parts = [one.squeeze(axis) if alike else one for one, alike in zip(parts, spread, strict=True)]
        return equation.primitive.bind(*parts, **equation.params)

    return by_row, row


def _reduced(equation: Any, given: Sequence[Layout], result: Layout) -> Operation | None:
    (array,), axes = given, equation.params["axes"]
    if not array.found or array.packed or array.axis in axes:
        return None
    if result.axis != array.axis - sum(axis < array.axis for axis in axes):
        return None
    params = {**equation.params, "axes": array.inner(axes)}
    return [True], lambda row: equation.primitive.bind(row, **params)


def _broadcast(equation: Any, given: Sequence[Layout], result: Layout) -> Operation | None:
    axes = equation.params["broadcast_dimensions"]
    if len(given) > 1 or (result.packed and axes):
        return None
    if result.axis not in axes:
        return [False], lambda one: jax.lax.broadcast_in_dim(one, result.row, result.inner(axes))
    (array,) = given
    if not array.found or array.packed or axes.index(result.axis) != array.axis:
        return None
    rest = result.inner([axis for axis in axes if axis != result.axis])
    return [True], lambda row: jax.lax.broadcast_in_dim(row, result.row, rest)


def _reshaped(equation: Any, given: Sequence[Layout], result: Layout) -> Operation | None:
    if len(given) > 1 or equation.params.get("dimensions") is not None:
        return None
    if not given[0].found or given[0].sides != result.sides:
        return None
    return [True], lambda row: row.reshape(result.row)


def _transposed(equation: Any, given: Sequence[Layout], result: Layout) -> Operation | None:
    (array,), order = given, equation.params["permutation"]
    if not array.found or order[result.axis] != array.axis:
        return None
    rest = array.inner([axis for axis in order if axis != array.axis])
    return [True], lambda row: jax.lax.transpose(row, rest)


def _joined(equation: Any, given: Sequence[Layout], result: Layout) -> Operation | None:
    axis = equation.params["dimension"]
    if not all(one.found for one in given):
        return None
    if result.packed:
        return [True] * len(given), lambda *rows: jnp.concatenate([row.reshape(-1) for row in rows])
    if axis == result.axis or any(one.packed or one.axis != result.axis for one in given):
        return None
    (inner,) = result.inner([axis])
    return [True] * len(given), lambda *rows: jax.lax.concatenate(rows, inner)


def _sliced(equation: Any, given: Sequence[Layout], result: Layout) -> Operation | None:
    (array,), params = given, equation.params
    starts, limits = params["start_indices"], params["limit_indices"]
    strides = params["strides"] or (1,) * len(starts)
    if not array.found:
        return None
    if array.packed:
        first, last = starts[0] / array.length, limits[0] / array.length
        if strides != (1,) or not (first.is_integer() and last.is_integer()):
            return None
        return [True], lambda row: row[int(first) : int(last)].reshape(result.row)
    if array.axis != result.axis or result.shape[array.axis] != array.length:
        return None
    rest = [k for k in range(len(starts)) if k != array.axis]
    inner = [[part[k] for k in rest] for part in (starts, limits, strides)]
    return [True], lambda row: jax.lax.slice(row, *inner)


FORMS: dict[str, Callable[[Any, Sequence[Layout], Layout], Operation | None]] = {
    **dict.fromkeys(ELEMENTWISE, _elementwise),
    **dict.fromkeys(REDUCTIONS, _reduced),
    **dict.fromkeys(("reshape", "squeeze", "expand_dims"), _reshaped),
    "broadcast_in_dim": _broadcast,
    "transpose": _transposed,
    "concatenate": _joined,
    "slice": _sliced,
}
"""Operations whose results may have rows, by the name of the primitive."""
