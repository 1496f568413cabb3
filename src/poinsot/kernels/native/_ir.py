"""Text of LLVM functions: values, blocks, loops, memory.

The intermediate representation is written as text and parsed by LLVM once it is whole. A pure operation that
was written before, in a block that dominates, is not written again.
"""

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

DOUBLE, I64, I32, I1 = "double", "i64", "i32", "i1"
KINDS = {"float64": DOUBLE, "int64": I64, "int32": I32, "bool": I1}
"""LLVM types of the dtypes that have a native form."""
STORED = {DOUBLE: DOUBLE, I64: I64, I32: I32, I1: "i8"}
"""Types in memory: truth values take a byte."""
BYTES = {DOUBLE: 8, I64: 8, I32: 4, I1: 1}
ALIGNED = 64
"""Bytes to which vectors are aligned in memory: a cache line."""


class NotNative(Exception):
    """A trace that has no native form; the message says why."""


def kind_of(dtype: Any) -> str:
    """LLVM type of a dtype."""
    kind = KINDS.get(np.dtype(dtype).name)
    if kind is None:
        raise NotNative(f"the trace contains numbers of type {np.dtype(dtype).name}")
    return kind


class Value:
    """A result of an operation: one number, or one in each lane."""

    __slots__ = ("kind", "origin", "text", "wide")

    def __init__(self, text: str, kind: str, wide: bool, origin: int | None = None):
        self.text, self.kind, self.wide = text, kind, wide
        self.origin = origin
        """Its place among the shared numbers of the program, where any function can load it; else None."""

    def __repr__(self) -> str:
        return f"{self.kind}{'*' if self.wide else ''} {self.text}"


def literal(number: Any, kind: str) -> str:
    """A number as LLVM writes it."""
    if kind == DOUBLE:
        return f"0x{struct.unpack('<Q', struct.pack('<d', float(number)))[0]:016X}"
    if kind == I1:
        return "true" if number else "false"
    return str(int(number))


class Phi:
    """A value that depends on where control came from; completed when all ways to it are known."""

    def __init__(self, builder: "Builder", value: Value):
        self.value, self._builder, self._line, self._ways = value, builder, len(builder.lines), []
        builder.lines.append("")

    def add(self, operand: Any, block: str) -> None:
        """Add a way: the value there, and the block that control comes from."""
        value = self.value
        self._ways.append(f"[ {self._builder.text(operand, value.kind, value.wide)}, %{block} ]")
        kind = self._builder.type(value.kind, value.wide)
        self._builder.lines[self._line] = f"{value.text} = phi {kind} {', '.join(self._ways)}"


class Builder:
    """One LLVM function while it is written.

    Args:
        module: what the function belongs to.
        name: its name.
        parameters: its parameters, each a type, attributes and a name.
        returns: type of its result.
        internal: whether only this module calls it.
        inlined: whether it may become a part of what calls it.
    """

    def __init__(
        self,
        module: "Module",
        name: str,
        parameters: list[str],
        *,
        returns: str = "void",
        internal: bool = True,
        inlined: bool = True,
    ):
        self.module, self.name, self.width = module, name, module.width
        linkage, attributes = "internal " if internal else "", "" if inlined else "noinline "
        self.head = f"define {linkage}{returns} @{name}({', '.join(parameters)}) {attributes}{{"
        self.lines: list[str] = []
        self.entry: list[str] = []
        """Allocations, which stand in the first block so that no loop repeats them."""
        self.block = "begin"
        self._count = 0
        self._known: list[dict[Any, Any]] = [{}]

    def type(self, kind: str, wide: bool) -> str:
        """Type of a value."""
        return f"<{self.width} x {kind}>" if wide else kind

    def name_of(self, stem: str) -> str:
        """A name that is not taken."""
        self._count += 1
        return f"{stem}{self._count}"

    def text(self, operand: Any, kind: str, wide: bool) -> str:
        """An operand without its type: a number, or a value, spread over the lanes if `wide`."""
        if isinstance(operand, Value):
            return self.spread(operand).text if wide and not operand.wide else operand.text
        one = literal(operand, kind)
        return f"splat ({kind} {one})" if wide else one

    def spread(self, value: Value) -> Value:
        """A value of all runs as one in each lane."""
        if value.wide:
            return value
        kind = self.type(value.kind, True)
        first = self.value(value.kind, True, f"insertelement {kind} poison, {value.kind} {value.text}, i64 0")
        zeros = f"<{self.width} x i32> zeroinitializer"
        return self.value(value.kind, True, f"shufflevector {kind} {first.text}, {kind} poison, {zeros}")

    def value(self, kind: str, wide: bool, operation: str) -> Value:
        """The result of a pure operation, the one written before if there is one."""
        for known in reversed(self._known):
            found = known.get(operation)
            if found is not None:
                return found
        result = Value(f"%v{self._count}", kind, wide)
        self._count += 1
        self.lines.append(f"{result.text} = {operation}")
        self._known[-1][operation] = result
        return result

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What a function makes, or has made before for the same key where it can be used here."""
        for known in reversed(self._known):
            if key in known:
                return known[key]
        self._known[-1][key] = made = make()
        return made

    def fresh(self, kind: str, wide: bool, operation: str) -> Value:
        """The result of an operation that must be done again each time: a load, a call."""
        result = Value(f"%v{self._count}", kind, wide)
        self._count += 1
        self.lines.append(f"{result.text} = {operation}")
        return result

    def effect(self, operation: str) -> None:
        """An operation without a result."""
        self.lines.append(operation)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Where values are written that do not dominate what follows: a branch, the body of a loop."""
        self._known.append({})
        try:
            yield
        finally:
            self._known.pop()

    def start(self, block: str) -> None:
        """Begin a block."""
        self.lines.append(f"{block}:")
        self.block = block

    def go(self, block: str) -> None:
        """End a block by going to another."""
        self.effect(f"br label %{block}")

    def go_if(self, condition: str, yes: str, no: str) -> None:
        """End a block by going to one of two others."""
        self.effect(f"br i1 {condition}, label %{yes}, label %{no}")

    def phi(self, kind: str, wide: bool) -> Phi:
        """A value that depends on where control comes from."""
        value = Value(f"%v{self._count}", kind, wide)
        self._count += 1
        return Phi(self, value)

    def alloca(self, kind: str, wide: bool, count: int) -> str:
        """Memory on the stack."""
        name = f"%m{self._count}"
        self._count += 1
        stored = self.type(STORED[kind], wide)
        self.entry.append(f"{name} = alloca [{max(count, 1)} x {stored}], align {ALIGNED}")
        return name

    def any(self, condition: Value) -> str:
        """Whether a condition holds in any lane."""
        if not condition.wide:
            return condition.text
        name = f"llvm.vector.reduce.or.v{self.width}i1"
        kind = self.type(I1, True)
        self.module.declare(f"declare i1 @{name}({kind})")
        return self.value(I1, False, f"call i1 @{name}({kind} {condition.text})").text

    def intrinsic(self, name: str, kind: str, wide: bool, *operands: Any) -> Value:
        """An operation that LLVM knows as a function of equal operands."""
        whole = self.type(kind, wide)
        short = {DOUBLE: "f64"}.get(kind, kind)
        symbol = f"llvm.{name}.{f'v{self.width}{short}' if wide else short}"
        self.module.declare(f"declare {whole} @{symbol}({', '.join([whole] * len(operands))})")
        listed = ", ".join(f"{whole} {self.text(one, kind, wide)}" for one in operands)
        return self.value(kind, wide, f"call {whole} @{symbol}({listed})")

    def end(self, result: str = "void") -> None:
        """Return, and hand the function to the module."""
        self.effect(f"ret {result}")
        body = "\n  ".join(self.lines)
        entry = "\n  ".join(["entry:", *self.entry, "br label %begin", "begin:"])
        self.module.functions.append(f"{self.head}\n  {entry}\n  {body}\n}}\n")


class Module:
    """Functions and tables that are compiled together.

    Args:
        width: lanes of a vector; 1 for one run.
        fast: whether multiplications and additions may be contracted, which is faster on some machines and
            gives other bits there.
    """

    def __init__(self, width: int, fast: bool):
        self.width = width
        self.flags = "contract " if fast else ""
        self.functions: list[str] = []
        self._declared: dict[str, None] = {}
        self._tables: dict[tuple[str, tuple[str, ...]], str] = {}

    def declare(self, declaration: str) -> None:
        """Declare a function of LLVM."""
        self._declared[declaration] = None

    def table(self, kind: str, numbers: list[Any]) -> str:
        """A constant array, and the name of its pointer."""
        words = tuple(literal(int(one) if kind == I1 else one, STORED[kind]) for one in numbers)
        return self._tables.setdefault((kind, words), f"@t{len(self._tables)}")

    def __str__(self) -> str:
        tables = [
            f"{name} = internal constant [{len(words)} x {STORED[kind]}] "
            f"[{', '.join(f'{STORED[kind]} {word}' for word in words)}], align {ALIGNED}"
            for (kind, words), name in self._tables.items()
        ]
        return "\n".join([*tables, *self._declared, *self.functions, "!0 = !{}\n"])
