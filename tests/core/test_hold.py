"""Values that are computed once: the same values and derivatives, and on a CPU really in memory."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from poinsot.core import barrier, hold

ROW = jnp.linspace(0.1, 1.0, 20)


def stages(x, keep):
    """Three stages, each of which uses both neighbours of what the one before it made."""
    for _ in range(3):
        (x,) = keep([jnp.sin(x) * jnp.roll(x, 1) + jnp.roll(x, -1)])
    return jnp.sum(x)


def plain(x):
    return stages(x, lambda values: values)


def with_hold(x):
    return stages(x, hold)


@pytest.mark.parametrize(
    "seen",
    [
        lambda f: f,
        jax.grad,
        jax.hessian,
        lambda f: jax.jacfwd(jax.jacfwd(f)),
        lambda f: lambda x: jax.vmap(jax.grad(f))(jnp.stack([x, 2.0 * x])),
    ],
    ids=["value", "gradient", "hessian", "forward", "batch"],
)
def test_nothing_changes(seen):
    found, wanted = jax.jit(seen(with_hold))(ROW), jax.jit(seen(plain))(ROW)
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)


def test_derivatives_in_a_part_of_the_values():
    def function(x, y):
        a, b, c = hold([jnp.sin(x), y, jnp.arange(20)])
        return jnp.sum(jnp.where(c % 2 == 0, a * b, 0.0))

    even = np.arange(20) % 2 == 0
    wanted = np.where(even, np.cos(ROW) * np.asarray(2.0 * ROW), 0.0)
    np.testing.assert_allclose(jax.grad(function)(ROW, 2.0 * ROW), wanted, rtol=1e-14)


def test_values_that_are_not_finite_go_through():
    values = jnp.full(20, jnp.inf).at[0].set(jnp.nan).at[1].set(-0.0)
    np.testing.assert_array_equal(jax.jit(hold)(values), values)


def conditionals(function, x) -> int:
    """How often a compiled function goes through a conditional."""
    text = jax.jit(function).lower(x).compile().as_text()
    assert text is not None
    return text.count(" conditional(")


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="a GPU is left to itself")
def test_rows_lie_in_memory_and_a_barrier_does_not_see_to_that():
    assert conditionals(with_hold, ROW) == 3
    assert conditionals(lambda x: stages(x, barrier), ROW) == 0
    assert conditionals(with_hold, ROW[:4]) == 0, "few numbers are not worth it"
