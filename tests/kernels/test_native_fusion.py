"""Loops that are put together: fewer of them, the same bits, and none where a row depends on other rows."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.extend import core as jex
from native_cases import LANES, check, in_lanes, one_by_one, random, same

import poinsot as pt
from poinsot.kernels.native import NativeProgram, _program
from poinsot.kernels.native._fusion import fused
from poinsot.kernels.native._known import Known, Rounds

ROWS = 20
X, Y = random(1, LANES, ROWS, 3), random(2, LANES, ROWS, 3)


def running(x, factor=0.5, reverse=False):
    """Sums along the rows, each less than the one before."""

    def body(before, row):
        after = factor * before + row
        return after, after

    return lax.scan(body, jnp.zeros(3), x, reverse=reverse)[1]


def each(function: Callable, *rows: Any) -> Any:
    return lax.map(lambda row: function(*row), rows)


def apart_and_again(x, y):
    """Four loops along the rows, with operations on whole arrays between them."""
    turned = each(lambda a, b: jnp.cross(a, b), x, y)
    sums = running(turned + 2.0 * x)
    more = each(lambda a: jnp.sin(a) * a[::-1], sums - y)
    return running(more * jnp.sum(sums, axis=1, keepdims=True).reshape(ROWS, 1).repeat(3, axis=1))


def there_and_back(x, y):
    """Outwards, inwards, and outwards again, as forces along a chain."""
    out = running(x)
    back = running(out * y, reverse=True)
    return running(back + out, 0.25)


def by_a_sum(x, y):
    """The second loop needs all rows of the first before it begins."""
    first = running(x)
    return running(y + jnp.sum(first, axis=0)[None])


def by_its_end(x, y):
    """The second loop begins where the first ends."""
    end, first = lax.scan(lambda a, row: (a + row, a * row), jnp.zeros(3), x)
    return lax.scan(lambda a, row: (a * 0.5 + row[0] * row[1], a), end, (first, y))[1]


def by_other_rows(x, y):
    """The second loop reads the rows of the first in the reverse order."""
    return running(running(x)[::-1] + y)


def through_another(x, y):
    """The third loop reads rows of the first, and of the second, which needs all of the first."""
    first = running(x)
    second = running(y + jnp.max(first))
    return each(lambda a, b: a * b, first, second)


def packed(x, y):
    """Rows that are columns of matrices, and components of all rows one after the other in one array."""
    state = jnp.concatenate([x.T.reshape(-1), y.T.reshape(-1)])
    moved = state * 2.0 + jnp.concatenate([running(x).T.reshape(-1), jnp.zeros(3 * ROWS)])
    first, second = moved[: 3 * ROWS].reshape(3, ROWS), moved[3 * ROWS :].reshape(3, ROWS)
    length = jnp.sqrt(jnp.sum(first * first, axis=0, keepdims=True))
    ends = running((second / length).T) + jnp.array([[1.0, 2.0, 3.0]])
    return jnp.concatenate([moved, ends.T.reshape(-1), length[0]])


def by_another_order(x, y):
    """A matrix of rows made one array row by row is not packed: numbers of a row go to other rows."""
    mixed = running(x).reshape(-1).reshape(3, ROWS).T
    return running(mixed * y)


def by_a_shift(x, y):
    """Part of a packed array that does not begin with a row."""
    state = jnp.concatenate([running(x).T.reshape(-1), y.T.reshape(-1)])
    return running(state[5 : 5 + 3 * ROWS].reshape(3, ROWS).T)


LOOPS = {
    apart_and_again: 1,
    packed: 1,
    by_another_order: 2,
    by_a_shift: 2,
    there_and_back: 3,
    by_a_sum: 2,
    by_its_end: 2,
    by_other_rows: 2,
    through_another: 2,
}


def scans(jaxpr: Any) -> int:
    """Number of loops in a trace and in those that it calls."""
    found = 0
    for equation in jaxpr.eqns:
        found += equation.primitive.name == "scan"
        found += sum(scans(getattr(one, "jaxpr", one)) for one in jex.jaxprs_in_params(equation.params))
    return found


@pytest.mark.parametrize("function", LOOPS)
def test_loops_are_put_together_where_rows_allow(function, monkeypatch):
    """The expected number of loops is left, and results have the bits of the trace as it was."""
    jaxpr = jax.make_jaxpr(function)(X[0], Y[0])
    assert scans(fused(jaxpr).jaxpr) == LOOPS[function]
    check(function, X, Y, rtol=1e-12, atol=1e-12)
    together = in_lanes(function, (X, Y)), one_by_one(function, (X, Y))
    monkeypatch.setattr(_program, "fused", lambda jaxpr: jaxpr)
    assert all(same(found, in_lanes(function, (X, Y))) for found in together)


def test_results_that_nobody_reads_are_not_stored():
    """A loop keeps the rows that are read elsewhere alone; one that is all read stays as it is."""

    def function(x):
        _, (used, _) = lax.scan(lambda a, row: (a + row, (a * row, a - row)), jnp.zeros(3), x)
        return used

    (loop,) = (one for one in fused(jax.make_jaxpr(function)(X[0])).eqns if one.primitive.name == "scan")
    assert len(loop.outvars) == 2
    whole = jax.make_jaxpr(lambda x: lax.scan(lambda a, row: (a + row, a * row), jnp.zeros(3), x))(X[0])
    assert fused(whole).eqns[-1] is whole.eqns[-1]


def test_a_trace_that_is_called_twice_stays_one():
    """Loops inside functions are put together once, so that the function can be written once."""
    inner = jax.jit(apart_and_again)
    jaxpr = fused(jax.make_jaxpr(lambda x, y: inner(inner(x, y), y))(X[0], Y[0]))
    calls = [one.params["jaxpr"].jaxpr for one in jaxpr.eqns]
    assert calls[0] is calls[1]
    assert scans(calls[0]) == 1


def test_rounds_of_a_loop_follow_what_is_known():
    """The first row apart, and two rows to a round, where that makes numbers known; not for one number."""
    which = np.ones((9, 4), dtype=bool)
    alternating = np.tile([[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]], (5, 1))[:9]
    uniform = np.ones((9, 4))
    first = np.concatenate([np.zeros((1, 4)), uniform[1:]])
    both = np.concatenate([np.full((1, 4), 7.0), alternating[1:]])
    assert Rounds.of([Known(uniform, which)], 9, 100) == Rounds(0, 1)
    assert Rounds.of([Known(first, which)], 9, 100) == Rounds(1, 1)
    assert Rounds.of([Known(alternating, which)], 9, 100) == Rounds(1, 2)
    assert Rounds.of([Known(both[:8], which[:8])], 8, 100) == Rounds(2, 2)
    one = uniform.copy()
    one[0, 0] = 2.0
    assert Rounds.of([Known(one, which)], 9, 100) == Rounds(0, 1)
    assert Rounds.of([Known(alternating, which)], 9, 10**6) == Rounds(0, 1)
    assert Rounds.of([Known(alternating, ~which)], 9, 100) == Rounds(0, 1)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [30, 31])
def test_zeros_and_ones_of_a_model_are_known_in_loops(reverse, length):
    """Rows with zeros by turns, the first different: results are those of JAX, with fewer multiplications."""
    model = np.ones((length, 3, 3)) * 1.7
    model[::2, 0], model[1::2, 1], model[:, 2, 2] = 0.0, 0.0, -1.0
    model[0] = np.eye(3)

    def function(model, grid, run):
        def body(before, row):
            matrix, own = row
            after = jnp.sum(matrix * before[None], axis=1) * 0.1 + own
            return after, (after, matrix * own[:, None])

        end, (found, scaled) = lax.scan(body, jnp.ones(3), (model, run), reverse=reverse)
        return end, found, lax.map(lambda row: row[0] @ row[1], (scaled, found))

    run = random(3, length, 3)
    program = NativeProgram.of(function, model, (), run, width=1, fast=False)
    full = NativeProgram.of(function, np.full_like(model, 1.7), (), run, width=1, fast=False)
    found, wanted = program.bound([model])((), run), jax.jit(function)(model, (), run)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-14)
    # Two rows to a round and up to two apart are four bodies in place of one.
    assert program.text.count("fmul") < 0.75 * 4 * full.text.count("fmul")


def test_forward_dynamics_of_a_chain_are_three_loops():
    """Outwards, inwards, and outwards again, however many recursions the formulas have."""
    chain = pt.OpenChain(pt.library.hinge_pendulum(20))
    q, v = chain.random(jax.random.key(0))
    jaxpr = jax.make_jaxpr(chain.forward_dynamics)(q, v)
    (jaxpr,) = (one.params["jaxpr"] for one in jaxpr.eqns if scans(one.params["jaxpr"].jaxpr))
    assert scans(jaxpr.jaxpr) > 6
    assert scans(fused(_program._needed(jaxpr)).jaxpr) == 3
