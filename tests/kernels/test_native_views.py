"""Arrays in memory seen in another order, spread, put together and reduced; and who may overwrite them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from native_cases import LANES, check, random

from long_suite import of_the_long_suite
from poinsot.kernels.native import NativeProgram, _emitter

LONG = random(0, LANES, 600)
"""Arguments of more than 128 numbers stay in memory, and operations on more than 512 are loops there."""


def stacked(x):
    """Rows of a loop, which stay in memory."""
    return lax.scan(lambda carry, row: (carry + row[0], jnp.sin(row) * carry), 0.5, x.reshape(200, 3))[1]


def outer(x):
    """Of 1,800 numbers: reduced along one axis it is still long."""
    return stacked(x).T[:, None] * x.reshape(3, 200)[None] + stacked(x)[None, :3, :1]


VIEWS = {
    "transposed": lambda x: stacked(x).T,
    "every third": lambda x: stacked(x)[1::3],
    "columns": lambda x: stacked(x)[:, 1:],
    "spread": lambda x: jnp.broadcast_to(stacked(x)[None], (2, 200, 3)) + 1.0,
    "turned back": lambda x: stacked(x)[::-1],
    "one after the other": lambda x: jnp.concatenate([stacked(x), x.reshape(200, 3)[5:], jnp.ones((1, 3))]),
    "side by side": lambda x: jnp.concatenate([stacked(x), x.reshape(200, 3)], axis=1),
    "a column more": lambda x: jnp.concatenate([stacked(x).T, jnp.ones((3, 1)), x.reshape(3, 200)], axis=1),
    "between rows": lambda x: jnp.concatenate([outer(x)[:, 1:], x.reshape(3, 1, 200)], axis=1),
    "at known places": lambda x: stacked(x)[np.arange(1400).reshape(2, 700) % 199, 1] + x[0],
    "sum": lambda x: jnp.sum(stacked(x)),
    "largest of a transposed array": lambda x: jnp.max(stacked(x).T),
    "sums of long columns": lambda x: jnp.sum(outer(x), axis=0),
    "largest of each column": lambda x: jnp.max(outer(x), axis=1),
    "sums of columns": lambda x: jnp.sum(stacked(x), axis=0),
    "rows of a transposed array": lambda x: lax.scan(lambda c, row: (0.5 * c + row, c), 0.0, stacked(x).T[0]),
    "rows of a spread row": lambda x: lax.scan(
        lambda c, rows: (0.5 * c + jnp.sum(rows[0] * rows[1]), c),
        0.0,
        (stacked(x), jnp.broadcast_to(x[:3], (200, 3))),
    ),
}


@pytest.mark.parametrize(
    "name",
    of_the_long_suite(list(VIEWS), {"a column more", "at known places", "sum", "rows of a transposed array"}),
)
def test_views_of_arrays_in_memory(name):
    check(VIEWS[name], LONG, rtol=1e-14, atol=1e-14)


def test_axes_of_length_one_are_repeated():
    """Of an operand in memory as of one in components: `vmap` makes products of a column and a row."""

    def function(x):
        row, column = stacked(x)[:, 0], stacked(x)[:7, 2]
        return jax.vmap(lambda one: one * row + x[:200])(column)

    jaxpr = str(jax.make_jaxpr(function)(LONG[0]))
    assert "f64[7,1]" in jaxpr and "f64[1,200]" in jaxpr, jaxpr
    check(function, LONG, rtol=1e-14, atol=1e-14)


def test_a_part_of_a_long_array_that_a_loop_hands_on_is_that_of_before():
    """The loop overwrites the array; a number taken from it in the same round is the old one."""

    def function(x):
        def body(k, carry):
            array, _, _ = carry
            return 0.5 * array + 1.0, array[:3], array.reshape(3, 200).T.reshape(-1)

        return lax.fori_loop(0, 3, body, (x, x[:3], x))

    check(function, LONG, rtol=1e-14, atol=1e-14)


def test_a_loop_may_hand_on_an_array_in_another_order():
    def function(x):
        return lax.fori_loop(0, 301, lambda k, array: array.T, jnp.sin(x[:576]).reshape(24, 24))

    check(function, LONG, rtol=1e-14, atol=1e-14)


def test_an_array_in_memory_is_not_overwritten_while_a_view_of_it_is_read():
    """Updates are in place where nobody else reads the array; here a view, the same array, a part is read."""

    def function(x):
        array = jnp.sin(x)
        turned, part, same = array.reshape(200, 3).T, array[10:20], array.reshape(3, 200)
        changed = lax.fori_loop(0, 600, lambda k, a: a.at[k].add(1.0), array)
        return changed, 2.0 * turned, 3.0 * part, same * same

    check(function, LONG, rtol=1e-14, atol=1e-14)


def test_a_loop_that_carries_an_array_twice_has_two_of_them():
    def function(x):
        array = jnp.sin(x)
        first, second = lax.fori_loop(
            0, 600, lambda k, ab: (ab[0].at[k].add(1.0), ab[1].at[k].set(2.0)), (array, array)
        )
        return first, second

    check(function, LONG, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("shared", [True, False])
def test_branches_that_result_in_long_arrays(shared):
    """Taken by all runs or by some: results of either branch, with a number beside them."""

    def function(x):
        array = jnp.sin(x)

        def moved(y):
            return y.reshape(3, 200).T.reshape(-1) * jnp.exp(y), y[7]

        def other(y):
            return array, jnp.sum(y)

        taken = jnp.sum(x) < jnp.inf if shared else x[0] > 0.0
        long, one = lax.cond(taken, moved, other, 2.0 * x)
        return 0.5 * long + one, array

    check(function, LONG, rtol=1e-13, atol=1e-13)


@pytest.mark.slow
def test_long_parts_of_an_array_are_replaced_where_the_others_stay():
    """At places that a loop counts, and outside, where the start is moved inwards; under a mask of lanes."""

    def function(x):
        def body(carry):
            k, rows, y = carry
            y = jnp.sin(y) + 0.1
            rows = rows.at[k - 1].set(0.5 * y.reshape(3, 200), mode="drop", wrap_negative_indices=False)
            return k + 1, lax.dynamic_update_slice(rows, y.reshape(1, 3, 200), (k, 0, 0)), y

        rows = jnp.broadcast_to(x.reshape(1, 3, 200), (4, 3, 200))
        rounds = jnp.where(x[0] > 0.0, 6, 2)
        return lax.while_loop(lambda carry: carry[0] < rounds, body, (jnp.int64(0), rows, x))[1]

    check(function, LONG, rtol=1e-13, atol=1e-13)


@pytest.mark.slow
def test_sums_that_are_spread_over_the_operands_of_long_arrays():
    """Derivatives of parts and of arrays put together: `pad` and `split`."""

    def function(x):
        def energy(y):
            parts = jnp.split(jnp.sin(y), [200, 350])
            whole = jnp.concatenate([parts[2], 2.0 * parts[0], y[1::2] * y[::2]])
            return jnp.sum(whole**3) + jnp.sum(y.reshape(3, 200)[:, 1:] ** 2)

        return jax.grad(energy)(x)

    check(function, LONG, rtol=1e-12, atol=1e-12)


def test_code_of_moves_does_not_grow_with_the_arrays():
    """Arrays put together along any axis, read at known places, chosen by a branch."""

    def function(x):
        rows = x.reshape(3, -1)
        wider = jnp.concatenate([rows, rows[:, :1]], axis=1)
        places = np.arange(wider.size)[::-1] // 2
        taken = wider.reshape(-1)[places]
        return lax.cond(x[0] > 0.0, lambda: jnp.exp(taken), lambda: jnp.sin(taken))

    lines = []
    for count in (600, 1200):
        program = NativeProgram.of(lambda m, g, x: function(x), (), (), np.ones(count), width=1, fast=False)
        lines.append(program.text.count("\n"))
    assert lines[0] == lines[1], lines


def test_long_programs_hand_long_arrays_to_their_functions_in_memory(monkeypatch):
    """The same numbers as where all is written out, of a function that is called several times."""
    monkeypatch.setattr(_emitter, "LENGTHY", 0)
    monkeypatch.setattr(_emitter, "AVOIDABLE", 0)
    monkeypatch.setattr(_emitter, "WRITTEN_OUT", 0)
    shortened = []
    monkeypatch.setattr(
        _emitter.Emitter, "_put_result", _noting(_emitter.Emitter._put_result, shortened.append)
    )

    def function(x):
        @jax.jit
        def rates(t, y):
            turned = y.reshape(40, 5).T
            return jnp.sin(t * turned).T.reshape(-1) - 0.1 * y, t + jnp.max(y), 2.0

        def step(k, y):
            first, _, _ = rates(0.1, y)
            second, t, two = rates(0.2, y + 0.1 * first)
            first = lax.cond(t > 0.5, lambda: first, lambda: jnp.cos(second))
            return y + 0.05 * (first + second) / two + 1e-3 * t

        return lax.fori_loop(0, 50, step, x[:200])

    check(function, LONG, rtol=1e-13, atol=1e-13)
    assert any(isinstance(one, _emitter.Stored) for pieces in shortened for one in pieces)


def _noting(function, note):
    def noted(*args):
        result = function(*args)
        note(result)
        return result

    return noted
