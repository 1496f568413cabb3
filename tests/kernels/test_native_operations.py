"""Native operations on single numbers against JAX and NumPy: arithmetic, conversions, functions."""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from jax import lax
from mpmath import mpf
from native_cases import LANES, check, in_lanes, one_by_one, random, same
from test_elementary_functions import BOUNDS, EXACT, strictly, ulps

from poinsot.kernels.native._elementary import ELEMENTARY
from poinsot.kernels.native._operations import OPERATIONS

TINY, HUGE, SUBNORMAL = np.finfo(float).tiny, np.finfo(float).max, 5e-324
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, TINY, -TINY, SUBNORMAL, -SUBNORMAL, 1e-310]
SPECIAL += [HUGE, -HUGE, 1e300, 4503599627370497.5, 1e19, -1e19, np.inf, -np.inf, np.nan, 0.49999999999999994]


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


@pytest.mark.parametrize("by", [63, 64, 70])
def test_shifts_by_all_bits_and_more(by):
    """Nothing is left, or the sign."""
    shifts = lax.shift_left, lax.shift_right_arithmetic, lax.shift_right_logical
    numbers = np.array([1, -1, 5, -7, 2**62, -(2**62), 0, 3])
    check(lambda i: [shift(i, jnp.int64(by)) for shift in shifts], numbers)
    check(lambda i, j: [shift(i, j) for shift in shifts], numbers, np.full(LANES, by))
