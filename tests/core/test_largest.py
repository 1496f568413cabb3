"""The largest magnitude of an array, however long."""

import jax.numpy as jnp
import numpy as np
import pytest

from poinsot.core import largest


@pytest.mark.parametrize("count", [0, 1, 5, 64, 67, 203])
def test_the_largest_is_found_wherever_it_is(count):
    for place in range(count):
        numbers = jnp.zeros(count).at[place].set(-2.0)
        assert float(largest(numbers)) == 2.0
        assert np.isnan(largest(numbers.at[place].set(jnp.nan)))
    assert float(largest(jnp.zeros(count))) == 0.0


def test_rows_are_looked_at_together_and_lanes_apart():
    numbers = jnp.asarray(np.random.default_rng(0).standard_normal((3, 50, 2)))
    assert float(largest(numbers)) == np.max(np.abs(numbers))
    np.testing.assert_array_equal(largest(numbers, 1), np.max(np.abs(numbers), axis=(0, 1)))
    np.testing.assert_array_equal(largest(numbers, 2), np.max(np.abs(numbers), axis=0))
