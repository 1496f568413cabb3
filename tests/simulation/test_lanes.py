"""Functions of one run made functions of many: what `vmap` gives, loops included."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from poinsot.core import hold
from poinsot.kernels import Lanes, in_lanes, lanes_apart

RUNS = 5


def check(function, *arrays):
    """The function in lanes against `vmap`, under `jit` with its constants traced."""
    scale = jnp.asarray([1.5, -0.5])

    @jax.jit
    def laned(scale, *arrays):
        apply = in_lanes(lambda *one: function(scale, *one), *arrays)
        results = apply(*map(lanes_apart, arrays))
        return [Lanes(RUNS).together(part, float) for part in results]

    expected = jax.vmap(lambda *one: function(scale, *one), in_axes=-1, out_axes=-1)(*arrays)
    for got, wanted in zip(laned(scale, *arrays), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-14, atol=1e-14)


ROWS = jnp.asarray(np.random.default_rng(1).normal(size=(2, RUNS)))


def test_arithmetic_with_traced_constants_and_barriers():
    def function(scale, x):
        turned = hold(jnp.stack([x[0] * scale[1], x[1] - scale[0]]))
        return jnp.outer(turned, x), jnp.sum(turned) + 1.0

    check(function, ROWS)


def test_loops_run_in_each_lane_as_long_as_it_needs():
    """Halve until small: the lanes take different numbers of turns."""

    def function(scale, x):
        start = (jnp.abs(x) * scale[0], jnp.asarray(0.0))
        y, turns = lax.while_loop(lambda z: jnp.max(z[0]) > 0.3, lambda z: (0.5 * z[0], z[1] + 1.0), start)
        return y, turns

    check(function, ROWS)
    turns = jax.vmap(lambda x: function(jnp.asarray([1.5]), x)[1], in_axes=-1)(ROWS)
    assert len(set(np.asarray(turns))) > 1


def test_a_constant_result_fills_all_lanes():
    check(lambda scale, x: (jnp.zeros(3), scale * 2.0), ROWS)
