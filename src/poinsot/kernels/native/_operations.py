"""Elementwise operations as LLVM instructions, in strict IEEE arithmetic."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from poinsot.kernels._components import is_number
from poinsot.kernels.native._ir import DOUBLE, I1, I32, I64, KINDS, Builder, NotNative, Value, kind_of

LEAST = {I64: -(2**63), I32: -(2**31)}
Operation = Callable[["Operations", dict, Sequence[Any]], Any]


class Operations:
    """Operations on components of one function: numbers and values of LLVM."""

    def __init__(self, builder: Builder):
        self.builder = builder
        self.strict = False
        """Whether zeros that are known simplify nothing but what has the same bits."""

    def apply(self, name: str, params: dict, operands: Sequence[Any]) -> Any:
        """The result of an operation on single components."""
        operation = OPERATIONS.get(name)
        if operation is None:
            raise NotNative(f"the trace contains {name!r}, which has no native form")
        return operation(self, params, operands)

    def form(self, operands: Sequence[Any]) -> tuple[str, bool]:
        """Type of equal operands, and whether any differs from lane to lane."""
        values = [one for one in operands if isinstance(one, Value)]
        wide = any(one.wide for one in values)
        return (values[0].kind if values else kind_of(np.asarray(operands[0]).dtype)), wide

    def binary(self, instruction: str, *operands: Any) -> Value:
        """An instruction of equal operands with a result like them."""
        kind, wide = self.form(operands)
        listed = ", ".join(self.builder.text(one, kind, wide) for one in operands)
        return self.builder.value(kind, wide, f"{instruction} {self.builder.type(kind, wide)} {listed}")

    def compare(self, real: str, whole: str, a: Any, b: Any) -> Value:
        """A comparison, by the predicate for doubles or for integers."""
        kind, wide = self.form((a, b))
        if kind == I1:
            # As a signed number of one bit, what is true would be less than zero.
            whole = whole.replace("s", "u")
        instruction = f"fcmp {real}" if kind == DOUBLE else f"icmp {whole}"
        text = self.builder.text
        operation = (
            f"{instruction} {self.builder.type(kind, wide)} {text(a, kind, wide)}, {text(b, kind, wide)}"
        )
        return self.builder.value(I1, wide, operation)

    def select(self, which: Any, yes: Any, no: Any) -> Any:
        """One of two operands, by a condition."""
        if is_number(which):
            return yes if which else no
        if yes is no or (is_number(yes) and is_number(no) and same_bits(yes, no)):
            return yes
        kind, wide = self.form((yes, no))
        wide = wide or which.wide
        builder, whole = self.builder, self.builder.type(kind, wide)
        text = f"{whole} {builder.text(yes, kind, wide)}, {whole} {builder.text(no, kind, wide)}"
        return builder.value(kind, wide, f"select {builder.type(I1, which.wide)} {which.text}, {text}")

    def both(self, a: Any, b: Any) -> Any:
        """Whether two conditions hold."""
        if is_number(a) or is_number(b):
            number, other = (a, b) if is_number(a) else (b, a)
            return other if number else np.False_
        return self.binary("and", a, b)

    def negated(self, condition: Any) -> Any:
        """Whether a condition does not hold."""
        return np.bool_(not condition) if is_number(condition) else self.binary("xor", condition, np.True_)

    def real(self, instruction: str, *operands: Any) -> Value:
        """Arithmetic of doubles."""
        return self.binary(f"{instruction} {self.builder.module.flags}".rstrip(), *operands)

    def quotient(self, instruction: str, a: Any, b: Any, by_zero: Any) -> Any:
        """A quotient or a remainder of integers; that by zero is given, and what overflows is wrapped."""
        if is_number(b) and int(b) not in (0, -1):
            return self.binary(instruction, a, b)
        kind, _ = self.form((a, b))
        zero, one, least = (np.int64(n) if kind == I64 else np.int32(n) for n in (0, 1, LEAST[kind]))
        by_nothing = self.compare("", "eq", b, zero)
        over = self.both(self.compare("", "eq", a, least), self.compare("", "eq", b, -one))
        # A processor stops at these; the least number over minus one is itself, as over one.
        safe = self.select(self.binary("or", by_nothing, over), one, b)
        return self.select(by_nothing, by_zero, self.binary(instruction, a, safe))

    def unary(self, name: str, x: Any) -> Value:
        """A function of LLVM with a correctly rounded result: the root, the magnitude, rounding."""
        kind, wide = self.form((x,))
        return self.builder.intrinsic(name, kind, wide, x)

    def convert(self, instruction: str, x: Value, kind: str) -> Value:
        """A value as one of another type."""
        builder = self.builder
        source, target = builder.type(x.kind, x.wide), builder.type(kind, x.wide)
        return builder.value(kind, x.wide, f"{instruction} {source} {x.text} to {target}")


def same_bits(a: Any, b: Any) -> bool:
    """Whether two numbers are the same, the sign of zero included."""
    return a == b and (a != 0 or math.copysign(1.0, a) == math.copysign(1.0, b))


def _is(x: Any, number: float) -> bool:
    """Whether an operand is known to be this number, to the bit."""
    return is_number(x) and same_bits(float(x), number)


def _is_zero(ops: Operations, x: Any) -> bool:
    """Whether an operand is known to be zero, where that is taken to say more than it does."""
    return not ops.strict and is_number(x) and float(x) == 0.0


def _add(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    a, b = operands
    if ops.form(operands)[0] != DOUBLE:
        # A sum of truth values, as in a product of matrices of them, is whether one holds.
        return ops.binary("or" if ops.form(operands)[0] == I1 else "add", a, b)
    if _is(a, -0.0) or _is_zero(ops, a):
        return b
    return a if _is(b, -0.0) or _is_zero(ops, b) else ops.real("fadd", a, b)


def _total(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    """A sum of derivatives: what does not contribute is left out, also in users' functions."""
    a, b = operands
    if any(is_number(one) and float(one) == 0.0 for one in operands):
        return b if is_number(a) and float(a) == 0.0 else a
    return _add(ops, params, operands)


def _sub(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    a, b = operands
    if ops.form(operands)[0] != DOUBLE:
        return ops.binary("sub", a, b)
    if _is(b, 0.0) or _is_zero(ops, b):
        return a
    return ops.binary("fneg", b) if _is(a, -0.0) or _is_zero(ops, a) else ops.real("fsub", a, b)


def _mul(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    """A product; one with a known zero, of finite values, is zero, and one with a unit costs nothing."""
    a, b = operands
    if ops.form(operands)[0] != DOUBLE:
        return ops.binary("mul", a, b)
    number, other = (a, b) if is_number(a) else (b, a)
    if _is_zero(ops, number):
        return np.float64(0.0)
    if _is(number, 1.0):
        return other
    return ops.binary("fneg", other) if _is(number, -1.0) else ops.real("fmul", a, b)


def _div(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    a, b = operands
    if ops.form(operands)[0] != DOUBLE:
        return ops.quotient("sdiv", a, b, np.int64(-1))
    if _is_zero(ops, a):
        return np.float64(0.0)
    return a if _is(b, 1.0) else ops.real("fdiv", a, b)


def _rem(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    a, b = operands
    if ops.form(operands)[0] == DOUBLE:
        # What is left is exact, so that it is the same on every machine.
        return ops.binary("frem", a, b)
    return ops.quotient("srem", a, b, a)


def _neg(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    (x,) = operands
    return ops.binary("fneg", x) if x.kind == DOUBLE else ops.binary("sub", np.int64(0), x)


def _square(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    return _mul(ops, params, (operands[0], operands[0]))


def integer_power(ops: Operations, x: Any, y: int) -> Any:
    """An integer power by repeated squaring."""
    if y < 0:
        return _div(ops, {}, (np.float64(1.0), integer_power(ops, x, -y)))
    result, square = None, x
    while y:
        if y & 1:
            result = square if result is None else _mul(ops, {}, (result, square))
        y >>= 1
        if y:
            square = _mul(ops, {}, (square, square))
    return np.float64(1.0) if result is None else result


def _extreme(name: str, real: str, whole: str) -> Operation:
    """Maximum or minimum, NaN where either operand is; a negative zero is less than a positive one."""

    def operation(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
        a, b = operands
        kind, wide = ops.form(operands)
        ordinary = [is_number(one) and not np.isnan(one) and one != 0 for one in operands]
        if kind == DOUBLE and ops.strict and not any(ordinary):
            return ops.builder.intrinsic(name, kind, wide, a, b)
        chosen = ops.select(ops.compare(real, whole, a, b), a, b)
        if kind != DOUBLE or (is_number(b) and not np.isnan(b)):
            return chosen
        return ops.select(ops.compare("uno", "", b, b), b, chosen)

    return operation


MAX, MIN = _extreme("maximum", "ugt", "sgt"), _extreme("minimum", "ult", "slt")


def _clamp(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    low, x, high = operands
    return MIN(ops, params, (MAX(ops, params, (x, low)), high))


def _sign(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    (x,) = operands
    one = np.float64(1.0) if x.kind == DOUBLE else np.int64(1)
    zero = one - one
    below = ops.select(ops.compare("olt", "slt", x, zero), -one, x)
    return ops.select(ops.compare("ogt", "sgt", x, zero), one, below)


def _abs(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    (x,) = operands
    if x.kind == DOUBLE:
        return ops.unary("fabs", x)
    return ops.select(ops.compare("", "slt", x, np.int64(0)), _neg(ops, params, operands), x)


def _round(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    return ops.unary("roundeven" if int(params["rounding_method"]) == 1 else "round", operands[0])


def _is_finite(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    return ops.compare("olt", "", ops.unary("fabs", operands[0]), np.float64(np.inf))


def _select_n(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    """One of several cases; a number below takes the first, one above the last."""
    which, *cases = operands
    if which.kind == I1:
        return ops.select(which, cases[1], cases[0])
    chosen = cases[0]
    for k, case in enumerate(cases[1:], start=1):
        chosen = ops.select(ops.compare("", "sge", which, np.int64(k)), case, chosen)
    return chosen


def _converted(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    (x,), kind = operands, kind_of(params["new_dtype"])
    if x.kind == kind:
        return x
    if kind == I1:
        return ops.compare("une", "ne", x, np.float64(0.0) if x.kind == DOUBLE else np.int64(0))
    if x.kind == DOUBLE:
        builder = ops.builder
        source, target = builder.type(DOUBLE, x.wide), builder.type(kind, x.wide)
        short = (f"v{builder.width}{kind}", f"v{builder.width}f64") if x.wide else (kind, "f64")
        name = f"llvm.fptosi.sat.{short[0]}.{short[1]}"
        builder.module.declare(f"declare {target} @{name}({source})")
        return builder.value(kind, x.wide, f"call {target} @{name}({source} {x.text})")
    if kind == DOUBLE:
        return ops.convert("uitofp" if x.kind == I1 else "sitofp", x, kind)
    if x.kind == I1:
        return ops.convert("zext", x, kind)
    return ops.convert("sext" if kind == I64 else "trunc", x, kind)


def _bitcast(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    (x,), kind = operands, kind_of(params["new_dtype"])
    if {x.kind, kind} - {DOUBLE, I64}:
        raise NotNative(f"the trace looks at the bits of {x.kind} as {kind}")
    return x if x.kind == kind else ops.convert("bitcast", x, kind)


def _shift(instruction: str) -> Operation:
    """A shift; one by all bits or more leaves nothing, or copies of the sign."""

    def operation(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
        x, amount = operands
        bits = {I64: 64, I32: 32}[ops.form(operands)[0]]
        if is_number(amount) and 0 <= int(amount) < bits:
            return ops.binary(instruction, x, amount)
        if is_number(amount):
            return ops.binary(instruction, x, np.int64(bits - 1)) if instruction == "ashr" else np.int64(0)
        # Compared without sign: a negative amount is a large one.
        inside = ops.compare("", "ult", amount, np.int64(bits))
        shifted = ops.binary(instruction, x, ops.select(inside, amount, np.int64(bits - 1)))
        return shifted if instruction == "ashr" else ops.select(inside, shifted, np.int64(0))

    return operation


def _not(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    (x,) = operands
    return ops.binary("xor", x, np.True_ if x.kind == I1 else np.int64(-1))


def _nextafter(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
    """The double next to one on the way to another: the bits of its magnitude, one more or one less."""
    x, y = operands
    zero = np.float64(0.0)
    bits = ops.convert("bitcast", x, I64) if isinstance(x, Value) else np.float64(x).view(np.int64)
    up = ops.compare("ogt", "", y, x)
    outward = ops.binary("xor", up, ops.compare("olt", "", x, zero))
    step = ops.select(outward, np.int64(1), np.int64(-1))
    moved = ops.convert("bitcast", ops.binary("add", bits, step), DOUBLE)
    least = np.float64(np.nextafter(0.0, 1.0))
    result = ops.select(ops.compare("oeq", "", x, zero), ops.select(up, least, -least), moved)
    result = ops.select(ops.compare("oeq", "", x, y), y, result)
    return ops.select(ops.compare("uno", "", x, y), np.float64(np.nan), result)


def _logical(instruction: str) -> Operation:
    """`and`, `or`, `xor` of truth values or integers."""

    def operation(ops: Operations, params: dict, operands: Sequence[Any]) -> Any:
        a, b = operands
        number, other = (a, b) if is_number(a) else (b, a)
        if is_number(number) and other.kind == I1 and instruction != "xor":
            keeps = bool(number) == (instruction == "and")
            return other if keeps else np.bool_(number)
        return ops.binary(instruction, a, b)

    return operation


def _comparison(real: str, whole: str) -> Operation:
    return lambda ops, params, operands: ops.compare(real, whole, *operands)


OPERATIONS: dict[str, Operation] = {
    "add": _add,
    "add_any": _total,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "rem": _rem,
    "neg": _neg,
    "square": _square,
    "integer_pow": lambda ops, params, operands: integer_power(ops, operands[0], params["y"]),
    "sqrt": lambda ops, params, operands: ops.unary("sqrt", operands[0]),
    "rsqrt": lambda ops, params, operands: _div(
        ops, params, (np.float64(1.0), ops.unary("sqrt", operands[0]))
    ),
    "abs": _abs,
    "sign": _sign,
    "floor": lambda ops, params, operands: ops.unary("floor", operands[0]),
    "ceil": lambda ops, params, operands: ops.unary("ceil", operands[0]),
    "round": _round,
    "is_finite": _is_finite,
    "max": MAX,
    "min": MIN,
    "clamp": _clamp,
    "nextafter": _nextafter,
    "lt": _comparison("olt", "slt"),
    "le": _comparison("ole", "sle"),
    "gt": _comparison("ogt", "sgt"),
    "ge": _comparison("oge", "sge"),
    "eq": _comparison("oeq", "eq"),
    "ne": _comparison("une", "ne"),
    "and": _logical("and"),
    "or": _logical("or"),
    "xor": _logical("xor"),
    "not": _not,
    "shift_left": _shift("shl"),
    "shift_right_arithmetic": _shift("ashr"),
    "shift_right_logical": _shift("lshr"),
    "bitcast_convert_type": _bitcast,
    "convert_element_type": _converted,
    "select_n": _select_n,
    "copy": lambda ops, params, operands: operands[0],
}
"""Operations by the name of the primitive: of its parameters and operands, at least one of them no number."""

assert set(KINDS.values()) == {DOUBLE, I64, I32, I1}
