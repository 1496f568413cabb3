"""The elementary functions against mpmath in units of the last place, evaluated operation by operation."""

import collections
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import scipy.special
from jax.extend.core import Literal
from mpmath import mpf

from poinsot.kernels.native import _elementary, _trigonometric
from poinsot.kernels.native._elementary import ELEMENTARY

POINTS = 1500
"""Random points for each of a function's regions."""

BOUNDS = dict.fromkeys(ELEMENTARY, 1.0) | dict.fromkeys(
    ["pow", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "logistic", "erf"], 2.0
)


def _unsigned(operation: Callable) -> Callable:
    def shift(n, count):
        return operation(np.asarray(n).view(np.uint64), np.asarray(count).view(np.uint64)).view(np.int64)

    return shift


# Strict double arithmetic: XLA on a processor may contract a product and a sum, NumPy never does.
OPERATIONS: dict[str, Callable] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "floor": np.floor,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "max": np.maximum,
    "min": np.minimum,
    "shift_left": _unsigned(np.left_shift),
    "shift_right_logical": _unsigned(np.right_shift),
    "shift_right_arithmetic": np.right_shift,
    "select_n": lambda condition, no, yes: np.where(condition, yes, no),
}


def evaluate(jaxpr, constants: Sequence, *arguments: np.ndarray) -> list[np.ndarray]:
    """Evaluate the trace of a scalar function on arrays; of a branch, both ways are taken."""
    values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*constants, *arguments], strict=True))
    for equation in jaxpr.eqns:
        name, params = equation.primitive.name, equation.params
        operands = [v.val if isinstance(v, Literal) else values[v] for v in equation.invars]
        if name == "cond":
            no, yes = [evaluate(b.jaxpr, b.consts, *operands[1:]) for b in params["branches"]]
            results = [np.where(operands[0] != 0, y, n) for n, y in zip(no, yes, strict=True)]
        elif name == "dynamic_slice":
            table, index = operands
            assert np.all((index >= 0) & (index < len(table)))
            results = [table[index]]
        elif name == "squeeze":
            results = operands
        elif name == "bitcast_convert_type":
            results = [np.ascontiguousarray(operands[0]).view(params["new_dtype"])]
        elif name == "convert_element_type":
            results = [np.asarray(operands[0]).astype(params["new_dtype"])]
        else:
            results = [OPERATIONS[name](*operands)]
        values.update(zip(equation.outvars, results, strict=True))
    return [values[v] for v in jaxpr.outvars]


def strictly(function: Callable, *arguments) -> np.ndarray:
    """Return a scalar function's values on arrays, each operation rounded by itself."""
    trace = jax.make_jaxpr(function)(*[jnp.float64(1.0)] * len(arguments))
    with np.errstate(all="ignore"):
        (result,) = evaluate(trace.jaxpr, trace.consts, *[np.asarray(a, dtype=np.float64) for a in arguments])
    return result


def ulps(value: float, exact) -> float:
    """Return the distance of a finite value from the exact one in units of the latter's last place."""
    largest = mpf(np.finfo(np.float64).max)
    if not np.isfinite(value):
        # Infinity is right from half a unit beyond the largest number on.
        return 0.0 if abs(exact) >= largest + mpf(2) ** 970 and (value > 0) == (exact > 0) else np.inf
    exponent = mpmath.frexp(exact)[1] if exact else -2000
    return float(abs(mpf(value) - exact) / mpf(2) ** max(exponent - 53, -1074))


def worst(function: Callable, exact: Callable, *arguments) -> float:
    """Return the largest error of a scalar function on finite arguments, in units of the last place."""
    results = strictly(function, *arguments)
    with mpmath.workdps(50):
        rows = zip(results, *arguments, strict=True)
        return max(ulps(r, exact(*[mpf(float(a)) for a in row])) for r, *row in rows)


def exact_logistic(x):
    return 1 / (1 + mpmath.exp(-x))


def exact_sine(x):
    """The sine at a precision that a huge argument needs."""
    with mpmath.workprec(1300):
        return mpmath.sin(x)


def exact_cosine(x):
    with mpmath.workprec(1300):
        return mpmath.cos(x)


def exact_tangent(x):
    with mpmath.workprec(1300):
        return mpmath.tan(x)


def exact_expm1(x):
    with mpmath.workprec(200 + (0 if x == 0 else max(0, -mpmath.frexp(x)[1]))):
        return mpmath.exp(x) - 1


def exact_by_series(function: Callable, third: mpf) -> Callable:
    """Replace an odd function of a tiny number, where mpmath would cancel, by two terms of its series."""
    return lambda x: x + third * x**3 if abs(x) < mpf(2) ** -60 else function(x)


def exact_cube_root(x):
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


EXACT = {
    "sin": exact_sine,
    "cos": exact_cosine,
    "tan": exact_tangent,
    "exp": mpmath.exp,
    "exp2": lambda x: mpf(2) ** x,
    "expm1": exact_expm1,
    "log": mpmath.log,
    "log1p": mpmath.log1p,
    "asin": exact_by_series(mpmath.asin, mpf(1) / 6),
    "acos": mpmath.acos,
    "atan": exact_by_series(mpmath.atan, -mpf(1) / 3),
    "cbrt": exact_cube_root,
    "sinh": exact_by_series(mpmath.sinh, mpf(1) / 6),
    "cosh": mpmath.cosh,
    "tanh": exact_by_series(mpmath.tanh, -mpf(1) / 3),
    "asinh": exact_by_series(mpmath.asinh, -mpf(1) / 6),
    "acosh": mpmath.acosh,
    "atanh": exact_by_series(mpmath.atanh, mpf(1) / 3),
    "logistic": exact_logistic,
    "erf": mpmath.erf,
}

RANDOM = np.random.default_rng(20)


def uniform(low: float, high: float, count: int = POINTS) -> np.ndarray:
    return RANDOM.uniform(low, high, count)


def magnitudes(low: float, high: float, count: int = POINTS) -> np.ndarray:
    """Return positive numbers whose binary logarithms are uniform."""
    return 2.0 ** uniform(low, high, count)


def signed(x: np.ndarray) -> np.ndarray:
    return np.where(RANDOM.random(x.shape) < 0.5, -x, x)


def near_quarter_turns() -> np.ndarray:
    """Return the doubles around multiples of pi/2, up to the end of the short reduction and beyond."""
    multiples = np.concatenate(
        [np.arange(-20, 21), RANDOM.integers(-63000, 63000, 150), 2 ** np.arange(17, 50)]
    )
    centre = multiples * (np.pi / 2)
    return np.concatenate([centre, np.nextafter(centre, np.inf), np.nextafter(centre, -np.inf)])


SUBNORMAL = [5e-324, -5e-324, 1.5e-310, -2.2250738585072014e-308]
TRIGONOMETRIC = [
    uniform(-0.8, 0.8),
    uniform(-10.0, 10.0),
    uniform(-1e5, 1e5),
    near_quarter_turns(),
    signed(magnitudes(-1074, 17)),
    signed(magnitudes(16, 1023.9)),
    # The double nearest to a multiple of pi/2 relative to its own distance from zero.
    np.array([6381956970095103 * 2.0**797, -6381956970095103 * 2.0**797, 1e5, np.nextafter(1e5, np.inf)]),
    np.array([1.7976931348623157e308, -1e22, 1e300, *SUBNORMAL]),
]
REGIONS = {
    "sin": TRIGONOMETRIC,
    "cos": TRIGONOMETRIC,
    "tan": TRIGONOMETRIC,
    "exp": [
        uniform(-1, 1),
        uniform(-745.2, 709.9),
        uniform(-745.5, -708),
        signed(magnitudes(-1074, 9.4)),
        [709.782712893384, 709.7827128933841, -745.1332191019411, -745.1332191019412, *SUBNORMAL],
    ],
    "exp2": [
        uniform(-1, 1),
        uniform(-1075, 1024),
        uniform(-1075, -1020),
        signed(magnitudes(-1074, 10)),
        [1024.0, np.nextafter(1024, 0), -1074.0, -1075.0, -1022.5, 3.0, *SUBNORMAL],
    ],
    "expm1": [
        uniform(-1, 1),
        uniform(0.3, 0.5),
        uniform(-40, 709.9),
        signed(magnitudes(-1074, 9.4)),
        [709.782712893384, 709.7827128933841, -745.0, *SUBNORMAL],
    ],
    "log": [
        uniform(0.5, 2),
        uniform(0.0, 100.0),
        magnitudes(-1074, 1024),
        1 + signed(magnitudes(-52, -1)),
        [5e-324, 1.5e-310, 1.7976931348623157e308, np.nextafter(1, 0), np.nextafter(1, 2), 1.0],
    ],
    "log1p": [
        uniform(-1, 2),
        magnitudes(-1074, 1024),
        -magnitudes(-1074, 0),
        -1 + magnitudes(-53, -1),
        [np.nextafter(-1, 0), 1.7976931348623157e308, 1.3e308, *SUBNORMAL],
    ],
    "asin": [
        uniform(-1, 1),
        uniform(0.4, 0.6),
        signed(magnitudes(-1074, 0)),
        1 - magnitudes(-53, -1),
        SUBNORMAL,
    ],
    "acos": [
        uniform(-1, 1),
        uniform(0.4, 0.6),
        signed(magnitudes(-1074, 0)),
        signed(1 - magnitudes(-53, -1)),
    ],
    "atan": [uniform(-3, 3), uniform(0.3, 0.6), signed(magnitudes(-1074, 1024)), SUBNORMAL],
    "cbrt": [uniform(-10, 10), signed(magnitudes(-1074, 1024)), magnitudes(-1074, -1020), SUBNORMAL],
    "sinh": [uniform(-2, 2), uniform(-710.5, 710.5), signed(magnitudes(-1074, 9.4)), SUBNORMAL],
    "cosh": [uniform(-2, 2), uniform(-710.5, 710.5), signed(magnitudes(-1074, 9.4)), SUBNORMAL],
    "tanh": [uniform(-2, 2), uniform(0.5, 0.6), signed(magnitudes(-1074, 5)), SUBNORMAL],
    "asinh": [uniform(-4, 4), signed(magnitudes(-1074, 1024)), signed(magnitudes(-30, -20)), SUBNORMAL],
    "acosh": [uniform(1, 4), magnitudes(0, 1024), 1 + magnitudes(-52, 2), [1.0, 1.7976931348623157e308]],
    "atanh": [uniform(-1, 1), signed(magnitudes(-1074, 0)), 1 - magnitudes(-53, 0), SUBNORMAL],
    "logistic": [uniform(-4, 4), uniform(-745.5, 40), signed(magnitudes(-1074, 9.4)), SUBNORMAL],
    "erf": [uniform(-1.5, 1.5), uniform(-6.5, 6.5), signed(magnitudes(-1020, 4)), SUBNORMAL],
}


@pytest.mark.parametrize("name", EXACT)
def test_error_stays_below_the_bound_in_every_region(name):
    for region in REGIONS[name]:
        assert worst(ELEMENTARY[name], EXACT[name], np.asarray(region, dtype=np.float64)) <= BOUNDS[name]


def test_atan2_is_accurate_for_any_two_magnitudes():
    wide = signed(magnitudes(-1074, 1024)), signed(magnitudes(-1074, 1024))
    near = magnitudes(-1070, 1020)
    pairs = [
        (uniform(-1, 1), uniform(-1, 1)),
        wide,
        (signed(near * uniform(0.3, 3.0)), signed(near)),
        (uniform(-1e-300, 1e-300), uniform(1e5, 1e20)),
        (np.array([5e-324, 1.7e308, 1.7e308, 2e-323]), np.array([5e-324, 1.7e308, -1.6e308, -5e-324])),
    ]

    def exact(y, x):
        return y / x if x > 0 and abs(y / x) < mpf(2) ** -60 else mpmath.atan2(y, x)

    for y, x in pairs:
        assert worst(ELEMENTARY["atan2"], exact, y, x) <= BOUNDS["atan2"]


def test_pow_is_accurate_wherever_its_result_is_finite():
    wide, near = magnitudes(-1074, 1024), 1 + signed(magnitudes(-50, -2))
    middle = uniform(0.5, 2.0)
    pairs = [
        (uniform(0, 10), uniform(-5, 5)),
        (wide, uniform(-745, 709) / np.log(wide)),
        (wide, uniform(-745, -700) / np.log(wide)),
        (middle, uniform(-745, 709) / np.log(middle)),
        (near, uniform(-745, 709) / np.log(near)),
        (-uniform(0, 10), np.floor(uniform(-20, 20))),
        (wide, signed(magnitudes(-1074, -8))),
    ]
    for x, y in pairs:
        assert worst(ELEMENTARY["pow"], mpmath.power, x, y) <= BOUNDS["pow"]


def test_pow_of_small_whole_numbers_is_exact():
    x, y = (a.ravel() for a in np.meshgrid(np.arange(1.0, 40.0), np.arange(0.0, 8.0)))
    np.testing.assert_array_equal(strictly(ELEMENTARY["pow"], x, y), x**y)


def assert_same(result: np.ndarray, expected: np.ndarray, names: Sequence):
    """Compare special values: within two units in the last place, with equal signs of zeros."""
    np.testing.assert_allclose(result, expected, rtol=4.5e-16, atol=0, err_msg=str(names))
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(
        np.signbit(result)[number], np.signbit(expected)[number], err_msg=str(names)
    )


NUMPY = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "cbrt": np.cbrt,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "logistic": scipy.special.expit,
    "erf": scipy.special.erf,
}
SPECIAL = np.array([0.0, 1.0, 2.0, 0.5, 5e-324, 1e-308, 1e300, np.inf])
SPECIAL = np.concatenate([SPECIAL, -SPECIAL, [np.nan]])


@pytest.mark.parametrize("name", NUMPY)
def test_special_values_are_those_of_the_standard(name):
    with np.errstate(all="ignore"):
        expected = NUMPY[name](SPECIAL)
    assert_same(strictly(ELEMENTARY[name], SPECIAL), expected, [name, SPECIAL])


@pytest.mark.parametrize("name", ["pow", "atan2"])
def test_special_pairs_are_those_of_the_standard(name):
    more = [3.0, 2.0**53, 2.0**53 - 1, 2.0**54 + 4, 1e20, 0.1, 1.0 + 2.0**-52, 1.0 - 2.0**-53, 1.7e308]
    values = np.concatenate([SPECIAL, more, np.negative(more)])
    x, y = (a.ravel() for a in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        expected = {"pow": np.power, "atan2": np.arctan2}[name](x, y)
    assert_same(strictly(ELEMENTARY[name], x, y), expected, [name])


def primitives(jaxpr) -> collections.Counter:
    """Count the operations of a trace, those of branches among them."""
    counts = collections.Counter(e.primitive.name for e in jaxpr.eqns)
    for equation in jaxpr.eqns:
        for branch in equation.params.get("branches", ()):
            counts += primitives(branch.jaxpr)
    return counts


@pytest.mark.parametrize("name", ELEMENTARY)
def test_trace_holds_basic_operations_only(name):
    arguments = [jnp.float64(1.0)] * (2 if name in ("pow", "atan2") else 1)
    counts = primitives(jax.make_jaxpr(ELEMENTARY[name])(*arguments).jaxpr)
    moves = {"bitcast_convert_type", "convert_element_type", "dynamic_slice", "squeeze", "cond"}
    assert set(counts) <= set(OPERATIONS) | moves
    assert counts["cond"] == (1 if name in ("sin", "cos", "tan") else 0)


def test_sine_and_cosine_come_as_a_pair():
    x = uniform(-10.0, 10.0)
    for i, name in enumerate(["sin", "cos"]):
        pair = strictly(lambda x, i=i: _elementary.sincos(x)[i], x)
        np.testing.assert_array_equal(pair, strictly(ELEMENTARY[name], x))


@pytest.fixture
def _no_traces_kept():
    """Functions whose constants are changed must be traced anew, and again when they are as before."""
    jax.clear_caches()
    yield
    jax.clear_caches()


def test_bound_catches_a_wrong_coefficient(_no_traces_kept, monkeypatch):
    """Negative control: an error of 1e-13 in the last coefficient of the sine."""
    *others, last = _trigonometric._SINE
    monkeypatch.setattr(_trigonometric, "_SINE", (*others, last + 1e-13))
    assert worst(ELEMENTARY["sin"], exact_sine, uniform(-0.8, 0.8)) > BOUNDS["sin"]


def test_bound_catches_a_reduction_without_its_last_part(_no_traces_kept, monkeypatch):
    """Negative control: without the third part of pi/2, sines next to its multiples are wrong."""
    monkeypatch.setattr(_trigonometric, "_PART_3", 0.0)
    assert worst(ELEMENTARY["sin"], exact_sine, near_quarter_turns()) > BOUNDS["sin"]
