"""Operations for random programs, by kind: elementwise, by indices, on whole arrays, loops, derivatives."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from random_programs import DTYPES, Missing, Program, Step, noted

REAL, LONG, SHORT, TRUTH = DTYPES.values()

EXACT: dict[str, Callable] = {
    "neg": lax.neg,
    "abs": lax.abs,
    "sign": lax.sign,
    "floor": lax.floor,
    "ceil": lax.ceil,
    "round": partial(lax.round, rounding_method=lax.RoundingMethod.TO_NEAREST_EVEN),
    "round away": partial(lax.round, rounding_method=lax.RoundingMethod.AWAY_FROM_ZERO),
    "sqrt": lax.sqrt,
    "square": lax.square,
    "is_finite": lax.is_finite,
    "cube": partial(lax.integer_pow, y=3),
    "inverse square": partial(lax.integer_pow, y=-2),
    "to long": partial(lax.convert_element_type, new_dtype=LONG),
    "to short": partial(lax.convert_element_type, new_dtype=SHORT),
    "to truth": partial(lax.convert_element_type, new_dtype=TRUTH),
    "bits": partial(lax.bitcast_convert_type, new_dtype=LONG),
    "plus one": lambda x: x + 1.0,
    "zero times": lambda x: 0.0 * x,
    "from zero": lambda x: 0.0 - x,
}
FUNCTIONS = (
    "sin cos tan exp exp2 expm1 log log1p asin acos atan sinh cosh tanh asinh acosh atanh cbrt logistic erf"
)
PAIRS: dict[str, Callable] = {
    name: getattr(lax, name) for name in "add sub mul div rem max min nextafter lt le gt ge eq ne".split()
}
WHOLE: dict[str, Callable] = {
    name: getattr(lax, name) for name in "neg abs sign square bitwise_not".split()
} | {
    "to real": partial(lax.convert_element_type, new_dtype=REAL),
    "to long": partial(lax.convert_element_type, new_dtype=LONG),
    "to short": partial(lax.convert_element_type, new_dtype=SHORT),
    "to truth": partial(lax.convert_element_type, new_dtype=TRUTH),
    "fifth power": partial(lax.integer_pow, y=5),
}
WHOLE_PAIRS: dict[str, Callable] = {
    name: getattr(lax, name)
    for name in (
        "add sub mul div rem max min lt le gt ge eq ne bitwise_and bitwise_or bitwise_xor "
        "shift_left shift_right_arithmetic shift_right_logical"
    ).split()
} | {"floor division": jnp.floor_divide, "modulo": jnp.remainder}
TRUTHS: dict[str, Callable] = {
    name: getattr(lax, name) for name in "bitwise_and bitwise_or bitwise_xor eq ne lt ge max min".split()
}
MODES = "promise_in_bounds", "clip", "fill", "drop"
WRITES = "set", "add", "multiply", "min", "max"


def choose(rng: np.random.Generator, table: Any) -> Any:
    return list(table)[int(rng.integers(len(table)))]


def real(program: Program) -> None:
    """An operation on each real number by itself."""
    rng, first = program.rng, program.pick(REAL)
    shape = program.avals[first][0]
    other, third, truth = program.pick(REAL, shape), program.pick(REAL, shape), program.pick(TRUTH, shape)
    which = rng.random()
    if which < 0.3:
        name = choose(rng, EXACT)
        # A sign of NaN, which nothing else shows, is among its bits.
        apply = (
            EXACT[name]
            if name != "bits"
            else lambda x: lax.bitcast_convert_type(jnp.where(x == x, x, 1.0), LONG)
        )
        program.add(Step(name, apply, (first,)))
    elif which < 0.6:
        name = choose(rng, PAIRS)
        program.add(Step(name, PAIRS[name], (first, other)))
    elif which < 0.7:
        program.add(Step("select", lax.select, (truth, first, other)))
    elif which < 0.75:
        program.add(Step("clamp", lax.clamp, (first, other, third)))
    elif which < 0.95:
        name = choose(rng, FUNCTIONS.split())
        program.add(Step(name, getattr(lax, name), (first,), name))
    else:
        name = choose(rng, ("pow", "atan2"))
        program.add(Step(name, getattr(lax, name), (first, other), name))


def whole(program: Program) -> None:
    """An operation on each integer by itself."""
    rng, first = program.rng, program.pick(choose(program.rng, (LONG, SHORT)))
    shape, dtype = program.avals[first]
    other, third = program.pick(dtype, shape), program.pick(dtype, shape)
    which = rng.random()
    if which < 0.25:
        name = choose(rng, WHOLE)
        program.add(Step(name, WHOLE[name], (first,)))
    elif which < 0.75:
        name = choose(rng, WHOLE_PAIRS)
        program.add(Step(name, WHOLE_PAIRS[name], (first, other)))
    elif which < 0.85:
        name = choose(rng, TRUTHS)
        program.add(Step(name, TRUTHS[name], (program.pick(TRUTH, shape), program.pick(TRUTH, shape))))
    elif which < 0.9:
        program.add(Step("clamp", lax.clamp, (first, other, third)))
    else:
        cases = first, other, third
        choice = program.pick(SHORT, shape), lax.select_n
        if rng.random() < 0.5:
            choice = program.pick(TRUTH, shape), lambda p, a, b, c: lax.select_n(p, a, b)
        program.add(Step("choice", choice[1], (choice[0], *cases)))


def moved(program: Program) -> None:
    """Elements in another order, another shape, more or fewer of them."""
    rng, first = program.rng, program.pick()
    (shape, dtype), axis = program.avals[first], 0
    if not shape:
        length = choose(rng, (0, 3))
        program.add(Step("broadcast", lambda x: jnp.broadcast_to(x, (length,)), (first,)))
        return
    length, other = shape[0], program.pick(dtype, shape)
    front, within = (-1, 1) if length and rng.random() < 0.5 else (2, 0)
    pad = [(front, 1, within), *[(0, 0, 0)] * (len(shape) - 1)]
    value = np.zeros((), dtype)
    moves: dict[str, tuple[Callable, tuple[int, ...]]] = {
        "reverse": (lambda x: lax.rev(x, (axis,)), (first,)),
        "slice": (lambda x: x[1:], (first,)),
        "strided": (lambda x: x[::2], (first,)),
        "transpose": (jnp.transpose, (first,)),
        "ravel": (jnp.ravel, (first,)),
        "column": (lambda x: x.reshape(-1, 1), (first,)),
        "joined": (lambda x, y: lax.concatenate([x, y], axis), (first, other)),
        "stacked": (lambda x, y: jnp.stack([x, y], -1), (first, other)),
        "tiled": (lambda x: jnp.tile(x, 2), (first,)),
        "rolled": (lambda x: jnp.roll(x, 1, 0), (first,)),
        "padded": (lambda x: lax.pad(x, jnp.asarray(value), pad), (first,)),
    }
    name = choose(rng, moves)
    program.add(Step(name, *moves[name]))


def indexed(program: Program) -> None:
    """Elements read or written at indices, many of them outside."""
    rng, first = program.rng, program.pick()
    shape, dtype = program.avals[first]
    if not shape or shape[0] == 0:
        return moved(program)
    place = program.pick(choose(rng, (LONG, SHORT)), ())
    mode, write = choose(rng, MODES), choose(rng, WRITES)
    if dtype == TRUTH:
        write = "set"
    near = rng.random() < 0.7
    row, value = shape[1:], program.pick(dtype, ())

    def at(k: Any) -> Any:
        """Not far outside, most of the time: then both ends are met."""
        return lax.rem(k, jnp.full_like(k, shape[0] + 2)) if near else k

    def several(k: Any) -> Any:
        return jnp.stack([at(k), jnp.ones_like(k), at(lax.neg(k))])

    def filled(x: Any, count: int) -> Any:
        return jnp.broadcast_to(x, (count, *row)) if count else jnp.broadcast_to(x, row)

    moves: dict[str, tuple[Callable, tuple[int, ...]]] = {
        "element": (lambda x, k: x[at(k)], (first, place)),
        f"get {mode}": (lambda x, k: x.at[at(k)].get(mode=mode), (first, place)),
        f"get several {mode}": (lambda x, k: x.at[several(k)].get(mode=mode), (first, place)),
        f"{write} {mode}": (
            lambda x, k, v: getattr(x.at[at(k)], write)(filled(v, 0), mode=mode),
            (first, place, value),
        ),
        f"{write} several {mode}": (
            lambda x, k, v: getattr(x.at[several(k)], write)(filled(v, 3), mode=mode),
            (first, place, value),
        ),
        "dynamic slice": (lambda x, k: lax.dynamic_slice_in_dim(x, at(k), min(2, shape[0])), (first, place)),
        "dynamic update": (
            lambda x, k, v: lax.dynamic_update_slice_in_dim(x, filled(v, 1), at(k), 0),
            (first, place, value),
        ),
    }
    name = choose(rng, moves)
    program.add(Step(name, *moves[name]))


def reduced(program: Program) -> None:
    """Sums, products, extremes and places of extremes along an axis, or of all elements."""
    rng, first = program.rng, program.pick()
    shape, dtype = program.avals[first]
    if not shape:
        return moved(program)
    axis = choose(rng, range(len(shape)))
    # Of several numbers: one that is alone is its own sum, with its sign.
    count, other = shape[axis], program.pick(dtype, shape)
    several: dict[str, Callable] = {
        "sum": lambda x: jnp.sum(x, axis),
        "product": lambda x: jnp.prod(x, axis),
        "dot": lambda x, y: jnp.tensordot(x, y, ((axis,), (axis,))),
        "sums so far": lambda x: lax.cumsum(x, axis),
    }
    sizes = {
        "sum": lambda x: count * np.sum(np.abs(x), axis),
        "dot": lambda x, y: count * np.tensordot(np.abs(x), np.abs(y), ((axis,), (axis,))),
        "sums so far": lambda x: count * np.cumsum(np.abs(x), axis),
    }
    others: dict[str, Callable] = {
        "all": lambda x: jnp.all(x.astype(bool), axis),
        "any": lambda x: jnp.any(x.astype(bool), axis),
    }
    if count:
        others |= {
            name: partial(getattr(jnp, name), axis=axis) for name in ("max", "min", "argmax", "argmin")
        }
    if dtype == TRUTH:
        del several["sums so far"]
    else:
        others |= {
            "largest so far": lambda x: lax.cummax(x, axis),
            "reversed": lambda x: lax.cummin(x, axis, reverse=True),
        }
    name = choose(rng, several | others)
    if name in others:
        program.add(Step(name, others[name], (first,)))
        return
    operands = (first, other) if name == "dot" else (first,)
    # XLA begins a sum with zero, so that of negative zeros it is a positive one.
    program.add(Step(name, several[name], operands, size=sizes.get(name), signs=False))


def body(program: Program, count: int) -> Callable:
    """Some exact operations on the real numbers of one shape."""
    rng = program.rng
    names = [choose(rng, ("add", "sub", "mul", "div", "max", "min")) for _ in range(count)]
    places = [rng.integers(0, k + 3, 2).tolist() for k in range(count)]

    def function(*values: Any) -> Any:
        found = list(values)
        for name, (a, b) in zip(names, places, strict=True):
            operands = found[a % len(found)], found[b % len(found)]
            result = PAIRS[name](*operands)
            found.append(noted(name, operands, result) if name in ("mul", "div") else result)
        return found[-1]

    return function


def controlled(program: Program) -> None:
    """A loop or a branch."""
    rng, first = program.rng, program.pick(REAL)
    shape = program.avals[first][0]
    other, truth, index = (
        program.pick(REAL, shape),
        program.pick(TRUTH, ()),
        program.pick(choose(rng, (LONG, SHORT)), ()),
    )
    inner, second, length = body(program, 3), body(program, 2), choose(rng, (1, 2, 12))
    reverse = bool(rng.random() < 0.5)

    def scan(x: Any, y: Any) -> Any:
        def step(carry: Any, k: Any) -> Any:
            following = inner(carry, y, jnp.full_like(x, 1.0) * k)
            return following, second(following, carry, y)

        end, rows = lax.scan(step, x, jnp.arange(float(length)), reverse=reverse)
        return jnp.stack([end, rows[0], rows[-1], rows[length // 2]])

    def along(x: Any, y: Any) -> Any:
        """Two loops along the same rows, which are put together."""
        rows = jnp.arange(8.0)[:, None] * jnp.ravel(x)[None]
        _, states = lax.scan(lambda c, row: (second(c, row, row), c), jnp.ravel(y), rows)
        end, _ = lax.scan(
            lambda c, row: (second(c, row[0], row[1]), None), jnp.ravel(x), (states * 0.0, rows)
        )
        return end

    def loop(x: Any, y: Any, k: Any) -> Any:
        limit = lax.rem(k, jnp.full_like(k, 6))
        state = jnp.zeros_like(k), x
        return lax.while_loop(lambda c: c[0] < limit, lambda c: (c[0] + 1, inner(c[1], y, x)), state)[1]

    def case(function: Callable) -> Callable:
        return lambda x, y: function(x, y, x)

    cases = [case(body(program, 2)) for _ in range(3)]
    loops: dict[str, tuple[Callable, tuple[int, ...]]] = {
        "scan": (scan, (first, other)),
        "two scans": (along, (first, other)),
        "while": (loop, (first, other, index)),
        "cond": (lambda p, x, y: lax.cond(p, cases[0], cases[1], x, y), (truth, first, other)),
        "switch": (lambda k, x, y: lax.switch(k, cases, x, y), (index, first, other)),
        "for": (lambda x, y: lax.fori_loop(0, length, lambda k, c: inner(c, y, c), x), (first, other)),
    }
    name = choose(rng, loops)
    program.add(Step(name, *loops[name]))


def differentiated(program: Program) -> None:
    """A gradient, a derivative along a direction, or both, of exact operations and of reads by an index."""
    rng, first = program.rng, program.pick(REAL)
    shape = program.avals[first][0]
    other, index = program.pick(REAL, shape), program.pick(choose(rng, (LONG, SHORT)), ())
    inner, mode, zero = body(program, 4), choose(rng, MODES), rng.random() < 0.3

    def function(x: Any, y: Any, k: Any) -> Any:
        value = inner(x, y, lax.sqrt(x))
        if zero:
            value = 0.0 * value
        if shape and shape[0]:
            place = lax.rem(k, jnp.full_like(k, shape[0] + 2))
            value = value.at[jnp.stack([place, place])].get(mode=mode)
        return value

    operands = first, other, index
    forms: dict[str, Callable] = {
        "gradient": lambda x, y, k: jax.vjp(lambda x: function(x, y, k), x)[1](function(x, y, k))[0],
        "along": lambda x, y, k: jax.jvp(lambda x: function(x, y, k), (x,), (y,))[1],
        "both": lambda x, y, k: jax.jvp(
            lambda x: jax.vjp(lambda x: function(x, y, k), x)[1](function(x, y, k))[0], (x,), (y,)
        )[1],
    }
    name = choose(rng, forms)
    # Sums of derivatives leave out what is known to be zero, which may change the sign of a zero.
    program.add(Step(name, forms[name], operands, signs=False))


class Kind(NamedTuple):
    """Of programs: what they are made of."""

    operations: tuple[Callable[[Program], None], ...]
    shapes: tuple[tuple[int, ...], ...]
    constants: float = 0.2
    """Share of the given arrays that are constants."""
    length: int = 10
    """Number of operations."""
    extreme: bool = True


KINDS = {
    "real": Kind((real,), ((3,),)),
    "integer": Kind((whole,), ((3,),)),
    "constants": Kind((real, whole, moved, indexed, reduced), ((), (3,)), 0.8, 8),
    "indices": Kind((indexed, indexed, moved, reduced), ((), (3,), (3, 2)), length=8),
    "empty": Kind((real, whole, moved, indexed, reduced), ((), (0,), (2, 0), (3,)), length=8),
    "control": Kind((controlled, controlled, real), ((), (3,)), length=8, extreme=False),
    "gradients": Kind((differentiated, differentiated, real), ((), (3,)), length=6, extreme=False),
}


def random_program(kind: str, seed: int) -> Program:
    """A program of a kind."""
    operations, shapes, constants, length, extreme = KINDS[kind]
    rng = np.random.default_rng([seed, *kind.encode()])
    program = Program(rng, shapes, constants, extreme=extreme)
    while len(program.steps) < length:
        with suppress(Missing):
            choose(rng, operations)(program)
    return program
