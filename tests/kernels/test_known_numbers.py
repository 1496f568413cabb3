"""Numbers that are known while code is written: worked out as JAX does it, and in users' functions kept."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from native_cases import in_lanes, one_by_one, same, users

import poinsot as pt
from poinsot.kernels.native import NativeProgram

REALS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3e9, -3e9, 1e300, -1e300, 2.0**63]
REALS += [-(2.0**63), 2.0**31, -(2.0**31) - 1.0, 2.0**52 + 1.0, 0.49999999999999994, 127.9]
WHOLE = [0, 1, -1, 7, -7, 5, 31, 32, 33, 63, 64, 70, -64, 2**31 - 1, -(2**31)]

REAL = {
    "add": lax.add,
    "sub": lax.sub,
    "mul": lax.mul,
    "div": lax.div,
    "rem": lax.rem,
    "max": lax.max,
    "min": lax.min,
    "nextafter": lax.nextafter,
    "sign": lambda a, b: lax.sign(a),
    "floor": lambda a, b: lax.floor(a),
    "round": lambda a, b: lax.round(a, lax.RoundingMethod.TO_NEAREST_EVEN),
    "round away": lambda a, b: lax.round(a, lax.RoundingMethod.AWAY_FROM_ZERO),
    "clamp": lambda a, b: lax.clamp(lax.full_like(a, -0.0), a, lax.full_like(a, 0.0)),
    "reciprocal cube": lambda a, b: lax.integer_pow(a, -3),
    "to int64": lambda a, b: a.astype(jnp.int64),
    "to int32": lambda a, b: a.astype(jnp.int32),
    "to int8": lambda a, b: a.astype(jnp.int8).astype(int),
    "to uint8": lambda a, b: a.astype(jnp.uint8).astype(int),
    "to bool": lambda a, b: a.astype(bool),
    "bits": lambda a, b: lax.bitcast_convert_type(a, jnp.uint32).astype(int),
}

INTEGER = {
    "add": lax.add,
    "sub": lax.sub,
    "mul": lax.mul,
    "div": lax.div,
    "rem": lax.rem,
    "max": lax.max,
    "floor division": lambda a, b: a // b,
    "modulo": lambda a, b: a % b,
    "abs": lambda a, b: lax.abs(a),
    "neg": lambda a, b: lax.neg(a),
    "sign": lambda a, b: lax.sign(a),
    "cube": lambda a, b: lax.integer_pow(a, 3),
    "shift left": lax.shift_left,
    "shift right": lax.shift_right_arithmetic,
    "shift right logical": lax.shift_right_logical,
    "to int32": lambda a, b: a.astype(jnp.int32),
    "to real": lambda a, b: a.astype(float),
    "choice": lambda a, b: lax.select_n(a.astype(jnp.int32), a, b, a + b, a - b),
}


def pairs(numbers, dtype) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.meshgrid(numbers, numbers)
    return a.ravel().astype(dtype), b.ravel().astype(dtype)


GROUPS = {
    "real": (REAL, pairs(REALS, float)),
    "int64": (INTEGER, pairs([*WHOLE, 2**63 - 1, -(2**63)], np.int64)),
    "int32": (INTEGER, pairs(WHOLE, np.int32)),
}


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("known", [True, False], ids=["constants", "given"])
def test_operations_on_numbers_at_their_limits_are_those_of_jax(group, known):
    """Worked out while code is written, and computed by the code."""
    cases, operands = GROUPS[group]
    if not known:
        cases = {name: case for name, case in cases.items() if name not in ("to int8", "to uint8", "bits")}
    # The division of constants by zero stops XLA: what is wanted is computed of arguments.
    wanted = jax.tree.map(np.asarray, {name: jax.jit(case)(*operands) for name, case in cases.items()})

    @users
    def function(a, b):
        a, b = map(jnp.asarray, operands) if known else (a, b)
        return {name: case(a, b) for name, case in cases.items()}

    if known:
        runs = one_by_one(function, (np.zeros(1), np.zeros(1)))
        found = jax.tree.map(lambda leaf: leaf[0], runs)
    else:
        found = in_lanes(function, tuple(np.resize(one, -(-one.size // 8) * 8) for one in operands))
        found = {name: one[: operands[0].size] for name, one in found.items()}
    wrong = {
        name: np.flatnonzero(found[name] != wanted[name])
        for name in cases
        if not same(found[name], wanted[name])
    }
    assert not {
        name: [(operands[0][k], operands[1][k]) for k in places[:4]] for name, places in wrong.items()
    }


def test_powers_of_numbers_with_one_exponent_for_all():
    """A single operand of a power stands for all places, also where both are constants."""
    found = one_by_one(
        lambda y: (y * 10.0 ** jnp.arange(0.0, -3.0, -1.0), lax.pow(y, y.astype(int))),
        (np.full((1, 3), 2.0),),
    )
    np.testing.assert_allclose(found[0][0], [2.0, 0.2, 0.02], rtol=1e-15)
    assert np.array_equal(found[1][0], [4.0, 4.0, 4.0])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_quotients_by_known_divisors_that_a_processor_stops_at(dtype):
    """Zero, and minus one of the least number."""
    numbers = np.array([7, -7, 0, 1, np.iinfo(dtype).min, np.iinfo(dtype).max, 5, -1], dtype)

    def function(a):
        divisors = [lax.full_like(a, one) for one in (0, -1, 3)]
        return [(lax.div(a, b), lax.rem(a, b)) for b in divisors]

    found = in_lanes(function, (numbers,))
    # XLA itself stops at a constant divisor of zero.
    for (quotient, rest), divisor in zip(found, (0, -1, 3), strict=True):
        given = jnp.full_like(numbers, divisor)
        assert same(quotient, lax.div(jnp.asarray(numbers), given))
        assert same(rest, lax.rem(jnp.asarray(numbers), given))


def test_the_angle_of_nan_and_infinity_is_nan():
    """Within an elementary function a zero times NaN counts too, wherever it is called."""
    y, x = np.array([np.nan, -np.inf, np.nan, np.inf]), np.array([-np.inf, np.nan, 1.0, -np.inf])
    assert same(in_lanes(jnp.arctan2, (y, x), width=4), np.arctan2(y, x))


def two_loops(y):
    """Loops that are put together, which hide a logarithm of a negative number in the second."""
    rows = jnp.arange(9.0)[:, None] * y[None] + y[None]
    _, states = lax.scan(lambda sum, row: (sum + row, sum), y, rows)
    return lax.scan(lambda sum, pair: (sum + 0.0 * jnp.log(pair[0]), None), y, (states, rows))[0]


SINGULAR = {
    "a zero times the inverse": (lambda y: -y + jnp.array([0.0, 1.0]) * (1 / y), [0.0, 1.0]),
    "a zero times a logarithm": (lambda y: 0.0 * jnp.log(y), [-1.0, 1.0]),
    "a zero over zero": (lambda y: 0.0 / y, [0.0, -0.0]),
    "a matrix with zeros": (lambda y: jnp.eye(2) @ (1 / y), [0.0, 1.0]),
    "a gradient": (lambda y: jax.grad(lambda a: 0.0 * jnp.sqrt(a @ a))(y), [0.0, 0.0]),
    "a scan": (lambda y: lax.scan(lambda c, k: (c + 0.0 / y, c), y, jnp.arange(20))[0], [0.0, 1.0]),
    "loops along the same rows": (two_loops, [-1.0, 1.0]),
    "a branch": (lambda y: lax.cond(y[0] > 0, lambda: y, lambda: 0.0 * jnp.log(y)), [-1.0, 1.0]),
    "a function twice": (lambda y: jax.jit(lambda a: 0.0 / a)(jax.jit(lambda a: 0.0 / a)(y)), [0.0, 1.0]),
    "a Cholesky factor": (lambda y: jnp.linalg.cholesky(-jnp.eye(2) * y[1]), [0.0, 1.0]),
    "a late pivot": (lambda y: jnp.linalg.cholesky(jnp.diag(y)), [1.0, -1.0, 3.0]),
    "a matrix of zeros": (lambda y: jnp.linalg.solve(0.0 * y[1] * jnp.eye(2), y + 1.0), [0.0, 1.0]),
    "a constant matrix of zeros": (lambda y: jnp.linalg.solve(jnp.zeros((2, 2)), y + 1.0), [0.0, 1.0]),
    "an angle of a difference": (lambda y: jnp.arctan2(0.0 - y, -1.0), [0.0, -0.0]),
    "an angle of a product": (lambda y: jnp.arctan2(0.0 * y, -1.0), [-1.0, 1.0]),
    "the larger zero": (lambda y: 1.0 / jnp.stack([jnp.maximum(*y), jnp.minimum(*y)]), [0.0, -0.0]),
    "the larger zero, turned": (lambda y: 1.0 / jnp.stack([jnp.maximum(*y), jnp.minimum(*y)]), [-0.0, 0.0]),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_zeros_in_users_functions_hide_nothing(name):
    """A zero times what is infinite is NaN, and zeros keep their signs."""
    function, y = SINGULAR[name]
    wanted = np.asarray(jax.jit(function)(jnp.array(y)))
    assert same(one_by_one(users(function), (np.array([y]),))[0], wanted)


def test_zeros_of_the_model_save_work_and_constants_of_users_do_not():
    """The negative control: outside of users' functions a known zero is worth more than NaN."""

    def lines(function) -> int:
        return NativeProgram.of(function, np.eye(3), (), np.ones(3), width=1, fast=False).text.count("fmul")

    assert lines(lambda matrix, grid, y: matrix @ y) == 0
    assert lines(lambda matrix, grid, y: matrix @ users(lambda y: 2.0 * y)(y)) == 3
    # Zero times each of three numbers.
    assert lines(lambda matrix, grid, y: users(lambda y: matrix @ y)(y)) == 3


@pytest.mark.parametrize("kernel", ["native", "plain"])
def test_a_singular_start_is_found(kernel):
    """By either kernel, before the first step."""
    problem = pt.ODE(lambda y: -y + jnp.array([0.0, 1.0]) * (1.0 / y))
    with pytest.raises((pt.InputError, pt.SimulationError), match="finite|NaN|infinite"):
        pt.simulate(
            problem,
            pt.State(y=[0.0, 1.0]),
            t1=1.0,
            dt=0.1,
            integrator=pt.integrators.RK4(),
            kernel=kernel,
            progress=False,
        )


def test_a_singularity_in_a_stage_is_found():
    """The stages of an implicit method are computed side by side."""
    problem = pt.ODE(lambda y: jnp.stack([1.0 + 0.0 * y[0], 0.0 * jnp.log(1.0 - y[0]) - y[1]]))
    with pytest.raises(pt.SimulationError, match="t = 1"):
        pt.simulate(
            problem,
            pt.State(y=[0.0, 1.0]),
            t1=2.0,
            dt=0.1,
            integrator=pt.integrators.GaussLegendre(3),
            kernel="native",
            progress=False,
        )


def test_derivatives_of_users_functions_are_strict():
    """Of a force that a potential gives, within the step of an implicit method."""
    problem = pt.Hamiltonian(T=lambda p: 0.5 * p @ p, V=lambda q: 0.0 * jnp.sqrt(q @ q))
    with pytest.raises((pt.InputError, pt.SimulationError), match="finite|NaN|infinite"):
        pt.simulate(
            problem,
            pt.State(q=[0.0, 0.0], p=[1.0, 0.0]),
            t1=1.0,
            dt=0.1,
            integrator=pt.integrators.StormerVerlet(),
            kernel="native",
            progress=False,
        )
