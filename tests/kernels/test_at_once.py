"""Functions of known numbers, worked out by NumPy: the values of JAX, and nothing compiled."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from counting import xla_programs
from poinsot.core import joined, on_device, within_trace
from poinsot.kernels import _programs, at_once
from poinsot.rotation import from_matrix, multiply, nearest_rotation, normalise, to_matrix

DRAW = np.random.default_rng(7)
VECTOR, SQUARE = DRAW.standard_normal(3), DRAW.standard_normal((3, 3))
QUAT = DRAW.standard_normal(4)
QUAT /= np.linalg.norm(QUAT)

CASES = {
    "sums and products": (
        lambda a, b: (a @ b, jnp.sum(b, axis=1), jnp.prod(a), jnp.cross(a, b[0])),
        VECTOR,
        SQUARE,
    ),
    "choices": (lambda a, b: jnp.where(a > 0.0, a, b[jnp.argmax(jnp.abs(a))]), VECTOR, SQUARE),
    "moves": (
        lambda a, b: (jnp.roll(b, 1, axis=1).T[::2], jnp.concatenate([a, b[1]]), b.at[0].add(a)),
        VECTOR,
        SQUARE,
    ),
    "functions": (lambda a: (jnp.sin(a), jnp.arctan2(a[0], a[1]), jnp.exp(a), a**3, jnp.tan(a)), VECTOR),
    "whole numbers": (lambda a: (jnp.argmin(a), jnp.arange(3) + 1, a > 0.0), VECTOR),
    "a branch": (lambda a: jax.lax.cond(a[0] > 0.0, jnp.sin, jnp.cos, a), VECTOR),
    "a loop": (lambda a: jax.lax.fori_loop(0, 3, lambda k, x: x + k * a, a), VECTOR),
    "a derivative": (jax.grad(lambda a: jnp.sum(jnp.sqrt(a * a + 1.0))), VECTOR),
    "rotations": (
        lambda q: (to_matrix(q), multiply(q, q), from_matrix(to_matrix(q)), normalise(2.0 * q)),
        QUAT,
    ),
    "nothing": (lambda a: a.reshape(0, 3) @ jnp.ones(3), np.zeros((3, 0))),
}


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_jax(name):
    function, *arguments = CASES[name]
    wanted, found = jax.jit(function)(*arguments), at_once(function)(*map(on_device, arguments))
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        assert isinstance(one, jax.Array) and (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-15)


def test_nothing_is_compiled():
    """Not even for shapes that nobody has asked for before; as it stands, the function is."""

    def function(matrix):
        return jnp.linalg.norm(matrix @ matrix.T, axis=0) + jnp.sin(matrix[:, 0])

    given = on_device(DRAW.standard_normal((13, 11)))
    with xla_programs() as programs:
        at_once(function)(given)
        joined((given[:0], on_device(np.ones((17, 11)))))
    assert len(programs) <= 1, programs
    with xla_programs() as programs:
        function(given)
    assert len(programs) > 1


def test_a_function_of_the_package_is_traced_once_for_a_structure(monkeypatch):
    """Numbers are none of it, shapes are. A function from elsewhere may change, so each call traces it."""
    traces, trace = [], jax.make_jaxpr

    def counted(function, **options):
        traces.append(function)
        return trace(function, **options)

    monkeypatch.setattr(jax, "make_jaxpr", counted)
    monkeypatch.setattr(_programs, "_values", _programs.Remembered())
    found = at_once(normalise)
    for factor in (1.0, 2.0, 3.0):
        np.testing.assert_allclose(found(on_device(factor * QUAT)), QUAT, rtol=1e-15)
    assert len(traces) == 1
    found(on_device(np.ones((2, 4))))
    assert len(traces) == 2
    own = at_once(lambda x: 2.0 * x)
    for number in (1.0, 2.0):
        np.testing.assert_array_equal(own(on_device(number * VECTOR)), 2.0 * number * VECTOR)
    assert len(traces) == 4


def test_within_traces_it_is_the_function_as_it_stands():
    squared = at_once(lambda x: jnp.sum(x * x))
    np.testing.assert_allclose(jax.grad(squared)(VECTOR), 2.0 * VECTOR)
    np.testing.assert_allclose(jax.vmap(squared)(SQUARE), np.sum(SQUARE**2, axis=1))
    found = jax.jit(lambda: squared(np.arange(3.0)))()
    assert float(found) == 5.0


def test_many_numbers_are_compiled_whole():
    large = np.linspace(0.0, 1.0, 10_000).reshape(100, 100)
    with xla_programs() as programs:
        found = at_once(lambda x: jnp.sin(x) @ x)(large)
    assert len(programs) == 1
    np.testing.assert_allclose(found, np.sin(large) @ large, rtol=1e-12)


def test_a_trace_around_is_seen():
    seen = []

    def function(x):
        seen.append(within_trace())
        return x

    jax.make_jaxpr(function)(1.0)
    function(1.0)
    assert seen == [True, False]


def test_the_nearest_rotation_of_known_numbers():
    """Which has a decomposition that NumPy does not take part by part."""
    found = at_once(nearest_rotation)(on_device(np.eye(3) + 0.1 * SQUARE))
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-14)
