"""Scalar operations of small functions, counted on their traces."""

from collections import Counter

import jax
import jax.numpy as jnp
import pytest

from poinsot.core import hold
from poinsot.papers.lang2010._operations import count_operations
from poinsot.rotation import sincos

VECTOR = jnp.zeros(3)


@pytest.mark.parametrize(
    ("function", "needed"),
    [
        (lambda x, y: jnp.sum(x * y), {"×": 3, "+": 2}),
        (lambda x, y: jnp.cross(x, y), {"×": 6, "−": 3}),
        (lambda x, y: x[0] * y[0] + y[0] * x[0], {"×": 1, "+": 1}),
        (lambda x, y: (x * x)[:2] / 2.0, {"²": 2, "/": 2}),
        (lambda x, y: x**2 - 0.0 * y + 1.0 * x, {"²": 3, "+": 3}),
        (lambda x, y: x + jnp.linalg.norm(jnp.ones(4)) * jnp.zeros(3), {}),
        (lambda x, y: jnp.stack(sincos(x[0])), {"sin": 1, "cos": 1}),
        (lambda x, y: jnp.linalg.solve(jnp.eye(3) * x[:, None], y), {"LU": 1}),
        (lambda x, y: hold((x * y, jnp.ones(3)))[0] + y, {"×": 3, "+": 3}),
    ],
    ids=["dot", "cross", "shared", "dead", "zero and one", "constants", "sincos", "solve", "hold"],
)
def test_operations_of_small_functions(function, needed):
    assert count_operations(function, VECTOR, VECTOR)[0] == Counter(needed)


def test_every_operation_of_the_trace_is_what_the_compiler_counts():
    """Before the compiler simplifies; divisions, squares and the like are one operation to it too."""

    def function(x, y):
        return jnp.sum(x * y) * x + (x - y) / 3.0 - jnp.cross(x, y)

    cost = jax.jit(function).lower(VECTOR, VECTOR).cost_analysis()
    assert cost is not None
    assert sum(count_operations(function, VECTOR, VECTOR)[1].values()) == cost["flops"]


def test_an_operation_that_is_not_known_is_refused():
    with pytest.raises(NotImplementedError, match="'exp'"):
        count_operations(jnp.exp, VECTOR)
