"""Arrays in memory: inputs, buffers, and what is reached by indices that are known at run time only."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from poinsot.kernels._components import Components, is_number, objects
from poinsot.kernels.native._ir import ALIGNED, BYTES, DOUBLE, I1, I64, STORED, Builder, NotNative, Value
from poinsot.kernels.native._known import Known
from poinsot.kernels.native._operations import Operations

FEW = 4096
"""Elements of an array that is loaded into components where an operation needs them; a longer one is not."""
SHORT = 64
"""Elements of an array seen in another order that are loaded at once; more are put in order in a loop."""
STACK = 2**13
"""Bytes of an array that is put on the stack; longer ones go into the workspace of the program."""


@dataclass(frozen=True)
class Memory:
    """An array in memory, the last axis contiguous; with lanes, a vector in place of each element."""

    pointer: str
    kind: str
    wide: bool
    shape: tuple[int, ...]
    owned: bool = False
    """Whether it may be overwritten: nobody else reads it."""
    fixed: bool = False
    """Whether nothing writes to it while the program runs, so that loads may be moved."""
    steps: tuple[int, ...] | None = None
    """Elements from one index to the next along each axis, of an array that is seen in another order than it
    stands in memory. Loops read rows of it as it is; for everything else it is put in order."""
    begin: str = ""
    """Pointer to the beginning of the array that this one is a part of; empty where it is the whole."""
    known: Known | None = field(default=None, compare=False)
    """Elements that are numbers of the code, which loops along the rows make use of."""

    @property
    def place(self) -> str:
        """Which piece of memory it lies in: arrays with the same one may overlap."""
        return self.begin or self.pointer

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def strides(self) -> tuple[int, ...]:
        """Elements from one index to the next, along each axis."""
        if self.steps is not None:
            return self.steps
        return tuple(math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape)))

    def borrowed(self) -> "Memory":
        """The same array for somebody who must not write to it."""
        return replace(self, owned=False)

    def reshaped(self, shape: Sequence[int]) -> "Memory":
        """The same elements under another shape."""
        assert self.steps is None
        keeps = len(shape) > 0 and shape[0] == self.shape[0]
        return replace(self, shape=tuple(shape), known=self.known if keeps else None)

    def seen(self, shape: Sequence[int], steps: Sequence[int]) -> "Memory":
        """The array under another shape, with steps from one index to the next along each axis."""
        seen = replace(self, shape=tuple(shape), steps=tuple(steps), owned=False, known=None)
        plain = replace(seen, steps=None)
        lengths = zip(seen.shape, steps, plain.strides, strict=True)
        in_order = all(step == right or length == 1 for length, step, right in lengths)
        return plain if in_order else seen

    def spread(self, shape: Sequence[int], axes: Sequence[int]) -> "Memory":
        """The array repeated along the axes of a shape that are not named, and along those of length one."""
        steps = [0] * len(shape)
        for length, step, axis in zip(self.shape, self.strides, axes, strict=True):
            steps[axis] = step if length > 1 else 0
        return self.seen(shape, steps)


class Access:
    """Loads and stores of one function, under a mask of the lanes that are active."""

    def __init__(self, builder: Builder, ops: Operations, workspace: "Workspace"):
        self.builder, self.ops, self.workspace = builder, ops, workspace
        self.mask: Value | None = None
        """Lanes that take part; None where all do."""

    def allocate(self, kind: str, wide: bool, shape: Sequence[int]) -> Memory:
        """An array without values yet."""
        wide = wide and self.builder.width > 1
        count = math.prod(shape)
        size = count * BYTES[kind] * (self.builder.width if wide else 1)
        if size <= STACK:
            pointer = self.builder.alloca(kind, wide, count)
        else:
            offset = self.workspace.reserve(size)
            pointer = self.builder.value("ptr", False, f"getelementptr i8, ptr %w, i64 {offset}").text
        return Memory(pointer, kind, wide, tuple(shape), owned=True)

    def load(self, memory: Memory, place: Any) -> Value:
        """The element at a place in the flat array, known or not."""
        if isinstance(place, Value) and place.wide:
            return self._gathered(memory, place)
        builder, stored = self.builder, self.builder.type(STORED[memory.kind], memory.wide)
        operation = f"load {stored}, ptr {self._address(memory, place)}, align {self._align(memory)}"
        if memory.fixed:
            loaded = builder.value(memory.kind, memory.wide, operation + ", !invariant.load !0")
        else:
            loaded = builder.fresh(memory.kind, memory.wide, operation)
        return self._truth(loaded) if memory.kind == I1 else loaded

    def store(self, memory: Memory, place: Any, component: Any) -> None:
        """Put a component at a place in the flat array, in the lanes that are active."""
        builder, kind = self.builder, memory.kind
        if isinstance(place, Value) and place.wide:
            return self._scattered(memory, place, component)
        if self.mask is not None:
            component = self.ops.select(self.mask, component, self.load(memory, place))
        stored, text = self._stored(component, kind, memory.wide)
        builder.effect(
            f"store {stored} {text}, ptr {self._address(memory, place)}, align {self._align(memory)}"
        )
        return None

    def components(self, memory: Memory) -> Components:
        """All elements, loaded."""
        if memory.size > FEW:
            raise NotNative(f"the trace computes with all of an array of {memory.size} numbers at once")
        return objects(memory.shape, [self.load(memory, np.int64(k)) for k in range(memory.size)])

    def part(self, memory: Memory, begin: int, shape: Sequence[int]) -> Memory:
        """Elements that follow each other, from a place in the flat array on."""
        return self.from_place(memory, np.int64(begin), shape)

    def from_place(self, memory: Memory, begin: Any, shape: Sequence[int]) -> Memory:
        """The same from a place on that may be known at run time only."""
        pointer = self._address(memory, begin)
        return replace(
            memory, pointer=pointer, shape=tuple(shape), steps=None, begin=memory.place, known=None
        )

    def in_order(self, memory: Memory) -> Memory | Components:
        """An array that is seen in another order as it is seen: components if it is short, else a copy."""
        steps = memory.steps
        if steps is None:
            return memory
        if memory.size <= SHORT:
            flat, indices = replace(memory, steps=None), np.ndindex(*memory.shape)
            places = [sum(k * step for k, step in zip(index, steps, strict=True)) for index in indices]
            return objects(memory.shape, [self.load(flat, np.int64(place)) for place in places])
        own = self.allocate(memory.kind, memory.wide, memory.shape)
        with self.unmasked():
            self.moved(memory, own)
        return own

    def moved(self, source: Memory, target: Memory) -> None:
        """Copy an array into another of its shape; both may be seen in another order than they stand in."""
        rest, looped = list(source.shape), []
        while math.prod(rest) > SHORT:
            # Loops along the longest axes, until what is left can be written out.
            longest = int(np.argmax(rest))
            looped.append((longest, rest[longest]))
            rest[longest] = 1
        pair = replace(source, steps=None), replace(target, steps=None)

        def offset(index: Sequence[int], memory: Memory) -> int:
            return sum(k * step for k, step in zip(index, memory.strides, strict=True))

        def copy(read: Any, write: Any, axes: list[tuple[int, int]]) -> None:
            if not axes:
                for index in np.ndindex(*rest):
                    one = self.load(pair[0], self.plus(read, offset(index, source)))
                    self.store(pair[1], self.plus(write, offset(index, target)), one)
                return
            (axis, length), *inner = axes

            def body(place: Value) -> None:
                copy(
                    self._both(read, self.times(place, source.strides[axis])),
                    self._both(write, self.times(place, target.strides[axis])),
                    inner,
                )

            self.each(length, body)

        copy(np.int64(0), np.int64(0), looped)

    def row(self, memory: Memory, place: Any, among: slice) -> Components:
        """A row of an array, by its number, which is one of some; it may be seen in another order."""
        shape, (step, *steps) = memory.shape[1:], memory.strides
        first, flat = self.times(place, step), replace(memory, steps=None)
        places = [sum(k * one for k, one in zip(index, steps, strict=True)) for index in np.ndindex(*shape)]
        same = [None] * len(places) if memory.known is None else memory.known.common(among)
        return objects(
            shape,
            [
                self.load(flat, self.plus(first, k)) if number is None else number
                for k, number in zip(places, same, strict=True)
            ],
        )

    def times(self, place: Any, step: int) -> Any:
        """A place, known or not, times a number."""
        if step == 0:
            return np.int64(0)
        if is_number(place):
            return np.int64(int(place) * step)
        return place if step == 1 else self.ops.binary("mul", place, np.int64(step))

    def _both(self, first: Any, second: Any) -> Any:
        if is_number(second):
            return self.plus(first, int(second))
        return self.plus(second, int(first)) if is_number(first) else self.ops.binary("add", first, second)

    def plus(self, first: Any, more: int) -> Any:
        """A place, known or not, and a number."""
        if is_number(first):
            return np.int64(int(first) + more)
        return self.ops.binary("add", first, np.int64(more)) if more else first

    def spilled(self, part: Components, kind: str) -> Memory:
        """Components in memory: a table of the program where they are numbers."""
        if all(is_number(one) for one in part.flat):
            table = self.builder.module.table(kind, list(part.flat))
            return Memory(table, kind, False, part.shape, fixed=True)
        wide = any(isinstance(one, Value) and one.wide for one in part.flat)
        if part.size > FEW:
            return self.filled(part, kind, wide)
        # What stands in memory already need not be put there again.
        texts = tuple(self.builder.text(one, kind, wide) for one in part.flat)

        def stored() -> Memory:
            memory = self.allocate(kind, wide, part.shape)
            with self.unmasked():
                for k, one in enumerate(part.flat):
                    self.store(memory, np.int64(k), one)
            return memory.borrowed()

        return self.builder.once((kind, wide, texts), stored).reshaped(part.shape)

    def filled(self, part: Components, kind: str, wide: bool) -> Memory:
        """A long array of components: in a loop where rows are equal."""
        memory, row = self.allocate(kind, wide, part.shape), [*part.shape]
        for axis, stride in enumerate(part.strides):
            if stride:
                break
            row[axis] = 1
        # Axes in front of an array that was spread have no stride: along them it repeats itself.
        repeated = list(part[tuple(slice(0, length) for length in row)].flat)
        if len(repeated) > FEW:
            raise NotNative(f"the trace makes an array of {len(repeated)} numbers, one by one")

        def body(place: Value) -> None:
            first = place if len(repeated) == 1 else self.ops.binary("mul", place, np.int64(len(repeated)))
            for k, one in enumerate(repeated):
                at = self.ops.binary("add", first, np.int64(k)) if k else first
                self.store(memory, at, one)

        with self.unmasked():
            self.each(memory.size // len(repeated), body)
        return memory

    def copied(self, source: Memory, target: Memory) -> None:
        """Copy the elements of an array into another, in the lanes that are active."""
        if source.pointer != target.pointer:
            self.each(source.size, lambda place: self.store(target, place, self.load(source, place)))

    def each(self, count: int, body) -> None:
        """Do something for each place of a flat array, in a loop."""
        builder = self.builder
        begin, loop, done = builder.block, builder.name_of("each"), builder.name_of("all")
        builder.go(loop)
        builder.start(loop)
        place = builder.phi(I64, False)
        place.add(np.int64(0), begin)
        with builder.scope():
            body(place.value)
            following = builder.fresh(I64, False, f"add i64 {place.value.text}, 1")
            more = builder.fresh(I1, False, f"icmp slt i64 {following.text}, {count}")
        place.add(following, builder.block)
        builder.go_if(more.text, loop, done)
        builder.start(done)

    def unmasked(self) -> "_Unmasked":
        """A context in which all lanes are written: of memory that nobody else knows."""
        return _Unmasked(self)

    def _align(self, memory: Memory) -> int:
        size = BYTES[memory.kind]
        return min(ALIGNED, size * self.builder.width) if memory.wide else size

    def _address(self, memory: Memory, place: Any) -> str:
        if is_number(place) and int(place) == 0:
            return memory.pointer
        stored = self.builder.type(STORED[memory.kind], memory.wide)
        text = self.builder.text(place, I64, False)
        return self.builder.value(
            "ptr", False, f"getelementptr {stored}, ptr {memory.pointer}, i64 {text}"
        ).text

    def _stored(self, component: Any, kind: str, wide: bool) -> tuple[str, str]:
        """Type and text of a component as it stands in memory."""
        text = self.builder.text(component, kind, wide)
        stored = self.builder.type(STORED[kind], wide)
        if kind == I1:
            text = self.builder.value(
                "i8", wide, f"zext {self.builder.type(I1, wide)} {text} to {stored}"
            ).text
        return stored, text

    def _truth(self, loaded: Value) -> Value:
        stored = self.builder.type("i8", loaded.wide)
        return self.builder.value(
            I1, loaded.wide, f"trunc {stored} {loaded.text} to {self.builder.type(I1, loaded.wide)}"
        )

    def _lane_addresses(self, memory: Memory, place: Value) -> str:
        """A pointer for each lane, whose places differ."""
        builder, width = self.builder, self.builder.width
        if memory.kind == I1:
            raise NotNative("the trace looks up truth values at places that differ from run to run")
        place = builder.spread(place)
        if memory.wide:
            lanes = f"<{', '.join(f'i64 {k}' for k in range(width))}>"
            scaled = self.ops.binary("mul", place, np.int64(width))
            place = builder.value(I64, True, f"add {builder.type(I64, True)} {scaled.text}, {lanes}")
        whole = builder.type(I64, True)
        return builder.value(
            "ptr", True, f"getelementptr {memory.kind}, ptr {memory.pointer}, {whole} {place.text}"
        ).text

    def _gathered(self, memory: Memory, place: Value) -> Value:
        builder, width = self.builder, self.builder.width
        addresses = self._lane_addresses(memory, place)
        short = f"v{width}{'f64' if memory.kind == DOUBLE else memory.kind}"
        whole, name = builder.type(memory.kind, True), f"llvm.masked.gather.{short}.v{width}p0"
        builder.module.declare(f"declare {whole} @{name}(<{width} x ptr>, i32, <{width} x i1>, {whole})")
        operands = f"<{width} x ptr> {addresses}, i32 {BYTES[memory.kind]}, <{width} x i1> splat (i1 true)"
        return builder.fresh(memory.kind, True, f"call {whole} @{name}({operands}, {whole} poison)")

    def _scattered(self, memory: Memory, place: Value, component: Any) -> None:
        builder, width = self.builder, self.builder.width
        addresses = self._lane_addresses(memory, place)
        short = f"v{width}{'f64' if memory.kind == DOUBLE else memory.kind}"
        whole, name = builder.type(memory.kind, True), f"llvm.masked.scatter.{short}.v{width}p0"
        builder.module.declare(f"declare void @{name}({whole}, <{width} x ptr>, i32, <{width} x i1>)")
        mask = "splat (i1 true)" if self.mask is None else builder.spread(self.mask).text
        text = builder.text(component, memory.kind, True)
        operands = f"{whole} {text}, <{width} x ptr> {addresses}, i32 {BYTES[memory.kind]}"
        builder.effect(f"call void @{name}({operands}, <{width} x i1> {mask})")


class _Unmasked:
    def __init__(self, access: Access):
        self._access = access

    def __enter__(self) -> None:
        self._mask, self._access.mask = self._access.mask, None

    def __exit__(self, *_) -> None:
        self._access.mask = self._mask


class Workspace:
    """Memory for long arrays, handed to the program by its caller: one piece for each thread."""

    def __init__(self):
        self.size = 0

    def reserve(self, size: int) -> int:
        """Offset of a further piece of it."""
        offset = self.size
        self.size += -(-size // ALIGNED) * ALIGNED
        return offset
