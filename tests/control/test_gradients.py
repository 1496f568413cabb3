"""Derivatives through closed loops: in gains, and in the masses of links."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from quickly import quickly

GOAL = jnp.array([0.8, -0.6])
GRID: Any = {"dt": 0.02, "steps": 25}


@cache
def chain() -> pt.OpenChain:
    return pt.OpenChain(pt.library.two_link_arm())


@pytest.fixture(autouse=True)
def _made_before_anything_is_traced():
    """What is kept must not be a part of a trace."""
    chain()


def problem(masses, gains) -> Any:
    """The arm with springs and dampers, which do not know its masses."""
    arm = pt.library.two_link_arm(first=masses[0], second=masses[1])
    loop = pt.control.PDGravity(chain(), kp=gains[:2], kd=gains[2:], reference=GOAL)
    return pt.formulate(arm.with_terms(loads=[loop]), "joint", "recursive").problem


def cost(masses, gains):
    start = pt.State(q=jnp.zeros(2), v=jnp.zeros(2))
    q = pt.solve(problem(masses, gains), "rk4", start, **GRID).q
    return jnp.sum((q - GOAL[None]) ** 2)


MASSES, GAINS = jnp.array([1.2, 0.8]), jnp.array([20.0, 10.0, 4.0, 2.0])


@pytest.mark.slow
def test_derivatives_of_a_closed_loop_are_its_differences():
    def along(by):
        return cost(MASSES + by * jnp.array([1.0, -0.5]), GAINS + by * jnp.array([1.0, 2.0, -1.0, 3.0]))

    slope = quickly(lambda by: jax.jvp(along, (by,), (jnp.ones(()),)))
    values = [float(slope(by)[0]) for by in (1e-4, -1e-4)]
    by_differences = (values[0] - values[1]) / 2e-4
    assert abs(by_differences) > 0.01
    assert abs(float(slope(0.0)[1]) - by_differences) < 1e-7 * abs(by_differences) + 1e-9


@pytest.mark.slow
def test_reverse_mode_agrees_and_systems_are_solved_as_such():
    reverse = jax.jit(jax.grad(cost, argnums=(0, 1)))(MASSES, GAINS)
    forward = jax.jit(jax.jacfwd(cost, argnums=(0, 1)))(MASSES, GAINS)
    for one, other in zip(reverse, forward, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)

    def end(gain):
        arm = chain().system
        loop = pt.control.ComputedTorque(chain(), gain, 4.0, GOAL)
        given: Any = {"coordinates": "joint", "form": "recursive", "control": loop, "save_every": 25}
        return pt.solve(arm, "rk4", arm.start, **GRID, **given).position[-1, 1, 0]

    values = jax.jit(end)
    slope = (values(9.001) - values(8.999)) / 0.002
    assert abs(float(jax.jit(jax.jacfwd(end))(9.0)) - slope) < 1e-6 * abs(slope)
