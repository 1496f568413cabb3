"""Moves of data by indices that are known at run time only, and moves within memory."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from jax import lax

from poinsot.kernels._components import (
    SCATTERED,
    Components,
    combine,
    evaluate,
    is_number,
    objects,
    scattering,
)
from poinsot.kernels._indexing import (
    Window,
    filling,
    gathered,
    reads_clamped,
    scattered,
    sliced,
    writes_clamped,
)
from poinsot.kernels.native._emitter import Emitter, whole
from poinsot.kernels.native._ir import DOUBLE, I64, NotNative, Value, kind_of
from poinsot.kernels.native._memory import FEW, Memory
from poinsot.kernels.native._operations import MAX, MIN

CHAIN = 16
"""Values of an unknown index up to which one element after the other is selected; above, memory is read."""


def _wanted(index: Any) -> Any:
    """An index as a 64-bit integer; a number stays one."""
    return np.int64(index) if is_number(index) else index


class Places:
    """Where a window stands in an array, its start clamped so that it lies inside."""

    def __init__(self, emitter: Emitter, window: Window, strides: Sequence[int]):
        self.emitter, self.strides = emitter, strides
        self.window = window
        known, self.unknown = 0, []
        for axis, start in window.starts.items():
            if is_number(start):
                known += min(max(int(start), 0), window.limits[axis]) * strides[axis]
            else:
                self.unknown.append((axis, emitter.ops.apply(*_as_index(start))))
        self.known = known

    def flat(self, offset: Sequence[int]) -> int:
        """Place of an element in the flat array, without what is not known."""
        return self.known + sum(one * stride for one, stride in zip(offset, self.strides, strict=True))

    def start(self) -> Any:
        """What the unknown indices add to the place."""
        ops, total = self.emitter.ops, None
        for axis, index in self.unknown:
            inside = MIN(ops, {}, (MAX(ops, {}, (index, np.int64(0))), np.int64(self.window.limits[axis])))
            part = (
                inside if self.strides[axis] == 1 else ops.binary("mul", inside, np.int64(self.strides[axis]))
            )
            total = part if total is None else ops.binary("add", total, part)
        return np.int64(0) if total is None else total


def _as_index(start: Value) -> tuple[str, dict, list[Value]]:
    return "convert_element_type", {"new_dtype": np.int64}, [start]


def _plus(emitter: Emitter, first: Any, more: int) -> Any:
    if is_number(first):
        return np.int64(int(first) + more)
    return emitter.ops.binary("add", first, np.int64(more)) if more else first


def _inside(emitter: Emitter, window: Window) -> Any:
    """Whether a window whose start is not clamped lies in the array."""
    ops, holds = emitter.ops, np.True_
    for axis, start in window.starts.items():
        if is_number(start):
            holds = ops.both(holds, np.bool_(0 <= int(start) <= window.limits[axis]))
            continue
        index = ops.apply(*_as_index(start))
        holds = ops.both(holds, ops.compare("", "sge", index, np.int64(0)))
        holds = ops.both(holds, ops.compare("", "sle", index, np.int64(window.limits[axis])))
    return holds


def _read(emitter: Emitter, array: Any, kind: str, windows: Iterable[Window], shape, fill: Any) -> Any:
    """Elements of an array in windows; NaN or the like, `fill`, in windows outside, unless it is None."""
    result = np.empty(shape, dtype=object)
    strides = Memory("", kind, False, array.shape).strides
    spilled: Memory | None = array if isinstance(array, Memory) else None
    for window in windows:
        places = Places(emitter, window, strides)
        inside = np.True_ if fill is None else _inside(emitter, window)
        axis, index = places.unknown[0] if len(places.unknown) == 1 else (0, None)
        chain = index is not None and not isinstance(array, Memory) and window.limits[axis] < CHAIN
        first = None if chain else places.start()
        if first is not None and not is_number(first) and not isinstance(array, Memory) and spilled is None:
            spilled = emitter.memory.spilled(array, kind)
        for place, offset in zip(window.places, window.offsets, strict=True):
            at = places.flat(offset)
            if chain and index is not None and not isinstance(array, Memory):
                one = _chosen(emitter, array, at, index, window.limits[axis], strides[axis])
            elif is_number(first) and not isinstance(array, Memory):
                one = array.flat[at]
            else:
                assert spilled is not None
                one = emitter.memory.load(spilled, _plus(emitter, first, at))
            result[place] = emitter.ops.select(inside, one, fill)
    return result


def _chosen(emitter: Emitter, array: Components, at: int, index: Value, limit: int, stride: int) -> Any:
    """An element by an unknown index of few values: an index outside takes the first or the last."""
    flat = array.reshape(-1)
    chosen = flat[at]
    for value in range(1, limit + 1):
        reached = emitter.ops.compare("", "sge", index, np.int64(value))
        chosen = emitter.ops.select(reached, flat[at + value * stride], chosen)
    return chosen


@whole("gather")
def _gather(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    array, indices = operands[0], emitter.apart(operands[1])
    aval, params = equation.outvars[0].aval, equation.params
    kind, fill = kind_of(aval.dtype), None if reads_clamped(params) else filling(params, aval.dtype)
    windows = list(gathered(array.shape, indices, params, aval.shape))
    if isinstance(array, Memory) and _known_inside(windows) and emitter.program.is_long(aval.size):
        return [_looked_up(emitter, array, windows, aval.shape)]
    return [_read(emitter, array, kind, windows, aval.shape, fill)]


def _known_inside(windows: Sequence[Window]) -> bool:
    """Whether it is known of all windows that they lie in the array."""
    starts = [(start, one.limits[axis]) for one in windows for axis, start in one.starts.items()]
    return all(is_number(start) and 0 <= int(start) <= limit for start, limit in starts)


def _looked_up(emitter: Emitter, array: Memory, windows: Sequence[Window], shape) -> Memory:
    """Many elements at known places: in a loop that finds the places in a table."""
    places = np.zeros(shape, dtype=np.int64)
    for window in windows:
        known = Places(emitter, window, array.strides)
        for place, offset in zip(window.places, window.offsets, strict=True):
            places[place] = known.flat(offset)
    table = emitter.memory.spilled(objects(places.shape, list(places.flat)), I64)
    target = emitter.memory.allocate(array.kind, array.wide, shape)

    def body(place: Value) -> None:
        one = emitter.memory.load(array, emitter.memory.load(table, place))
        emitter.memory.store(target, place, one)

    with emitter.memory.unmasked():
        emitter.memory.each(target.size, body)
    return target


@whole("dynamic_slice")
def _dynamic_slice(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    array, sizes = operands[0], equation.params["slice_sizes"]
    aval = equation.outvars[0].aval
    starts = [emitter.apart(part).item() for part in operands[1:]]
    if aval.size > FEW:
        raise NotNative(f"the trace takes {aval.size} numbers of an array at once")
    window = sliced(array.shape, list(map(_wanted, starts)), sizes)
    return [_read(emitter, array, kind_of(aval.dtype), [window], aval.shape, None)]


def _write(emitter: Emitter, equation: Any, array: Any, windows, updates: Any, drop: bool) -> Any:
    """An array with updates in windows; those outside are dropped, or their start is clamped."""
    kind, updates = kind_of(equation.outvars[0].aval.dtype), emitter.apart(updates)
    strides = Memory("", kind, False, array.shape).strides
    combination, windows = scattering(equation), list(windows)
    # An element in memory is found by its index; one of components is looked for among all of them.
    unknown = any(not is_number(start) for window in windows for start in window.starts.values())
    if isinstance(array, Memory) and (unknown or emitter.program.is_long(array.size)):
        target = _own(emitter, array, _wide(updates) or _wide_starts(windows))
    else:
        target = np.array(emitter.apart(array), dtype=object, copy=True).reshape(-1)
    for window in windows:
        places, inside = Places(emitter, window, strides), _inside(emitter, window) if drop else np.True_
        first = places.start()
        for place, offset in zip(window.places, window.offsets, strict=True):
            at = _plus(emitter, first, places.flat(offset))
            _update(emitter, target, at, updates[place], inside, combination)
    return target if isinstance(target, Memory) else target.reshape(array.shape)


def _update(emitter: Emitter, target: Any, at: Any, new: Any, inside: Any, combination: Any) -> None:
    """Put an element at a place, or combine it with what is there."""
    ops = emitter.ops

    def updated(old: Any) -> Any:
        value = new if combination is None else combination(emitter, old, new)
        return ops.select(inside, value, old)

    if isinstance(target, Memory):
        plain = combination is None and is_number(inside) and inside
        emitter.memory.store(target, at, new if plain else updated(emitter.memory.load(target, at)))
    elif is_number(at):
        target[int(at)] = updated(target[int(at)])
    else:
        for k in range(target.size):
            target[k] = ops.select(ops.compare("", "eq", at, np.int64(k)), updated(target[k]), target[k])


def _own(emitter: Emitter, array: Memory, wide: bool) -> Memory:
    """An array that may be overwritten: itself, or a copy where others still read it."""
    wide = (wide or array.wide) and emitter.lanes
    if array.owned and array.wide == wide:
        return array
    own = emitter.memory.allocate(array.kind, wide, array.shape)
    with emitter.memory.unmasked():
        emitter.memory.copied(array, own)
    return own


def _wide(part: Components) -> bool:
    return any(isinstance(one, Value) and one.wide for one in part.flat)


def _wide_starts(windows: Iterable[Window]) -> bool:
    return any(isinstance(one, Value) and one.wide for window in windows for one in window.starts.values())


@whole("dynamic_update_slice")
def _dynamic_update_slice(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    array, updates = operands[:2]
    starts = [_wanted(emitter.apart(part).item()) for part in operands[2:]]
    window = sliced(array.shape, starts, updates.shape)
    if _is_long_part(emitter, array, window, updates):
        return [_put_part(emitter, array, window, updates, range(len(array.shape)), drop=False)]
    return [_write(emitter, equation, array, [window], updates, drop=False)]


def _is_long_part(emitter: Emitter, array: Any, window: Window, updates: Any) -> bool:
    """Whether a part of an array in memory is replaced by another one, and it is long."""
    if not isinstance(array, Memory) or not isinstance(updates, Memory) or updates.place == array.place:
        return False
    return not _wide_starts([window]) and emitter.program.is_long(updates.size)


def _put_part(
    emitter: Emitter, array: Memory, window: Window, updates: Memory, axes: Iterable[int], *, drop: bool
) -> Memory:
    """An array with a long part of it replaced, in a loop; `axes` are those of the array along the part."""
    memory, target = emitter.memory, _own(emitter, array, updates.wide)
    places = Places(emitter, window, target.strides)
    inside: Any = _inside(emitter, window) if drop else np.True_
    part = memory.from_place(target, _plus(emitter, places.start(), places.known), updates.shape)
    mask = memory.mask
    if not is_number(inside) or not inside:
        # What lies outside is not stored, as in lanes that do not take part.
        memory.mask = inside if mask is None else emitter.ops.both(mask, inside)
    memory.moved(updates, part.seen(updates.shape, [target.strides[axis] for axis in axes]))
    memory.mask = mask
    return target


@whole("scatter", *SCATTERED)
def _scatter(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    array, indices, updates = operands
    windows = list(scattered(array.shape, emitter.apart(indices), equation.params, updates.shape))
    drop = not writes_clamped(equation.params)
    alone = len(windows) == 1 and scattering(equation) is None
    if alone and _is_long_part(emitter, array, windows[0], updates):
        numbers = equation.params["dimension_numbers"]
        dropped = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
        axes = [axis for axis in range(len(array.shape)) if axis not in dropped]
        return [_put_part(emitter, array, windows[0], updates, axes, drop=drop)]
    return [_write(emitter, equation, array, windows, updates, drop)]


@whole("reshape", "squeeze", "expand_dims")
def _reshape(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    (array,), shape = operands[:1], equation.outvars[0].aval.shape
    return [array.reshaped(shape) if isinstance(array, Memory) else array.reshape(shape)]


@whole("argmax", "argmin")
def _extreme_place(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """Place of the largest or smallest element; the first NaN counts as such."""
    (axis,), aval, ops = equation.params["axes"], equation.outvars[0].aval, emitter.ops
    rows = np.moveaxis(emitter.apart(operands[0]), axis, 0)
    largest = equation.primitive.name == "argmax"
    places = np.empty(rows.shape[1:], dtype=object)
    kind = kind_of(aval.dtype)
    integer = np.int64 if kind == I64 else np.int32
    for column in np.ndindex(*places.shape):
        best, at = rows[(0, *column)], integer(0)
        for k in range(1, rows.shape[0]):
            one = rows[(k, *column)]
            if is_number(one) and is_number(best):
                above = one <= best if largest else one >= best
                better = np.bool_(not above and not np.isnan(best))
            else:
                # Not (one <= best), unless best is NaN: so NaN is preferred, and the first of them kept.
                better = ops.negated(ops.compare(*(("ole", "sle") if largest else ("oge", "sge")), one, best))
                if ops.form((one, best))[0] == DOUBLE and not (is_number(best) and not np.isnan(best)):
                    better = ops.both(better, ops.compare("ord", "", best, best))
            best, at = ops.select(better, one, best), ops.select(better, integer(k), at)
        places[column] = at
    return [places]


CUMULATED = {"cumsum": lax.add_p, "cumprod": lax.mul_p, "cummax": lax.max_p, "cummin": lax.min_p}


@whole(*CUMULATED)
def _cumulated(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """Sums, products, largest or smallest elements so far along an axis."""
    primitive = CUMULATED[equation.primitive.name]
    rows = np.moveaxis(np.array(emitter.apart(operands[0]), dtype=object), equation.params["axis"], 0)
    places = list(range(len(rows)))
    if equation.params["reverse"]:
        places.reverse()
    for before, now in zip(places, places[1:], strict=False):
        for column in np.ndindex(*rows.shape[1:]):
            rows[(now, *column)] = combine(primitive, emitter, rows[(before, *column)], rows[(now, *column)])
    return [np.moveaxis(rows, 0, equation.params["axis"])]


@whole("hold", "optimization_barrier", "copy", "copy_p", "device_put", "stop_gradient")
def _same(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    return operands


@whole("custom_linear_solve")
def _linear_solve(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """The solution by the program that the trace has for it."""
    lengths, programs = equation.params["const_lengths"], equation.params["jaxprs"]
    ends = np.cumsum([0, *lengths])
    return evaluate(programs.solve, emitter, *operands[ends[2] : ends[3]], *operands[ends[-1] :])
