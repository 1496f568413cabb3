"""Rows of one run side by side in the lanes of a vector."""

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from poinsot.core import abreast
from poinsot.kernels.native import NativeProgram

RNG = np.random.default_rng(5)


def function(model, grid, runs):
    """A little of everything: shared values, constants that differ from row to row, a loop, a branch."""
    rows, y = model, runs
    nodes = np.linspace(-1.0, 2.0, len(rows))

    def one(node, row, t):
        x = jnp.sin(row @ y) + node * grid
        x = lax.while_loop(lambda x: x < 2.0, lambda x: x + 0.3 + 0.1 * t, x)
        return lax.cond(t > 0.0, lambda: jnp.exp(-x) * y, lambda: y / (1.0 + x * x)), t > 0.0

    return abreast(one, nodes, rows, jnp.cos(rows[:, 0] + y[0]))


def row_by_row(model, grid, runs):
    """The same without lanes: every row by itself."""
    nodes = np.linspace(-1.0, 2.0, len(model))
    turns = jnp.cos(model[:, 0] + runs[0])
    found = []
    for node, row, t in zip(nodes, model, turns, strict=True):
        x = jnp.sin(row @ runs) + node * grid
        x = lax.while_loop(lambda x: x < 2.0, lambda x, t=t: x + 0.3 + 0.1 * t, x)
        value = lax.cond(t > 0.0, lambda x=x: jnp.exp(-x) * runs, lambda x=x: runs / (1.0 + x * x))
        found.append((value, t > 0.0))
    return jnp.stack([value for value, _ in found]), jnp.stack([positive for _, positive in found])


@pytest.mark.parametrize("count", [1, 2, 3, 8, 9])
def test_rows_in_lanes_have_the_bits_of_each_alone(count):
    rows, grid, y = RNG.normal(size=(count, 3)), np.array(0.7), RNG.normal(size=3)
    programs = [NativeProgram.of(one, rows, grid, y, width=1, fast=False) for one in (function, row_by_row)]
    (values, positive), (expected, also) = (program.bound([rows])(grid, y) for program in programs)
    assert values.shape == (count, 3) and np.array_equal(positive, also)
    assert values.tobytes() == expected.tobytes()
    lanes = {1: "fmul double", 2: "<2 x double>", 3: "<4 x double>"}.get(count, "<8 x double>")
    assert lanes in programs[0].text
    assert "x double>" not in programs[1].text


def test_runs_in_lanes_take_rows_one_after_the_other():
    rows, grid, starts = RNG.normal(size=(3, 3)), np.array(0.7), RNG.normal(size=(4, 3))
    alone = NativeProgram.of(function, rows, grid, starts[0], width=1, fast=False).bound([rows])
    together = NativeProgram.of(function, rows, grid, starts[0], width=4, fast=False)
    values, _ = together(together.block(rows, grid), starts)
    assert values.tobytes() == np.stack([alone(grid, y)[0] for y in starts]).tobytes()
