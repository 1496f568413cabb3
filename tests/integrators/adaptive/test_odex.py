"""Extrapolation: its weights, its orders, and what Odex makes of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jitted_cases import AT_THE_END, END, error_at_the_end, gyro_top, run, slope
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.integrators import DormandPrince5, Odex
from poinsot.integrators.adaptive import _odex, _seulex
from poinsot.integrators.adaptive._odex import MidpointExtrapolation
from poinsot.integrators.adaptive._seulex import EulerExtrapolation

LADDER = 10.0 ** -np.arange(6.0, 13.0)


def neville(scheme, first: np.ndarray) -> np.ndarray:
    """The whole tableau, column by column, from its first one."""
    n = np.asarray(scheme.sequence, dtype=float)
    table = np.zeros((len(first), len(first)))
    table[:, 0] = first
    for k in range(1, len(first)):
        for j in range(k, len(first)):
            ratio = (n[j] / n[j - k]) ** scheme.power
            table[j, k] = table[j, k - 1] + (table[j, k - 1] - table[j - 1, k - 1]) / (ratio - 1.0)
    return table


@pytest.mark.parametrize("scheme", [_odex.SCHEME, _seulex.SCHEME], ids=["odex", "seulex"])
def test_weights_are_those_of_neville(scheme):
    first = np.random.default_rng(3).normal(size=scheme.rows)
    table = neville(scheme, first)
    size = np.sum(np.abs(scheme.value()), axis=1)
    for k in range(2, scheme.rows + 1):
        assert abs(scheme.value()[k] @ first - table[k - 1, k - 1]) < 1e-14 * size[k]
        difference = table[k - 1, k - 1] - table[k - 1, k - 2]
        assert abs(scheme.error()[k] @ first - difference) < 1e-14 * size[k]
    # The value depends on the first row, the neighbour in the tableau does not.
    assert np.all(scheme.value()[2:, 0] != 0.0)
    np.testing.assert_allclose(scheme.value()[2:, 0], scheme.error()[2:, 0])


@pytest.mark.parametrize(
    ("method", "power", "halved"),
    [(MidpointExtrapolation(), 2, (64, 32, 8)), (EulerExtrapolation(), 1, (64, 64, 64))],
    ids=["odex", "seulex"],
)
def test_each_row_raises_the_order(method, power, halved):
    # y' = -t y^2 from 1 is 2 / (2 + t^2).
    problem = pt.ODE(lambda t, y: -t * y * y)

    @jax.jit
    def end(rows, steps):
        h = 2.0 / steps.astype(float)
        return jax.lax.fori_loop(
            0, steps, lambda i, y: method.part(problem, i.astype(float) * h, h, y, rows), jnp.ones(1)
        )

    # The finest steps whose errors are not round-off.
    for rows, n in zip((2, 3, 4), halved, strict=True):
        counts = np.array([n, 2 * n])
        errors = [abs(float(end(jnp.int64(rows), jnp.int64(n))[0]) - 1.0 / 3.0) for n in counts]
        assert abs(-slope(counts, errors) - power * rows) < 0.15, (rows, errors)


@pytest.fixture(scope="module")
def ladder():
    """Runs of Odex on Example A: right-hand sides, errors and orders by tolerance."""
    problem, start = gyro_top()
    runs = [run(Odex(), problem, start, END, tolerance) for tolerance in LADDER]
    rhs = np.array([one.counts.rhs for one in runs])
    return rhs, np.array([error_at_the_end(one) for one in runs]), [one.orders for one in runs]


def test_errors_follow_the_tolerance_over_six_decades(ladder):
    _, errors, _ = ladder
    assert abs(slope(LADDER, errors) - 1.0) < 0.05
    ratios = errors / LADDER
    assert np.max(ratios) < 5.0 * np.min(ratios)
    # Where the steps are kept short the error is another one, and the tolerance does not show.
    problem, start = gyro_top()
    kept_short = Odex(max_step=0.02)
    some = LADDER[1:3]
    held = [error_at_the_end(run(kept_short, problem, start, END, tolerance)) for tolerance in some]
    assert slope(some, held) < 0.5


def test_order_rises_with_accuracy(ladder):
    _, _, orders = ladder
    rows = [np.median(one) for one in orders]
    assert rows == sorted(rows) and rows[-1] >= rows[0] + 2


def test_no_constant_order_and_step_does_with_fewer_right_hand_sides(ladder):
    problem, start = gyro_top()

    @jax.jit
    def end(rows, steps):
        h = END / steps.astype(float)
        return jax.lax.fori_loop(
            0, steps, lambda _, y: _odex.STEPS.part(problem, 0.0, h, y, rows), jnp.asarray(start)
        )

    def work_at(rows, error):
        """Right-hand sides of constant steps with so many rows, for an error at the end."""
        per_step = _odex.EVALUATIONS[rows - 1]
        steps = np.array([12_000, 16_000, 21_000, 28_000, 37_000]) // per_step
        ends = [np.asarray(end(jnp.int64(rows), jnp.int64(n))) for n in steps]
        errors = [np.max(np.abs(y - AT_THE_END)) for y in ends]
        return per_step * np.exp(np.interp(-np.log(error), -np.log(errors), np.log(steps)))

    def loss(rhs, error):
        return rhs / min(work_at(rows, error) for rows in range(4, 10))

    rhs, errors, _ = ladder
    for here in (0, 2, 4):
        assert loss(rhs[here], errors[here]) < 1.1, errors[here]
    # Steps that are held short lose more.
    held = run(Odex(max_step=0.02), problem, start, END, LADDER[0])
    assert loss(held.counts.rhs, error_at_the_end(held)) > 1.5


def test_takes_hardly_more_right_hand_sides_than_dop853(ladder):
    problem, start = gyro_top()
    field = jax.jit(lambda t, y: problem.vector_field(t, y))

    def dop853(tolerance):
        solution = solve_ivp(
            lambda t, y: np.asarray(field(t, y)),
            (0.0, END),
            start,
            method="DOP853",
            rtol=tolerance,
            atol=tolerance,
        )
        return solution.nfev, solution.y[:, -1]

    theirs = [dop853(tolerance) for tolerance in (1e-5, 1e-7, 1e-9, 1e-11)]
    work = np.array([nfev for nfev, _ in theirs])
    accuracy = np.array([np.max(np.abs(y - AT_THE_END)) for _, y in theirs])

    def ratios(rhs, errors):
        needed = np.interp(-np.log(errors), -np.log(accuracy), np.log(work))
        return rhs / np.exp(needed)

    rhs, errors, _ = ladder
    compared = ratios(rhs, errors)
    assert np.median(compared) < 1.5
    assert np.max(compared[errors < 1e-5]) < 1.5
    assert compared[-1] < 1.1, "the tighter the better"
    low = run(DormandPrince5(), problem, start, END, 1e-9)
    assert ratios(low.counts.rhs, error_at_the_end(low)) > 2.0
