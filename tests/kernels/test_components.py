"""Functions taken apart into components: the same values in another arithmetic."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from poinsot.kernels import apart, evaluate, in_components, is_number
from poinsot.rotation import sincos


class Named:
    """Arithmetic on pairs (number, what was done to it last): any component that is not a plain number."""

    def __init__(self, functions=None):
        self.used, self.functions = set(), functions or {}

    def apply(self, primitive, params, operands):
        self.used.add(primitive.name)
        plain = [operand if is_number(operand) else operand[0] for operand in operands]
        result = primitive.bind(*[jnp.asarray(one) for one in plain], **params)
        results = result if primitive.multiple_results else [result]
        return [(one, primitive.name) for one in results]

    def whole(self, equation, operands):
        raise NotImplementedError(equation.primitive.name)


def hidden(array):
    """Components that are not plain numbers."""
    parts = np.empty(array.shape, dtype=object)
    for place in np.ndindex(*array.shape):
        parts[place] = (jnp.asarray(array[place]), "given")
    return parts


def shown(parts):
    return np.array([float(one if is_number(one) else one[0]) for one in parts.flat]).reshape(parts.shape)


A, B = np.array([0.3, -1.2, 0.7]), np.array([[1.0, 0.2, 0.0], [0.5, -2.0, 0.1], [0.3, 0.4, 3.0]])
INDEX = np.array([2, 0])

FUNCTIONS = {
    "products": lambda a, b: b @ a + a @ b,
    "outer": lambda a, b: jnp.einsum("i,jk->kij", a, b),
    "batched": lambda a, b: jnp.einsum("ij,ij->i", b, b),
    "slices": lambda a, b: jnp.concatenate([b[1:, 0], b[0, ::2], a[::-1]]),
    "gather": lambda a, b: a[INDEX] * b[INDEX, INDEX],
    "scatter": lambda a, b: a.at[1].set(b[0, 0]).at[INDEX].set(2.0 * a[:2]),
    "unstack": lambda a, b: jnp.unstack(b, axis=1)[2] + jnp.unstack(a)[1],
    "stack": lambda a, b: jnp.stack([a, b[0]], axis=1).T,
    "tile": lambda a, b: jnp.tile(b, (2, 3)) + jnp.tile(a, 3)[None],
    "reductions": lambda a, b: jnp.stack([jnp.sum(b), jnp.max(a), jnp.min(b), jnp.prod(a)]),
    "elementary": lambda a, b: jnp.sin(a) + jnp.exp(a) / jnp.sqrt(1.0 + a**2) + jnp.arctan2(a, b[0]),
    "choice": lambda a, b: jnp.where(a > 0.0, a**3, b[:, 1]),
    "cross": lambda a, b: jnp.cross(a, b[1]),
    "gradient": lambda a, b: jax.grad(lambda x: jnp.cos(x @ b @ x))(a),
    "gradient of slices": lambda a, b: jax.grad(lambda x: jnp.sum(x[1:] ** 2 * x[:-1]))(a),
    "gradient of a gather": lambda a, b: jax.grad(lambda x: jnp.sum(x[np.array([2, 0, 2])] ** 3))(a),
    "own rule": lambda a, b: jnp.stack(sincos(a)),
    "constants": lambda a, b: jnp.arange(3.0)[INDEX] * a[0] + jnp.eye(3)[0, :2],
    "empty": lambda a, b: jnp.sum(b[:, :0], axis=1) + a,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equals_the_function_itself(name):
    function = FUNCTIONS[name]
    jaxpr = jax.make_jaxpr(function)(A, B)
    assert in_components(jaxpr.jaxpr)
    (result,) = evaluate(jaxpr, Named(), hidden(A), hidden(B))
    np.testing.assert_allclose(
        shown(result), function(jnp.asarray(A), jnp.asarray(B)), rtol=1e-15, atol=1e-15
    )


def test_plain_numbers_are_worked_out_at_once():
    arithmetic = Named()
    jaxpr = jax.make_jaxpr(FUNCTIONS["elementary"])(A, B)
    (result,) = evaluate(jaxpr, arithmetic, apart(A), apart(B))
    assert not arithmetic.used and all(is_number(one) for one in result.flat)
    evaluate(jaxpr, arithmetic, hidden(A), apart(B))
    assert {"sin", "exp", "sqrt", "atan2"} <= arithmetic.used


def test_of_plain_numbers_anything_can_be_worked_out():
    jaxpr = jax.make_jaxpr(lambda a: a + jnp.linalg.solve(B, np.ones(3)))(A)
    (result,) = evaluate(jaxpr, Named(), hidden(A))
    np.testing.assert_allclose(shown(result), A + np.linalg.solve(B, np.ones(3)), rtol=1e-14)


def test_functions_known_by_name_are_not_gone_through():
    jaxpr = jax.make_jaxpr(lambda a: jnp.stack(sincos(2.0 * a)))(A)
    arithmetic = Named({"poinsot_sincos": lambda x: ((jnp.sin(x[0]), ""), (jnp.cos(x[0]), ""))})
    (result,) = evaluate(jaxpr, arithmetic, hidden(A))
    np.testing.assert_allclose(shown(result), np.stack([np.sin(2.0 * A), np.cos(2.0 * A)]), rtol=1e-15)
    assert arithmetic.used == {"mul"}


def test_loops_and_solvers_are_left_to_the_arithmetic():
    for function in (
        lambda a: lax.while_loop(lambda x: x[0] < 2.0, lambda x: x + 1.0, a),
        lambda a: jnp.linalg.solve(B, a),
    ):
        jaxpr = jax.make_jaxpr(function)(A)
        assert not in_components(jaxpr.jaxpr)
        with pytest.raises(NotImplementedError, match="while|linear_solve"):
            evaluate(jaxpr, Named(), hidden(A))
