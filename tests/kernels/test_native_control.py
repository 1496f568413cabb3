"""Native loops, branches, buffers and moves by indices against JAX: a lane has the bits of its run alone."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from native_cases import LANES, check, in_lanes, random

from poinsot.kernels.native import NativeProgram
from poinsot.solvers import solve_small


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
    program = NativeProgram.of(function, (), np.float64(1.0), runs[0], width=LANES, fast=False)
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


@pytest.mark.parametrize("size", [8, pytest.param(520, marks=pytest.mark.slow)])
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
