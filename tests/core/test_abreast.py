"""One function of many rows: what `jax.vmap` of it gives, in values and derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from poinsot.core import abreast

TIMES = np.array([0.5, -1.0, 2.0])
MATRIX = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, -6.0]])
Y = np.array([1.2, 0.3])


def rows_of(y, mapped):
    """Something that takes rows of two arrays, and a value of the trace around it that all rows share."""
    shared = jnp.sin(y)

    def one(t, row):
        return {"sum": t * (row @ shared), "both": y * t}

    return mapped(one)


def by_abreast(y):
    return rows_of(y, lambda one: abreast(one, TIMES, MATRIX))


def by_vmap(y):
    return rows_of(y, lambda one: jax.vmap(one)(TIMES, MATRIX))


@pytest.mark.parametrize(
    "of",
    [lambda f: f, jax.jit, jax.jacfwd, jax.jacrev, lambda f: jax.jit(jax.jacfwd(jax.jacrev(f)))],
    ids=["eager", "jit", "forward", "reverse", "second"],
)
def test_is_vmap_in_values_and_derivatives(of):
    found, expected = of(by_abreast)(Y), of(by_vmap)(Y)
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-15)
    assert found["sum"].shape[0] == len(TIMES)


def test_goes_through_vmap_itself():
    many = np.stack([Y, 2.0 * Y, -Y])
    found = jax.vmap(by_abreast)(many)["sum"]
    np.testing.assert_allclose(found, np.stack([by_vmap(y)["sum"] for y in many]), rtol=1e-15)


def test_trace_holds_the_function_of_one_row():
    jaxpr = jax.make_jaxpr(by_abreast)(Y)
    (equation,) = [one for one in jaxpr.eqns if one.primitive.name == "abreast"]
    assert equation.params["count"] == 3
    assert [aval.shape for aval in equation.params["row"].out_avals] == [(2,), ()]
    assert [aval.shape for aval in equation.params["jaxpr"].out_avals] == [(3, 2), (3,)]
