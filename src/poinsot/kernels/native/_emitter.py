"""The arithmetic of machine code: a component of a trace is a value of LLVM."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend import core as jex

from poinsot.kernels._components import (
    ELEMENTWISE,
    Components,
    apply_equation,
    evaluate,
    is_number,
    objects,
)
from poinsot.kernels.native._elementary import ELEMENTARY, sincos
from poinsot.kernels.native._ir import ALIGNED, BYTES, DOUBLE, I64, Builder, Module, NotNative, Value, kind_of
from poinsot.kernels.native._memory import Access, Memory, Workspace
from poinsot.kernels.native._operations import Operations
from poinsot.kernels.native._weight import Weights, uses

OUTLINED = 120
"""Weight from which a trace that is called more than once becomes a function of its own."""
WRITTEN_OUT = 6000
"""Weight of all its calls together up to which it is written in place all the same, which runs faster."""
HANDED = 256
"""Numbers in memory that a function takes or returns one by one; with more it is written in place."""
LONG = 512
"""Elements of an array in memory from which an elementwise operation on it is a loop."""
SHORTER = 64
"""The same in a program that would be long otherwise: its loops take longer, and compile faster."""
LENGTHY = 12_000
"""Lines of a function from which it is."""
AVOIDABLE = 500
"""Operations on elements of arrays in memory, written out where loops could be, from which this helps."""
Whole = Callable[["Emitter", Any, Sequence[Any]], Sequence[Any]]
WHOLE: dict[str, Whole] = {}
"""Operations on whole arrays, by the name of the primitive: loops, branches, moves by unknown indices."""

SEEN = ("transpose", "broadcast_in_dim", "slice", "scan", "concatenate", "split", "pad")
"""Operations that take arrays in another order than they stand in memory."""

SHORTCUTS: dict[str, Callable[["Emitter", jex.ClosedJaxpr, Sequence[Any]], Sequence[Any]]] = {}
"""Functions of the trace, by name, that have a faster form in one run, such as one with a branch."""


def whole(*names: str) -> Callable[[Whole], Whole]:
    """Register the native form of operations on whole arrays."""

    def register(form: Whole) -> Whole:
        WHOLE.update(dict.fromkeys(names, form))
        return form

    return register


class Slots:
    """Places of components in a block of bytes."""

    def __init__(self, width: int):
        self.width, self.size = width, 0

    def add(self, kind: str, wide: bool) -> int:
        """Offset of a further component."""
        size = BYTES[kind] * (self.width if wide else 1)
        align = min(size, 64)
        offset = -(-self.size // align) * align
        self.size = offset + size
        return offset

    def add_array(self, kind: str, wide: bool, count: int) -> int:
        """Offset of an array of components."""
        offset = -(-self.size // ALIGNED) * ALIGNED
        self.size = offset + count * BYTES[kind] * (self.width if wide else 1)
        return offset


class Stored(NamedTuple):
    """A result in memory: where it begins in the block of results."""

    offset: int
    kind: str
    wide: bool


class Program:
    """What the functions of one program share.

    Args:
        jaxpr: the trace.
        width: lanes.
        fast: whether contraction is allowed.
        rows: whether the lanes hold rows of one run, not runs.
        long: elements of an array in memory from which operations on it are loops.
    """

    def __init__(
        self, jaxpr: jex.ClosedJaxpr, width: int, fast: bool, *, rows: bool = False, long: int = LONG
    ):
        self.module = Module(width, fast)
        self.workspace = Workspace()
        self.weights = Weights()
        self.uses = uses(jaxpr)
        self.rows, self.long, self.avoidable = rows, long, 0
        self.functions: dict[Any, tuple[str, list[Any], int, int]] = {}
        """Traces that have become functions: name, results that are numbers or slots, and sizes."""

    @property
    def shortened(self) -> bool:
        """Whether it would be long without loops over arrays in memory."""
        return self.long == SHORTER

    def is_long(self, size: int) -> bool:
        """Whether an operation on so many elements of an array in memory is a loop."""
        if SHORTER < size <= self.long:
            self.avoidable += size
        return size > self.long

    def is_function(self, jaxpr: Any) -> bool:
        """Whether a trace becomes a function of its own: it is called again, and would be much code."""
        uses, weight = self.uses[id(jaxpr)], self.weights.of(jaxpr)
        return uses > 1 and weight >= OUTLINED and uses * weight > WRITTEN_OUT


class Emitter:
    """Arithmetic in which a component is a number or a value of LLVM, while one function is written."""

    functions: dict[str, Callable] = {}

    def __init__(self, program: Program, builder: Builder):
        self.program, self.builder = program, builder
        self.ops = Operations(builder)
        self.memory = Access(builder, self.ops, program.workspace)
        self.elementary = {name: _of_numbers(name) for name in ELEMENTARY}

    @property
    def forms(self) -> tuple[str, ...]:
        """Functions of the trace that have a form of their own among operations on whole arrays."""
        return ("abreast",) if self.program.rows else ()

    @contextmanager
    def strictly(self) -> Iterator[None]:
        """Write what users compute: no simplification by known zeros that IEEE 754 does not allow."""
        before, self.ops.strict = self.ops.strict, True
        try:
            yield
        finally:
            self.ops.strict = before

    @property
    def lanes(self) -> bool:
        """Whether there is more than one."""
        return self.builder.width > 1

    def apply(self, primitive: jex.Primitive, params: dict, operands: Sequence[Any]) -> Sequence[Any]:
        """An operation on single components, at least one of them no number."""
        name = primitive.name
        if name not in ELEMENTARY:
            return [self.ops.apply(name, params, operands)]
        operands = [self._real(one) for one in operands]
        simple = self._simple_power(operands) if name == "pow" else None
        return [self._function(name, operands) if simple is None else simple]

    def whole(self, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
        """An operation on whole arrays."""
        name, in_memory = equation.primitive.name, any(isinstance(part, Memory) for part in operands)
        if name not in SEEN:
            operands = [self.in_order(part) for part in operands]
        if len(self.builder.lines) > LENGTHY and self.program.avoidable > AVOIDABLE:
            raise TooLong
        form = WHOLE.get(name)
        if form is not None:
            return form(self, equation, operands)
        if in_memory:
            still = name in ELEMENTWISE and any(isinstance(part, Memory) for part in operands)
            if still and self.program.is_long(equation.outvars[0].aval.size):
                return self._each(equation, operands)
            return apply_equation(equation, self, [self.apart(part) for part in operands])
        raise NotNative(f"the trace contains {name!r}, which has no native form")

    def apart(self, part: Any) -> Components:
        """An array as components, loaded from memory if that is where it is."""
        part = self.in_order(part)
        return self.memory.components(part) if isinstance(part, Memory) else part

    def in_order(self, part: Any) -> Any:
        """An array whose elements stand in memory as they are seen, or components."""
        return self.memory.in_order(part) if isinstance(part, Memory) else part

    def call(self, jaxpr: jex.ClosedJaxpr, given: Sequence[Any], name: str) -> Sequence[Any]:
        """A function that the trace calls: written out, or a function of the code if it is used again."""
        if name in SHORTCUTS and not any(map(is_wide, given)):
            return SHORTCUTS[name](self, jaxpr, given)
        in_memory = [part.size for part in given if isinstance(part, Memory)]
        if not self.program.is_function(jaxpr.jaxpr):
            return evaluate(jaxpr, self, *given)
        if sum(in_memory) > HANDED and not self.program.shortened:
            return evaluate(jaxpr, self, *given)
        try:
            return self._outlined(jaxpr, [self._handed(part) for part in given])
        except _HasMemory:
            return evaluate(jaxpr, self, *given)

    def settled(self, part: Components, kind: str) -> Any:
        """Components, or where code is to be short a long array of them in memory."""
        long = self.program.shortened and part.size > SHORTER
        return self.memory.spilled(part, kind) if long else part

    def _handed(self, part: Any) -> Any:
        """An argument or a result of a function: a long array stays in memory where code is to be short."""
        part = self.in_order(part)
        stays = isinstance(part, Memory) and self.program.shortened and part.size > SHORTER
        return part if stays else self.apart(part)

    def _outlined(self, jaxpr: jex.ClosedJaxpr, given: Sequence[Any]) -> Sequence[Any]:
        """A call of the function that a trace has become, for operands of this form."""
        form = tuple(_array_form(part) for part in given)
        mask = self.memory.mask
        key = id(jaxpr.jaxpr), form, mask is not None, self.ops.strict
        if key not in self.program.functions:
            self.program.functions[key] = self._written(jaxpr, given, mask)
        name, results, taken, returned = self.program.functions[key]
        slots = Slots(self.builder.width)
        block, result = (self.memory.allocate("i64", False, [-(-size // 8)]) for size in (taken, returned))
        for part in given:
            if isinstance(part, Memory):
                slot = self._slot(block.pointer, slots.add(I64, False), I64, False)
                self.builder.effect(f"store ptr {part.pointer}, ptr {slot.pointer}, align 8")
                continue
            for one in part.flat:
                if isinstance(one, Value) and one.origin is None:
                    self.put(block.pointer, slots, one, one.kind, one.wide)
        if mask is not None:
            self.put(block.pointer, slots, mask, mask.kind, mask.wide)
        self.builder.effect(f"call void @{name}(ptr %s, ptr %w, ptr {block.pointer}, ptr {result.pointer})")
        pieces = iter(results)
        return [self._returned(result.pointer, atom, pieces) for atom in jaxpr.out_avals]

    def _returned(self, pointer: str, atom: Any, pieces: Iterator[Any]) -> Any:
        """A result of an outlined function."""
        found = list(itertools.islice(pieces, min(atom.size, 1)))
        if found and isinstance(found[0], Stored):
            (stored,) = found
            begin = self._slot(pointer, stored.offset, stored.kind, stored.wide).pointer
            return Memory(begin, stored.kind, stored.wide, atom.shape, owned=True)
        found += itertools.islice(pieces, max(atom.size - 1, 0))
        return objects(atom.shape, [self._fetched(pointer, one) for one in found])

    def _fetched(self, pointer: str, piece: Any) -> Any:
        """A result of an outlined function: a number, or what stands in a slot."""
        return piece if is_number(piece) else self.get(pointer, *piece, fixed=False)

    def _written(self, jaxpr: jex.ClosedJaxpr, given: Sequence[Components], mask: Value | None):
        """Write a trace as a function."""
        module = self.program.module
        name = f"f{len(self.program.functions)}"
        # The name is taken at once: functions within this one come after it.
        self.program.functions[name] = ("", [], 0, 0)
        builder = Builder(module, name, [f"ptr noalias {one}" for one in ("%s", "%w", "%in", "%out")])
        inner, slots = Emitter(self.program, builder), Slots(builder.width)
        inner.ops.strict = self.ops.strict

        def received(one: Any) -> Any:
            if is_number(one):
                return one
            if one.origin is not None:
                return inner.shared(one.origin, one.kind)
            return inner.get("%in", slots.add(one.kind, one.wide), one.kind, one.wide, fixed=True)

        def array(part: Any) -> Any:
            if not isinstance(part, Memory):
                return objects(part.shape, [received(one) for one in part.flat])
            slot = inner._slot("%in", slots.add(I64, False), I64, False)
            begin = builder.value("ptr", False, f"load ptr, ptr {slot.pointer}, align 8, !invariant.load !0")
            return Memory(begin.text, part.kind, part.wide, part.shape, fixed=part.fixed, known=part.known)

        parts = [array(part) for part in given]
        if mask is not None:
            inner.memory.mask = received(Value(mask.text, mask.kind, mask.wide))
        results, pieces, out = evaluate(jaxpr, inner, *parts), [], Slots(builder.width)
        for part, atom in zip(results, jaxpr.out_avals, strict=True):
            if isinstance(part, Memory) and part.size > HANDED and not self.program.shortened:
                raise _HasMemory
            pieces += inner._put_result(inner._handed(part), kind_of(atom.dtype), out)
        builder.end("void")
        return name, pieces, slots.size, out.size

    def _put_result(self, part: Any, kind: str, out: Slots) -> list[Any]:
        """Store a result of this function; numbers that are known, and places of the others."""
        part = part if isinstance(part, Memory) else self.settled(part, kind)
        if isinstance(part, Memory):
            stored = Stored(out.add_array(kind, part.wide, part.size), kind, part.wide)
            begin = self._slot("%out", stored.offset, kind, part.wide).pointer
            with self.memory.unmasked():
                self.memory.copied(part, Memory(begin, kind, part.wide, part.shape))
            return [stored]
        return [
            one if is_number(one) else (self.put("%out", out, one, kind, one.wide), kind, one.wide)
            for one in part.flat
        ]

    def put(self, pointer: str, slots: Slots, component: Any, kind: str, wide: bool) -> int:
        """Store a component in the next slot of a block; its offset."""
        offset = slots.add(kind, wide)
        with self.memory.unmasked():
            self.memory.store(self._slot(pointer, offset, kind, wide), np.int64(0), component)
        return offset

    def get(self, pointer: str, offset: int, kind: str, wide: bool, *, fixed: bool) -> Value:
        """Load what stands in a slot of a block."""
        return self.memory.load(self._slot(pointer, offset, kind, wide, fixed), np.int64(0))

    def shared(self, offset: int, kind: str) -> Value:
        """A number that all runs share, by its place."""
        value = self.get("%s", offset, kind, False, fixed=True)
        return Value(value.text, value.kind, value.wide, offset)

    def _slot(self, pointer: str, offset: int, kind: str, wide: bool, fixed: bool = False) -> Memory:
        if offset:
            pointer = self.builder.value("ptr", False, f"getelementptr i8, ptr {pointer}, i64 {offset}").text
        return Memory(pointer, kind, wide, (1,), fixed=fixed)

    def _each(self, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
        """An elementwise operation on long arrays, in a loop over memory."""
        outs = [(kind_of(atom.aval.dtype), atom.aval.shape) for atom in equation.outvars]
        wide = any(is_wide(part) for part in operands)
        results = [self.memory.allocate(kind, wide, shape) for kind, shape in outs]
        shape = outs[0][1]
        parts = [
            self._addressable(part, atom, shape) for part, atom in zip(operands, equation.invars, strict=True)
        ]

        def body(place: Value) -> None:
            given = [self.memory.load(part, place) if isinstance(part, Memory) else part for part in parts]
            produced = self.apply(equation.primitive, equation.params, given)
            with self.memory.unmasked():
                for target, one in zip(results, produced, strict=True):
                    self.memory.store(target, place, one)

        self.memory.each(results[0].size, body)
        return results

    def _addressable(self, part: Any, atom: Any, shape: tuple[int, ...]) -> Any:
        """A long operand in memory, or the one component that stands for all places."""
        if isinstance(part, Memory):
            # Axes of length one are repeated, and a single number stands for all places.
            axes = range(len(shape) - len(part.shape), len(shape))
            return self.in_order(part.spread(shape, axes))
        if part.size == 1:
            return part.flat[0]
        if not any(part.strides):
            return part[(0,) * part.ndim]
        return self.memory.spilled(np.broadcast_to(part, shape), kind_of(atom.aval.dtype))

    def _real(self, one: Any) -> Any:
        """An argument of an elementary function; an exponent may be an integer."""
        whole_number = isinstance(one, Value) and one.kind != DOUBLE
        return (
            self.ops.apply("convert_element_type", {"new_dtype": np.float64}, (one,)) if whole_number else one
        )

    def _function(self, name: str, operands: Sequence[Any]) -> Value:
        """A call of an elementary function."""
        _, wide = self.ops.form(operands)
        whole_type = self.builder.type(DOUBLE, wide)
        listed = ", ".join(f"{whole_type} {self.builder.text(one, DOUBLE, wide)}" for one in operands)
        symbol = self._defined(name, wide, len(operands))
        if name not in ("sin", "cos"):
            return self.builder.value(DOUBLE, wide, f"call {whole_type} @{symbol}({listed})")
        pair = f"{{ {whole_type}, {whole_type} }}"
        both = self.builder.value("pair", wide, f"call {pair} @{symbol}({listed})")
        place = 0 if name == "sin" else 1
        return self.builder.value(DOUBLE, wide, f"extractvalue {pair} {both.text}, {place}")

    def _defined(self, name: str, wide: bool, count: int) -> str:
        """Name of an elementary function, which is written when it is first called."""
        name = "sincos" if name in ("sin", "cos") else name
        symbol = f"poinsot_{name}{'_wide' if wide else ''}"
        if symbol in self.program.functions:
            return symbol
        self.program.functions[symbol] = (symbol, [], 0, 0)
        module = self.program.module
        kind = f"<{module.width} x {DOUBLE}>" if wide else DOUBLE
        returns = f"{{ {kind}, {kind} }}" if name == "sincos" else kind
        builder = Builder(module, symbol, [f"{kind} %x{k}" for k in range(count)], returns=returns)
        inner = Emitter(self.program, builder)
        inner.ops.strict = True
        given = [objects((), [Value(f"%x{k}", DOUBLE, wide)]) for k in range(count)]
        results = [part[()] for part in evaluate(_traced(name), inner, *given)]
        texts = [f"{kind} {builder.text(one, DOUBLE, wide)}" for one in results]
        if name == "sincos":
            first = builder.value("pair", wide, f"insertvalue {returns} poison, {texts[0]}, 0")
            both = builder.value("pair", wide, f"insertvalue {returns} {first.text}, {texts[1]}, 1")
            builder.end(f"{returns} {both.text}")
        else:
            builder.end(texts[0])
        return symbol

    def _simple_power(self, operands: Sequence[Any]) -> Any:
        """A power with a known exponent that needs no logarithm; None for others."""
        x, y = operands
        if not is_number(y):
            return None
        halves = 2.0 * float(y)
        if not halves.is_integer() or abs(halves) > 6.0:
            return None
        if halves % 2.0 == 0.0:
            return self.ops.apply("integer_pow", {"y": int(halves / 2.0)}, [x])
        # The root of minus infinity is NaN, its power infinite; the root of minus zero has a sign.
        infinite = self.ops.compare("oeq", "", x, np.float64(-np.inf))
        root = self.ops.select(infinite, np.float64(np.inf), self.ops.unary("sqrt", x))
        root = self.ops.real("fadd", root, np.float64(0.0))
        whole_part = self.ops.apply("integer_pow", {"y": int((abs(halves) - 1.0) / 2.0)}, [x])
        power = (
            root if is_number(whole_part) else self.ops.real("fmul", root, self.ops.unary("fabs", whole_part))
        )
        return self.ops.real("fdiv", np.float64(1.0), power) if halves < 0.0 else power


class TooLong(Exception):
    """A program that would be much shorter with loops over arrays in memory."""


class _HasMemory(Exception):
    """A trace whose results are in memory does not become a function."""


def _array_form(part: Any) -> Any:
    """What the code of a function depends on in an argument."""
    if isinstance(part, Memory):
        known = None if part.known is None else part.known.form
        return "memory", part.kind, part.wide, part.shape, part.fixed, known
    return tuple(map(_form, part.flat))


def _form(one: Any) -> Any:
    """What the code of a function depends on: numbers, places of shared numbers, types."""
    if is_number(one):
        return "number", np.asarray(one).dtype.name, np.asarray(one).tobytes()
    return one.kind, one.wide, one.origin


def is_wide(part: Any) -> bool:
    if isinstance(part, Memory):
        return part.wide
    return any(isinstance(one, Value) and one.wide for one in part.flat)


@cache
def _traced(name: str) -> jex.ClosedJaxpr:
    """Trace of an elementary function."""
    function = sincos if name == "sincos" else ELEMENTARY[name]
    return jax.make_jaxpr(function)(*[0.0] * (2 if name in ("pow", "atan2") else 1))


def _of_numbers(name: str) -> Callable:
    """An elementary function of plain numbers, with the bits that compiled code has."""

    def function(*operands: Any) -> tuple[Any, ...]:
        symbol = "sincos" if name in ("sin", "cos") else name
        results = evaluate(_traced(symbol), NUMBERS, *(objects((), [np.float64(one)]) for one in operands))
        return (results[1 if name == "cos" else 0][()],)

    return function


class _Numbers:
    """Arithmetic of plain numbers alone: what NumPy does not do goes through branches by their values."""

    functions: dict[str, Callable] = {}
    elementary: dict[str, Callable] = {}

    def apply(self, primitive, params, operands):
        raise AssertionError("numbers are worked out before")

    def whole(self, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
        if equation.primitive.name != "cond":
            raise NotNative(f"a number depends on {equation.primitive.name!r}")
        index = int(operands[0].item())
        branches = equation.params["branches"]
        return evaluate(branches[min(max(index, 0), len(branches) - 1)], self, *operands[1:])


NUMBERS = _Numbers()
