"""Arrays in memory seen in another order, put together, and reduced to a number."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from poinsot.kernels._components import REDUCTIONS, apply_equation, is_number, total
from poinsot.kernels.native._emitter import Emitter, whole
from poinsot.kernels.native._ir import I1, I64, Value, kind_of
from poinsot.kernels.native._memory import Memory

TERMS = 16
"""Elements of a row that is reduced without a loop."""


@whole("transpose")
def _transpose(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """Other axes first: the same numbers, read in another order."""
    (array,), order = operands, equation.params["permutation"]
    return [array.seen(equation.outvars[0].aval.shape, [array.strides[axis] for axis in order])]


@whole("broadcast_in_dim")
def _broadcast(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """Repeated along new axes, which have no step."""
    array, shape = operands[0], equation.outvars[0].aval.shape
    return [array.spread(shape, equation.params["broadcast_dimensions"])]


@whole("slice")
def _slice(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """Part of an array in memory."""
    (array,), params, shape = operands, equation.params, equation.outvars[0].aval.shape
    if not isinstance(array, Memory):
        return apply_equation(equation, emitter, list(operands))
    skips = params["strides"] or (1,) * len(shape)
    steps = [step * skip for step, skip in zip(array.strides, skips, strict=True)]
    first = sum(k * step for k, step in zip(params["start_indices"], array.strides, strict=True))
    return [emitter.memory.part(array, first, array.shape).seen(shape, steps)]


@whole("concatenate")
def _concatenate(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """Arrays one after the other: a long result is put together in memory."""
    aval, axis = equation.outvars[0].aval, equation.params["dimension"]
    if not emitter.program.is_long(aval.size):
        return apply_equation(equation, emitter, [emitter.apart(part) for part in operands])
    memory, kind = emitter.memory, kind_of(aval.dtype)
    wide = emitter.lanes and any(_varies(part) for part in operands)
    target, begin = memory.allocate(kind, wide, aval.shape), 0
    step = target.strides[axis]
    with memory.unmasked():
        for part in operands:
            place = memory.part(target, begin * step, part.shape).seen(part.shape, target.strides)
            begin += part.shape[axis]
            if isinstance(part, Memory):
                memory.moved(part, place)
                continue
            flat = replace(place, steps=None)
            for index, one in zip(np.ndindex(*part.shape), part.flat, strict=True):
                at = sum(k * stride for k, stride in zip(index, target.strides, strict=True))
                memory.store(flat, np.int64(at), one)
    return [target]


@whole("split")
def _split(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """Parts of an array in memory along an axis."""
    (array,), (axis, begin), parts = operands, (equation.params["axis"], 0), []
    for atom in equation.outvars:
        part = emitter.memory.part(array, begin * array.strides[axis], array.shape)
        parts.append(part.seen(atom.aval.shape, array.strides))
        begin += atom.aval.shape[axis]
    return parts


@whole("pad")
def _pad(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """A value around and between the elements of an array: a long result is put together in memory."""
    array, value = operands[0], emitter.apart(operands[1])
    aval, config = equation.outvars[0].aval, equation.params["padding_config"]
    cut = any(low < 0 or high < 0 for low, high, _ in config)
    if cut or not isinstance(array, Memory) or not emitter.program.is_long(aval.size):
        return apply_equation(equation, emitter, [emitter.apart(array), value])
    memory, wide = emitter.memory, array.wide or _varies(value)
    target = memory.filled(np.broadcast_to(value, aval.shape), array.kind, wide)
    first = sum(low * step for (low, _, _), step in zip(config, target.strides, strict=True))
    steps = [(1 + between) * step for (_, _, between), step in zip(config, target.strides, strict=True)]
    with memory.unmasked():
        memory.moved(array, memory.part(target, first, array.shape).seen(array.shape, steps))
    return [target]


def _varies(part: Any) -> bool:
    if isinstance(part, Memory):
        return part.wide
    return any(isinstance(one, Value) and one.wide for one in part.flat)


@whole(*REDUCTIONS)
def _reduce(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """A long array to one number, or along an axis to many, in a loop, from the first element to the last."""
    array, name, axes = operands[0], equation.primitive.name, equation.params["axes"]
    primitive, result = REDUCTIONS[name], equation.outvars[0].aval
    if len(axes) == 1 and 0 < array.shape[axes[0]] <= TERMS and emitter.program.is_long(result.size):
        return [_along(emitter, primitive, array, axes[0], result.shape)]
    if result.shape or not emitter.program.is_long(array.size):
        return apply_equation(equation, emitter, [emitter.apart(array)])

    def following(total: Any, place: Value) -> Any:
        return emitter.apply(primitive, {}, (total, emitter.memory.load(array, place)))[0]

    total = _accumulated(emitter, array, following)
    result = np.empty((), dtype=object)
    result[()] = total
    return [result]


def _along(emitter: Emitter, primitive: Any, array: Memory, axis: int, shape: tuple[int, ...]) -> Memory:
    """Reduce each short row of an array in memory along an axis."""
    builder, memory = emitter.builder, emitter.memory
    length, step = array.shape[axis], math.prod(array.shape[axis + 1 :])
    target = memory.allocate(array.kind, array.wide, shape)

    def body(place: Value) -> None:
        outer = builder.fresh(I64, False, f"udiv i64 {place.text}, {step}")
        skipped = builder.fresh(I64, False, f"mul i64 {outer.text}, {(length - 1) * step}")
        begin = builder.fresh(I64, False, f"add i64 {place.text}, {skipped.text}")
        terms = []
        for k in range(length):
            at = builder.fresh(I64, False, f"add i64 {begin.text}, {k * step}")
            terms.append(memory.load(array, at))
        with memory.unmasked():
            memory.store(target, place, total(primitive, emitter, terms))

    memory.each(target.size, body)
    return target


def _accumulated(emitter: Emitter, array: Memory, following: Callable[[Any, Value], Any]) -> Value:
    """Reduce an array in memory by a loop: begin with its first element and take in the others in order."""
    builder = emitter.builder
    first = emitter.memory.load(array, np.int64(0))
    begin, loop, done = builder.block, builder.name_of("each"), builder.name_of("all")
    builder.go(loop)
    builder.start(loop)
    place, total = builder.phi(I64, False), builder.phi(array.kind, array.wide)
    place.add(np.int64(1), begin)
    total.add(first, begin)
    with builder.scope():
        now = following(total.value, place.value)
        more_places = builder.fresh(I64, False, f"add i64 {place.value.text}, 1")
        more = builder.fresh(I1, False, f"icmp slt i64 {more_places.text}, {array.size}")
    place.add(more_places, builder.block)
    total.add(now, builder.block)
    builder.go_if(more.text, loop, done)
    builder.start(done)
    assert not is_number(now)
    return now
