"""Native programs against JAX: elementwise operations, loops, branches, moves, frozen numbers, refusals."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from jax import lax
from mpmath import mpf
from test_elementary_functions import BOUNDS, EXACT, strictly, ulps

from poinsot import InputError
from poinsot.kernels import Kernel, _kernel
from poinsot.kernels.native import NativeProgram, NotNative, _emitter, _program
from poinsot.kernels.native._elementary import ELEMENTARY
from poinsot.kernels.native._operations import OPERATIONS
from poinsot.solvers import solve_small

LANES = 8
TINY, HUGE, SUBNORMAL = np.finfo(float).tiny, np.finfo(float).max, 5e-324
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, TINY, -TINY, SUBNORMAL, -SUBNORMAL, 1e-310]
SPECIAL += [HUGE, -HUGE, 1e300, 4503599627370497.5, 1e19, -1e19, np.inf, -np.inf, np.nan, 0.49999999999999994]


def random(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def wide_program(function: Callable, runs: Any, width: int = LANES) -> NativeProgram:
    """A program of runs alone, given with the runs in front."""
    one = jax.tree.map(lambda leaf: leaf[0], runs)
    return NativeProgram(lambda model, grid, run: function(*run), (), (), one, width=width, fast=False)


def in_lanes(function: Callable, runs: tuple, width: int = LANES) -> Any:
    program = wide_program(function, runs, width)
    return program(program.block((), ()), runs)


def one_by_one(function: Callable, runs: tuple) -> Any:
    call = wide_program(function, runs, 1).bound([])
    each = [
        call((), jax.tree.map(lambda leaf, k=k: leaf[k], runs)) for k in range(len(jax.tree.leaves(runs)[0]))
    ]
    return jax.tree.map(lambda *leaves: np.stack(leaves), *each)


def same(a: Any, b: Any, *, signs: bool = True) -> bool:
    """Whether arrays are the same, NaN equal to NaN, and zeros of the same sign where that is asked for."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype or not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
        return False
    known = ~np.isnan(a) if a.dtype.kind == "f" else np.ones(a.shape, dtype=bool)
    return not signs or a.dtype.kind != "f" or np.array_equal(np.signbit(a[known]), np.signbit(b[known]))


def check(function: Callable, *runs: Any, rtol: float = 0.0, atol: float = 0.0) -> None:
    """Native lanes and native runs have the same bits, and are what JAX makes of each run."""
    wide, single = in_lanes(function, runs), one_by_one(function, runs)
    compiled = jax.jit(function)
    count = len(jax.tree.leaves(runs)[0])
    each = [compiled(*jax.tree.map(lambda leaf, k=k: jnp.asarray(leaf[k]), runs)) for k in range(count)]
    wanted = jax.tree.map(lambda *leaves: np.stack(leaves), *each)
    assert jax.tree.structure(wide) == jax.tree.structure(wanted)
    for a, b, want in zip(*map(jax.tree.leaves, (wide, single, wanted)), strict=True):
        assert same(a, b), "a lane differs from the same run alone"
        assert a.dtype == want.dtype
        np.testing.assert_allclose(a, want, rtol=rtol, atol=atol)


def doubles() -> tuple[np.ndarray, np.ndarray]:
    """Pairs of doubles: every special one with every other, and random ones of all magnitudes."""
    a, b = np.meshgrid(SPECIAL, SPECIAL)
    scales = 10.0 ** np.random.default_rng(7).uniform(-300, 300, size=(2, 100))
    x, y = random(1, 2, 100) * scales
    a, b = np.concatenate([a.ravel(), x, random(2, 100)]), np.concatenate([b.ravel(), y, random(3, 100)])
    keep = len(a) // 16 * 16
    return a[:keep], b[:keep]


REAL: dict[str, Callable] = {
    "add": lax.add,
    "sub": lax.sub,
    "mul": lax.mul,
    "div": lax.div,
    "max": lax.max,
    "min": lax.min,
    "lt": lax.lt,
    "le": lax.le,
    "gt": lax.gt,
    "ge": lax.ge,
    "eq": lax.eq,
    "ne": lax.ne,
    "nextafter": lax.nextafter,
    "neg": lambda a, b: lax.neg(a),
    "square": lambda a, b: lax.square(a),
    "sqrt": lambda a, b: lax.sqrt(a),
    "rsqrt": lambda a, b: lax.rsqrt(a),
    "abs": lambda a, b: lax.abs(a),
    "sign": lambda a, b: lax.sign(a),
    "floor": lambda a, b: lax.floor(a),
    "ceil": lambda a, b: lax.ceil(a),
    "round": lambda a, b: lax.round(a, lax.RoundingMethod.TO_NEAREST_EVEN),
    "round away": lambda a, b: lax.round(a, lax.RoundingMethod.AWAY_FROM_ZERO),
    "is_finite": lambda a, b: lax.is_finite(a),
    "clamp": lambda a, b: lax.clamp(lax.full_like(a, -0.75), a, lax.full_like(a, 2.5)),
    "select_n": lambda a, b: lax.select_n(lax.lt(a, b), a, b),
    "integer_pow": lambda a, b: lax.integer_pow(a, 7),
    "integer_pow below": lambda a, b: lax.integer_pow(a, -3),
    "convert_element_type": lambda a, b: lax.convert_element_type(a, np.int64),
    "convert to int32": lambda a, b: lax.convert_element_type(a, np.int32),
    "convert to bool": lambda a, b: lax.convert_element_type(a, np.bool_),
    "bitcast_convert_type": lambda a, b: lax.bitcast_convert_type(a, np.int64),
    "copy": lambda a, b: lax.copy_p.bind(a),
    "add_any": lambda a, b: jax.linearize(lambda x: lax.add(lax.mul(x, a), lax.mul(x, b)), b)[1](a),
}

WHOLE_NUMBERS: dict[str, Callable] = {
    "add": lax.add,
    "sub": lax.sub,
    "mul": lax.mul,
    "max": lax.max,
    "min": lax.min,
    "lt": lax.lt,
    "ge": lax.ge,
    "eq": lax.eq,
    "neg": lambda i, j: lax.neg(i),
    "abs": lambda i, j: lax.abs(i),
    "sign": lambda i, j: lax.sign(i),
    "div": lambda i, j: lax.div(i, lax.full_like(i, 7)),
    "rem": lambda i, j: lax.rem(i, lax.full_like(i, 7)),
    "and": lax.bitwise_and,
    "or": lax.bitwise_or,
    "xor": lax.bitwise_xor,
    "not": lambda i, j: lax.bitwise_not(i),
    "shift_left": lambda i, j: lax.shift_left(i, lax.full_like(i, 5)),
    "shift_right_arithmetic": lambda i, j: lax.shift_right_arithmetic(i, lax.full_like(i, 5)),
    "shift_right_logical": lambda i, j: lax.shift_right_logical(i, lax.full_like(i, 5)),
    "shift by lanes": lambda i, j: lax.shift_left(i, lax.bitwise_and(j, lax.full_like(j, 15))),
    "convert": lambda i, j: lax.convert_element_type(i, np.float64),
    "clamp": lambda i, j: lax.clamp(lax.full_like(i, -3), i, lax.full_like(i, 100)),
    "narrow": lambda i, j: lax.convert_element_type(i, np.int32),
    "widen": lambda i, j: lax.convert_element_type(lax.convert_element_type(i, np.int32), np.int64),
    "truth": lambda i, j: lax.convert_element_type(i, np.bool_),
}

TRUTH: dict[str, Callable] = {
    "and": lax.bitwise_and,
    "or": lax.bitwise_or,
    "xor": lax.bitwise_xor,
    "not": lambda p, q: lax.bitwise_not(p),
    "eq": lax.eq,
    "ne": lax.ne,
    "lt": lax.lt,
    "le": lax.le,
    "gt": lax.gt,
    "ge": lax.ge,
    "max": lax.max,
    "min": lax.min,
    "to double": lambda p, q: lax.convert_element_type(p, np.float64),
    "to int": lambda p, q: lax.convert_element_type(p, np.int64),
    "to int32": lambda p, q: lax.convert_element_type(p, np.int32),
    "select": lambda p, q: lax.select_n(p, q, lax.bitwise_not(q)),
}


NUMPY: dict[str, Callable] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "max": np.maximum,
    "min": np.minimum,
    "lt": np.less,
    "eq": np.equal,
    "neg": lambda a, b: np.negative(a),
    "square": lambda a, b: a * a,
    "sqrt": lambda a, b: np.sqrt(a),
    "rsqrt": lambda a, b: 1.0 / np.sqrt(a),
    "abs": lambda a, b: np.abs(a),
    "sign": lambda a, b: np.where(a == 0.0, a, np.sign(a)),
    "floor": lambda a, b: np.floor(a),
    "ceil": lambda a, b: np.ceil(a),
    "round": lambda a, b: np.round(a),
    "is_finite": lambda a, b: np.isfinite(a),
    "convert to bool": lambda a, b: a != 0.0,
    "bitcast_convert_type": lambda a, b: a.view(np.int64),
}
"""What is strict about subnormal numbers, which XLA takes for zeros."""


def is_subnormal(x) -> np.ndarray:
    x = np.asarray(x)
    return (x != 0.0) & (np.abs(x) < TINY) if x.dtype.kind == "f" else np.zeros(x.shape, dtype=bool)


def test_subnormal_numbers_count():
    """Against NumPy, on all pairs."""
    a, b = doubles()
    found = in_lanes(lambda a, b: {name: REAL[name](a, b) for name in NUMPY}, (a, b))
    with np.errstate(all="ignore"):
        for name, case in NUMPY.items():
            assert same(found[name], case(a, b), signs=name not in ("max", "min")), name


def test_every_operation_is_among_the_cases():
    """An operation added to the table must be added here."""
    assert set(OPERATIONS) <= {*REAL, *WHOLE_NUMBERS}


@pytest.mark.parametrize("runner", [in_lanes, one_by_one])
@pytest.mark.parametrize(
    ("cases", "operands"),
    [
        (REAL, doubles()),
        (WHOLE_NUMBERS, tuple(np.random.default_rng(5).integers(-(2**62), 2**62, size=(2, 32)))),
        (WHOLE_NUMBERS, tuple(np.random.default_rng(6).integers(-10, 10, size=(2, 32)))),
        (TRUTH, (np.array([False, True] * 4), np.array([False, False, True, True] * 2))),
    ],
    ids=["real", "large integers", "small integers", "truth"],
)
def test_elementwise_operations_are_those_of_jax(cases, operands, runner):
    """Arithmetic, comparisons, rounding and conversions are exact on ordinary and on special numbers."""
    found = runner(lambda a, b: {name: case(a, b) for name, case in cases.items()}, operands)
    a, b = map(jnp.asarray, operands)
    wrong = {}
    for name, case in cases.items():
        if name == "rsqrt":  # XLA has an inverse root of its own, which differs by a unit in the last place.
            continue
        wanted, signs = np.asarray(case(a, b)), name not in ("max", "min", "clamp")
        tiny = is_subnormal(operands[0]) | is_subnormal(operands[1]) | is_subnormal(found[name])
        bad = [k for k in np.flatnonzero(~tiny) if not same(found[name][k], wanted[k], signs=signs)]
        if bad:
            wrong[name] = [(a[k].item(), b[k].item(), found[name][k], wanted[k]) for k in bad[:6]]
    assert not wrong


FUNCTIONS: dict[str, Callable] = {name: getattr(lax, name) for name in ELEMENTARY}


def arguments() -> tuple[np.ndarray, np.ndarray]:
    x = np.concatenate(
        [SPECIAL, random(11, 60), random(12, 40) * 1e3, np.random.default_rng(13).uniform(-1, 1, 53)]
    )
    y = np.concatenate([SPECIAL[::-1], random(14, len(x) - len(SPECIAL))])
    keep = len(x) // 16 * 16
    return x[:keep], y[:keep]


def all_functions(x, y):
    return {name: f(x, y) if name in ("pow", "atan2") else f(x) for name, f in FUNCTIONS.items()}


@pytest.mark.parametrize("width", [1, 4, 8, 16])
def test_elementary_functions_have_the_bits_of_their_traces(width):
    """Every width gives what the same operations give one by one in NumPy, and that is accurate."""
    x, y = arguments()
    exact_of = EXACT | {"atan2": mpmath.atan2, "pow": mpmath.power}
    found = one_by_one(all_functions, (x, y)) if width == 1 else in_lanes(all_functions, (x, y), width)
    for name, function in ELEMENTARY.items():
        operands = (x, y) if name in ("pow", "atan2") else (x,)
        assert same(found[name], strictly(function, *operands)), name
        if width != 8:
            continue
        inside = [k for k in range(len(SPECIAL), len(x)) if np.isfinite(found[name][k])][:25]
        assert inside
        with mpmath.workdps(50):
            for k in inside:
                exact = exact_of[name](*[mpf(float(one[k])) for one in operands])
                assert ulps(found[name][k], exact) <= BOUNDS[name], (name, x[k], y[k])


def power(x: float, y: float) -> float:
    """The power of the C library, with its infinities."""
    try:
        return math.pow(x, y)
    except ValueError:  # Zero to a negative power, or a root of a negative number.
        return math.nan if x != 0.0 else math.copysign(math.inf, x if y % 2.0 == 1.0 else 1.0)
    except OverflowError:
        return math.copysign(math.inf, x if y % 2.0 == 1.0 else 1.0)


@pytest.mark.parametrize("exponent", [0.5, -0.5, 1.5, 2.0, -1.0, 2.5, -3.0])
def test_simple_powers_are_accurate_and_special_values_right(exponent):
    """A power with a known exponent of halves needs no logarithm, and has the special values of a power."""
    x = np.array([*SPECIAL, 3.0])
    found = in_lanes(lambda a: lax.pow(a, jnp.float64(exponent)), (x,))
    wanted = np.array([power(float(one), exponent) for one in x])
    np.testing.assert_allclose(found, wanted, rtol=4e-16, atol=1e-323)
    assert np.array_equal(np.signbit(found[~np.isnan(found)]), np.signbit(wanted[~np.isnan(wanted)]))


# Loops.


def step(x, a):
    return 0.9 * x + a * x[::-1]


def scanned(length: int, reverse: bool, stacked: bool) -> Callable:
    def function(x, rows):
        def body(carry, row):
            new = step(carry, row[0]) + row
            return new, (new * 2.0, row[1]) if stacked else None

        return lax.scan(body, x, rows[:length], reverse=reverse)

    return function


@pytest.mark.parametrize("length", [1, 3, 50])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("stacked", [False, True])
def test_scan(length, reverse, stacked):
    """Loops of known length, written out or not."""
    check(
        scanned(length, reverse, stacked),
        random(1, LANES, 3),
        random(2, LANES, 50, 3),
        rtol=1e-13,
        atol=1e-12,
    )


def test_scan_of_long_rows_and_of_a_row_number_alone():
    """Outputs longer than what registers hold, and a loop without operands."""

    def function(x):
        def body(carry, k):
            return carry * 0.5 + 1.0, jnp.outer(carry, carry).ravel() * k

        _, rows = lax.scan(body, x, jnp.arange(40.0))
        again, _ = lax.scan(lambda c, row: (c + row[3], None), x[0], rows)
        return again, rows

    check(function, random(3, LANES, 5), rtol=1e-14)


def test_nested_scan():
    def function(x):
        def inner(carry, k):
            return carry * 0.75 + jnp.sin(k), carry

        def outer(carry, k):
            end, rows = lax.scan(inner, carry + k, jnp.arange(20.0))
            return end, rows[::5]

        return lax.scan(outer, x, jnp.arange(30.0), reverse=True)

    check(function, random(3, LANES), rtol=1e-14)


def test_while_whose_lanes_end_at_different_turns():
    """A run that is done keeps what it has while others go on."""

    def function(x, limit):
        return lax.while_loop(
            lambda c: c[1] < limit,
            lambda c: (c[0] * 1.5 - 0.25, c[1] + 1, c[1] * 2),
            (x, jnp.int64(0), jnp.int64(0)),
        )

    check(function, random(4, LANES), np.array([0, 1, 2, 5, 7, 7, 100, 3]), rtol=1e-14)


def collatz(n):
    """Turns until 1 is reached."""
    even = lambda m: lax.div(m, jnp.int64(2))  # noqa: E731
    odd = lambda m: 3 * m + 1  # noqa: E731
    return lax.while_loop(
        lambda c: c[0] != 1,
        lambda c: (lax.cond(lax.rem(c[0], jnp.int64(2)) == 0, even, odd, c[0]), c[1] + 1),
        (n, jnp.int64(0)),
    )[1]


def test_while_in_while():
    """Both loops end at different turns in different lanes."""

    def function(first, count):
        def body(c):
            total, n = c
            return total + collatz(n), n + 1

        return lax.while_loop(lambda c: c[1] < first + count, body, (jnp.int64(0), first))

    check(function, np.array([1, 27, 3, 9, 97, 6, 7, 8]), np.array([5, 1, 0, 7, 2, 30, 4, 1]))


def test_while_in_cond_where_the_loop_would_never_end_in_other_lanes():
    """A branch that a run does not take is not run for it."""

    def function(n, x):
        return lax.cond(n > 0, lambda: (collatz(n), x), lambda: (-n, -x))

    check(function, np.array([1, 27, -3, 9, 0, -6, 7, -8]), random(5, LANES))
    check(function, np.array([-1, -27, -3, 0, 0, -6, -7, -8]), random(5, LANES))


def heavy(x, k):
    def body(c, row):
        return jnp.cos(c) * k + row, None

    return lax.scan(body, x, jnp.arange(30.0))[0]


@pytest.mark.parametrize("index", [[0, 1, 2, 2, 1, 0, 1, 1], [2] * 8, [-5, 7, 1, 0, 2, 100, -1, 1]])
@pytest.mark.parametrize("branch", [lambda x, k: x * k, heavy], ids=["light", "heavy"])
def test_switch(index, branch):
    """Runs that agree, that disagree, and an index outside, which is clamped."""

    def function(which, x):
        branches = [lambda x, k=k: (branch(x, k), jnp.float64(k)) for k in (0.1, 0.2, 0.3)]
        return lax.switch(which, branches, x)

    check(function, np.array(index), random(6, LANES, 4), rtol=1e-13)


def test_cond_by_a_condition_that_all_runs_share():
    """Such a branch is taken or not, without a selection."""

    def function(model, grid, run):
        return lax.cond(grid > 0.0, lambda x: heavy(x, 0.5), lambda x: (x + 1.0) * grid, run)

    runs = random(7, LANES, 3)
    program = NativeProgram(function, (), np.float64(1.0), runs[0], width=LANES, fast=False)
    for grid in (2.0, -2.0):
        found = program(program.block((), np.float64(grid)), runs)
        wanted = [jax.jit(function)((), jnp.float64(grid), jnp.asarray(run)) for run in runs]
        np.testing.assert_allclose(found, np.stack(wanted), rtol=1e-13)


# Buffers and indices.

COUNTS = np.array([5, 4, 3, 2, 1, 0, 5, 4])
"""Turns of a loop, in each lane."""


@pytest.mark.parametrize("rows", [4, 700])
@pytest.mark.parametrize("columns", [1, 3])
def test_buffer_written_in_a_loop(rows, columns):
    """Rows at a run-time index, of a short buffer and of one in memory; lanes write different counts."""

    def function(x, count):
        def body(k, c):
            x, buffer = c
            return step(x, 0.1), buffer.at[k].set(x)

        return lax.fori_loop(0, count, body, (x, jnp.zeros((rows, columns))))

    check(function, random(8, LANES, columns), np.array([0, 1, 2, 3, 4, 4, 1, 0]), rtol=1e-14)


@pytest.mark.parametrize("size", [8, 700])
def test_buffer_that_is_read_before_and_after_it_is_written(size):
    """The value before a write is that before, though the buffer is written in place."""

    def function(x, shift, count):
        def body(k, c):
            total, buffer = c
            new = buffer.at[k + shift].set(x * k.astype(float))
            return total + buffer[k + shift] - 2.0 * new[k], new.at[k + 1].add(buffer[k])

        return lax.fori_loop(0, count, body, (x, jnp.full(size, 2.0)))

    check(function, random(9, LANES), np.arange(LANES) % 3, COUNTS, rtol=1e-14)


@pytest.mark.parametrize("size", [8, 700])
def test_buffers_that_change_places(size):
    """A loop that swaps what it carries."""

    def function(x, count):
        a, b = jnp.full(size, 1.0) * x, jnp.full(size, 2.0)
        return (
            lax.fori_loop(0, count, lambda k, c: (c[1], c[0]), (a, b)),
            lax.fori_loop(0, count, lambda k, c: (c[1], c[0].at[k].add(1.0)), (a, b)),
            lax.fori_loop(0, count, lambda k, c: (c[1], c[2].at[k].set(x), c[0]), (a, b, a)),
        )

    check(function, random(9, LANES), COUNTS)
    check(lambda x: function(x, 140), random(9, LANES))


@pytest.mark.parametrize("size", [8, 700])
def test_buffers_that_begin_as_one(size):
    """One array carried twice is two arrays from then on, and the loop's start is still there after it."""

    def function(x, count):
        a = lax.fori_loop(0, count, lambda k, c: c.at[k].set(x), jnp.full(size, 1.0))
        b, c = lax.fori_loop(0, count, lambda k, c: (c[0].at[k].set(2.0 * x), c[1].at[k].add(x)), (a, a))
        d = lax.fori_loop(0, count, lambda k, d: d.at[k].set(2.0 * d[k] + d[k + 1]), b)
        return a[:5], b[:5], c[:5], d[:5]

    check(function, random(9, LANES), COUNTS)


@pytest.mark.parametrize("size", [8, 700])
def test_buffer_in_a_while_whose_lanes_end_at_different_turns(size):
    """A run that is done writes nothing more, neither by its own index nor by one that all share."""

    def function(x, limit):
        def body(c):
            n, a, b = c
            return n + 1, a.at[n].set(x), b.at[3].add(x * n.astype(float))

        return lax.while_loop(lambda c: c[0] < limit, body, (jnp.int64(0), jnp.zeros(size), jnp.ones(size)))

    check(function, random(10, LANES), np.array([0, 1, 2, 5, 7, 7, 6, 3]), rtol=1e-14)


def test_buffer_of_integers_and_of_truth_values():
    def function(i, p):
        def body(k, c):
            whole, truth = c
            return whole.at[k].set(i * k), truth.at[k].set(p | (k > 3))

        return lax.fori_loop(0, 6, body, (jnp.zeros(600, dtype=jnp.int64), jnp.zeros(600, dtype=bool)))

    check(function, np.arange(LANES), np.arange(LANES) % 2 == 0)


@pytest.mark.parametrize("size", [6, 40, 700])
def test_moves_by_indices_inside_and_outside(size):
    """Slices are clamped; reads outside give NaN, writes outside are dropped, or clamped if asked for."""

    def function(array, i, x):
        return {
            "slice": lax.dynamic_slice(array, (i,), (3,)),
            "take": array[i],
            "clip": array.at[i].get(mode="clip"),
            "fill": array.at[i].get(mode="fill", fill_value=-1.0),
            "several": array[jnp.stack([i, i + 1, jnp.int64(2)])],
            "update": lax.dynamic_update_slice(array, jnp.stack([x, -x]), (i,))[:6],
            "set": array.at[i].set(x)[:6],
            "set clip": array.at[i].set(x, mode="clip")[:6],
            "add": array.at[i].add(x)[:6],
            "add twice": array.at[jnp.stack([i, i, jnp.int64(1)])].add(jnp.stack([x, 2.0 * x, 1.0]))[:6],
        }

    last = size - 1
    check(
        function,
        random(1, LANES, size),
        np.array([0, 1, 2, last, last + 1, -1, -size - 1, 5]),
        random(2, LANES),
    )


@pytest.mark.parametrize("shape", [(3, 4), (30, 30)])
def test_moves_in_matrices(shape):
    def function(array, i, j):
        return {
            "row": array[i, :3],
            "column": array[:3, j],
            "element": array[i, j],
            "window": lax.dynamic_slice(array, (i, j), (2, 2)),
            "set row": array.at[i].set(2.0)[:3, :3],
            "set": array.at[i, j].set(2.0)[:3, :3],
            "add": array.at[i, j].add(array[j, i])[:3, :3],
        }

    places = np.array([0, 1, 2, 2, 0, 1, -1, 7]), np.array([2, 1, 0, 2, 1, -1, 0, 3])
    check(function, random(1, LANES, *shape), *places)


def test_first_truth_by_its_place():
    """The largest of truth values is the true one."""
    truth = np.random.default_rng(2).integers(0, 2, size=(LANES, 5)).astype(bool)
    check(lambda p: (jnp.argmax(p), jnp.argmin(p), p.max(), p.min()), truth)


def test_indices_of_integers_and_truth_values():
    """What stands outside an array of integers or truth values is what JAX has there."""

    def function(whole, truth, i):
        both = jnp.stack([i, i + 1])
        filled = whole.at[i].get(mode="fill", fill_value=7), whole.at[i].get(mode="fill")
        return whole[i], whole[both], whole.at[i].get(mode="clip"), *filled, truth[i], truth[both]

    whole = np.random.default_rng(1).integers(-9, 9, size=(LANES, 5))
    truth = np.random.default_rng(2).integers(0, 2, size=(LANES, 5)).astype(bool)
    check(function, whole, truth, np.array([0, 1, 2, 3, 4, -1, -5, 2]))
    check(function, whole, truth, np.array([5, 9, 2, 3, 4, -6, -5, 2]))


def test_arrays_of_the_program_read_by_an_index():
    """A table of constants."""
    table, names = np.arange(20.0) ** 2, np.arange(20) % 7

    def function(i):
        return jnp.asarray(table)[i], jnp.asarray(names)[i]

    check(function, np.array([0, 1, 19, 7, -1, 5, 12, 3]))


def test_place_of_the_largest_and_the_smallest():
    """NaN counts as the largest and as the smallest; of equal ones the first is taken."""
    array = random(3, LANES, 6)
    array[1, 3] = array[2, 0] = array[3, 5] = array[4, [2, 4]] = np.nan
    array[5, [1, 4]], array[6, [0, 5]], array[7] = 9.0, -9.0, 0.0

    def function(x):
        return jnp.argmax(x), jnp.argmin(x), jnp.argmax(x.reshape(2, 3), axis=0)

    check(function, array)


def test_reductions():
    """Sums, products, extremes and truth over axes, one of them NaN."""
    array = random(3, LANES, 2, 3)
    array[1, 0, 2] = np.nan

    def function(x):
        truth = x > 0.0
        return {
            "sum": x.sum(axis=1),
            "product": x.prod(axis=0),
            "max": x.max(axis=0),
            "min": x.min(),
            "any": truth.any(axis=1),
            "all": truth.all(axis=0),
            "count": truth.sum(),
        }

    check(function, array, rtol=1e-15)


@pytest.mark.parametrize("size", [1, 2, 3, 6])
def test_small_linear_solves(size):
    """Against the product, and against JAX."""
    a, b = random(4, LANES, size, size), random(5, LANES, size)
    check(solve_small, a, b, rtol=1e-11)
    found = in_lanes(solve_small, (a, b))
    np.testing.assert_allclose(np.einsum("kij,kj->ki", a, found), b, rtol=1e-10, atol=1e-12)


def test_solve_that_needs_rows_exchanged():
    """A zero on the diagonal, in some lanes."""
    a, b = random(4, LANES, 3, 3), random(5, LANES, 3)
    a[::2, 0, 0] = a[1::3, 1, 1] = 0.0
    check(solve_small, a, b, rtol=1e-11)


def test_function_called_often_becomes_a_function_of_the_code(monkeypatch):
    """A large function under `jax.jit` is written once, also where lanes are masked."""

    @jax.jit
    def large(x, a):
        for _ in range(8):
            x = jnp.sin(x) * a + jnp.roll(x, 1) * x
        return x, x[0] > a

    def function(x, a, limit):
        y, first = large(x, a)
        z, second = large(y, 0.5 * a)

        def body(c):
            n, x, flag = c
            x, flag = large(x, a)
            return n + 1, x, flag

        return y, z, first, second, lax.while_loop(lambda c: c[0] < limit, body, (jnp.int64(0), z, first))

    operands = random(6, LANES, 6) * 0.5, random(7, LANES) * 0.5, np.array([0, 1, 2, 3, 0, 1, 5, 2])
    assert "call void @f" not in wide_program(function, operands).text
    check(function, *operands, rtol=1e-11, atol=1e-13)
    monkeypatch.setattr(_emitter, "WRITTEN_OUT", 0)
    assert "call void @f" in wide_program(function, operands).text
    # Another function for the kernel, which remembers the programs that it has made.
    check(lambda *given: function(*given), *operands, rtol=1e-11, atol=1e-13)


def test_derivatives_of_a_loop():
    """Reverse and forward, through a scan, and forward through a while."""

    def loop(x):
        def body(c, k):
            return jnp.sin(c) * 0.9 + 0.1 * k * c[::-1], c[0]

        end, rows = lax.scan(body, x, jnp.arange(12.0))
        return jnp.sum(end**2) + rows.sum()

    def turns(x):
        return lax.while_loop(
            lambda c: c[1] < 6, lambda c: (jnp.cos(c[0]) * c[0], c[1] + 1), (x, jnp.int64(0))
        )[0]

    def function(x, v):
        return jax.grad(loop)(x), jax.jvp(loop, (x,), (v,)), jax.jvp(turns, (x,), (v,)), jax.hessian(loop)(x)

    check(function, random(8, LANES, 2), random(9, LANES, 2), rtol=1e-12, atol=1e-13)


# Numbers that are part of the code, and the cache of programs.


def transform(model, grid, run):
    matrix, scale = model
    return scale * (matrix @ run) + grid


def text_of(matrix, scale) -> str:
    return NativeProgram(
        transform, (matrix, np.float64(scale)), np.float64(0.5), np.ones(3), width=1, fast=False
    ).text


def test_zeros_of_arrays_are_part_of_the_code_and_parameters_are_not():
    full = random(1, 3, 3)
    sparse = full.copy()
    sparse[0, 1] = sparse[2, 2] = 0.0
    assert text_of(full, 2.0) == text_of(2.0 * full, 0.0) == text_of(full, 1.0)
    assert len(text_of(sparse, 2.0)) < len(text_of(full, 2.0))
    unit = np.eye(3)
    assert len(text_of(unit, 2.0)) < len(text_of(2.0 * unit, 2.0))


def test_models_that_differ_in_numbers_share_a_program(monkeypatch):
    """Zeros in the same places are the same program, others another; the results are right all the same."""
    monkeypatch.setattr(_kernel, "_programs", type(_kernel._programs)())
    kernel, run = Kernel("native"), np.array([1.0, -2.0, 3.0])
    sparse, full = random(1, 3, 3), random(2, 3, 3)
    sparse[0, 1] = 0.0

    def result(matrix, scale):
        found = kernel(transform, (matrix, np.float64(scale)), np.float64(0.5), run)
        np.testing.assert_allclose(found, scale * (matrix @ run) + 0.5, rtol=1e-14)
        return len(_kernel._programs)

    counts = [
        result(*one)
        for one in [(full, 2.0), (3.0 * full, 0.0), (full, 1.0), (sparse, 1.0), (2 * sparse, 7.0)]
    ]
    assert counts == [1, 1, 1, 2, 2]


def test_fast_code_may_contract_and_is_another_program():
    function = lambda model, grid, run: run[0] * run[1] + run[2]  # noqa: E731
    texts = [NativeProgram(function, (), (), np.ones(3), width=1, fast=fast).text for fast in (False, True)]
    assert texts[0] != texts[1]


# Refusals.


def with_sort(model, grid, run):
    return jnp.sort(run) * 2.0


def with_callback(model, grid, run):
    jax.debug.callback(lambda x: None, run)
    return run * 2.0


def with_many(model, grid, run):
    total = run
    for k in range(200):
        total = total + run * (k + 0.5)
    return total


@pytest.mark.parametrize(
    ("function", "reason"),
    [(with_sort, "sort"), (with_callback, "calls back into Python"), (with_many, "operations on numbers")],
)
def test_what_has_no_native_form_is_refused(function, reason, monkeypatch):
    """As a program, when native is asked for; otherwise the plain kernel runs and says why."""
    monkeypatch.setattr(_program, "HEAVIEST", 30_000)
    run = random(1, 100)
    with pytest.raises(NotNative, match=reason):
        NativeProgram(function, (), (), run, width=1, fast=False)
    kernel = Kernel("auto")
    assert kernel.native
    np.testing.assert_allclose(kernel(function, (), (), run), function((), (), jnp.asarray(run)), rtol=1e-10)
    assert kernel.description.startswith("plain: ") and reason in kernel.description
    with pytest.raises(InputError, match=reason):
        Kernel("native")(function, (), (), run)


def test_long_code_is_refused(monkeypatch):
    monkeypatch.setattr(_program, "LONGEST", 100)
    with pytest.raises(NotNative, match="the code of the trace has 5.. lines, more than 100"):
        NativeProgram(lambda model, grid, run: run * 2.0, (), (), random(1, 100), width=1, fast=False)


def test_a_known_index_outside_is_that_of_jax_or_refused():
    """A run with `auto` never fails by the choice of its kernel."""

    def function(model, grid, run):
        return run.at[9].set(1.0), run.at[jnp.array([7])].get(mode="fill", fill_value=5.0)

    run = random(1, 4)
    found = Kernel("auto")(function, (), (), run)
    np.testing.assert_array_equal(found[0], run)
    np.testing.assert_array_equal(found[1], [5.0])


@pytest.mark.parametrize("by", [63, 64, 70])
def test_shifts_by_all_bits_and_more(by):
    """Nothing is left, or the sign."""
    shifts = lax.shift_left, lax.shift_right_arithmetic, lax.shift_right_logical
    numbers = np.array([1, -1, 5, -7, 2**62, -(2**62), 0, 3])
    check(lambda i: [shift(i, jnp.int64(by)) for shift in shifts], numbers)
    check(lambda i, j: [shift(i, j) for shift in shifts], numbers, np.full(LANES, by))


def test_choices(monkeypatch):
    monkeypatch.delenv("POINSOT_KERNEL", raising=False)
    nonsense: Any = "nonsense"
    with pytest.raises(InputError, match="nonsense"):
        Kernel(nonsense)
    assert Kernel().description == "native"
    assert Kernel(fast=True).description == "native, fast"
    monkeypatch.setenv("POINSOT_KERNEL", "plain")
    assert Kernel().description == "plain: asked for"
    assert Kernel("native").native
    monkeypatch.setenv("POINSOT_KERNEL", "nonsense")
    with pytest.raises(InputError, match="POINSOT_KERNEL"):
        Kernel()
