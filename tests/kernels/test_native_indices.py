"""Reads and writes with an index outside, in all modes, as XLA does them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from native_cases import LANES, check, one_by_one, random, same

MODES = ("promise_in_bounds", "clip", "fill", "drop")
WRITES = ("set", "add", "multiply", "min", "max")
SIZES = [6, 40, 200]
"""Arrays taken apart, with a chain of selections or in memory, and arrays that are in memory throughout."""


def outside(size: int) -> np.ndarray:
    return np.array([0, -1, size - 1, size, -size, -size - 1, 2 * size + 3, -(2**40)])


@pytest.mark.parametrize("size", SIZES)
def test_one_index_in_every_mode(size):
    """Alone, and twice together with one inside."""

    def function(array, i, x):
        places, values = jnp.stack([i, jnp.int64(1), i]), jnp.stack([x, 2.0 * x, 3.0 * x])
        found = {}
        for mode in MODES:
            at, all_at = array.at[i], array.at[places]
            found[mode] = [at.get(mode=mode), all_at.get(mode=mode)]
            found[mode] += [getattr(at, name)(x, mode=mode)[:6] for name in WRITES]
            found[mode] += [getattr(all_at, name)(values, mode=mode)[-6:] for name in WRITES]
        return found

    check(function, random(1, LANES, size), outside(size), random(2, LANES))


@pytest.mark.parametrize("size", SIZES)
def test_gradients_of_what_an_index_outside_reads(size):
    """XLA reads the nearest element, and adds the derivative to none."""

    def function(array, i):
        places = jnp.stack([i, jnp.int64(1), i])
        return {
            mode: jax.grad(lambda a, m=mode: jnp.sum(a.at[places].get(mode=m) ** 2))(array)[-6:]
            for mode in MODES
        }

    check(function, random(1, LANES, size), outside(size))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("place", [7, -7])
def test_known_indices_outside(size, place):
    """Constants of the program."""

    def function(array, x):
        places = jnp.array([place * size, 1])
        found = {}
        for mode in MODES:
            at = array.at[places]
            found[mode] = [
                at.get(mode=mode),
                jax.grad(lambda a, m=mode: jnp.sum(a.at[places].get(mode=m)))(array)[-6:],
            ]
            found[mode] += [getattr(at, name)(x, mode=mode)[-6:] for name in WRITES]
        return (
            found,
            lax.dynamic_update_slice(array, x[None], (place,)),
            lax.dynamic_slice(array, (place,), (2,)),
        )

    check(function, random(1, LANES, size), random(2, LANES))


@pytest.mark.parametrize("size", SIZES)
def test_functions_applied_at_an_index(size):
    """Of the element that is there, for an index that is known or not, inside or outside."""

    def function(array, i):
        places, known = jnp.stack([i, jnp.int64(1)]), jnp.array([2, 0, size])
        found = {mode: array.at[places].apply(lambda x: 2.0 * x + 1.0, mode=mode)[-6:] for mode in MODES}
        return (
            found,
            array.at[known].apply(lambda x: x * x)[:6],
            jnp.arange(3.0).at[places].apply(lambda x: x + 1.0),
        )

    check(function, random(1, LANES, size), outside(size))


def test_windows_partly_outside():
    """A window that is not wholly inside is moved inside, or left out as a whole."""
    reads = lax.GatherDimensionNumbers((0, 1), (), (0, 1))
    writes = lax.ScatterDimensionNumbers((0, 1), (), (0, 1))

    def function(array, i, j):
        at, new = jnp.stack([i, j]), jnp.full((2, 2), 9.0)
        found = {}
        for mode in ("promise_in_bounds", "clip", "fill"):
            found[mode] = (
                lax.gather(array, at, reads, (2, 2), mode=mode),
                lax.scatter(array, at, new, writes, mode=mode),
            )
        return found, lax.dynamic_slice(array, (i, j), (2, 2)), lax.dynamic_update_slice(array, new, (i, j))

    places = np.array([0, 2, 3, 4, -1, 1, -5, 1]), np.array([0, 1, 1, 0, 1, 2, 9, 3])
    check(function, random(1, LANES, 4, 3), *places)


def test_what_integers_and_truth_values_are_filled_with():
    """The least integer, and true."""
    whole = np.arange(5 * LANES).reshape(LANES, 5)

    def function(whole, i):
        narrow, truth = whole.astype(jnp.int32), whole > 3
        return [one.at[i].get(mode="fill") for one in (whole, narrow, truth)]

    check(function, whole, outside(5))


def test_choices_by_an_index_outside():
    """One below takes the first case, and one above the last."""

    def function(i, x):
        cases = x, 2.0 * x, 3.0 * x, -x
        return lax.select_n(i.astype(jnp.int32), *cases), lax.switch(i, [lambda c=c: c for c in cases])

    check(function, np.array([-9, -1, 0, 1, 2, 3, 4, 99]), random(2, LANES))
    for place in (-1, 4):
        found = one_by_one(lambda x, k=place: function(jnp.int64(k), x), (np.ones(1),))
        assert same(found[0], jax.jit(lambda x, k=place: function(jnp.int64(k), x))(1.0)[0][None])
