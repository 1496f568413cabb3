"""Joint trajectories: their ends, limits and derivatives."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt

CHAIN: Any = 3.0
FROM, TO = np.array([0.2, -1.0, 0.5]), np.array([1.2, 1.0, 0.5])
PATHS = {
    "quintic": pt.control.quintic(FROM, TO, 2.0, begin=0.5),
    "trapezoidal": pt.control.trapezoidal(FROM, TO, speed=1.0, acceleration=2.0, begin=0.5),
    "triangle": pt.control.trapezoidal(FROM, TO, speed=(9.0, 9.0, 9.0), acceleration=(0.5, 9.0, 1.0)),
}


@pytest.mark.parametrize("name", PATHS)
def test_rates_and_accelerations_are_derivatives(name):
    path = PATHS[name]
    times = np.linspace(float(path.begin) + 0.013, float(path.end) - 0.017, 23)
    q, v, a = jax.vmap(path)(times)
    np.testing.assert_allclose(v, jax.vmap(jax.jacfwd(lambda t: path(t)[0]))(times), atol=1e-13)
    np.testing.assert_allclose(a, jax.vmap(jax.jacfwd(lambda t: path(t)[1]))(times), atol=1e-12)
    assert np.max(np.abs(v)) > 0.5 and np.max(np.abs(a)) > 0.3
    np.testing.assert_allclose(q[:, 2], 0.5, atol=1e-15)


@pytest.mark.parametrize("name", PATHS)
def test_a_path_rests_before_its_begin_and_after_its_end(name):
    path = PATHS[name]
    for time, place in ((path.begin - 0.1, FROM), (path.begin, FROM), (path.end, TO), (path.end + 3.0, TO)):
        q, v, a = path(time)
        np.testing.assert_allclose(q, place, atol=1e-14)
        np.testing.assert_allclose(v, 0.0, atol=1e-14)
        if name == "quintic":
            np.testing.assert_allclose(a, 0.0, atol=1e-14)


def test_a_trapezoid_meets_its_limits_and_no_more():
    even, triangle = PATHS["trapezoidal"], PATHS["triangle"]
    # The second joint goes two units at speed one: two seconds, and half a second to reach that speed.
    assert abs(float(even.end - even.begin) - 2.5) < 1e-14
    _, v, a = jax.vmap(even)(np.linspace(0.5, 3.0, 2001))
    assert abs(np.max(np.abs(v)) - 1.0) < 1e-14 and abs(np.max(np.abs(a)) - 2.0) < 1e-14
    # The first joint goes one unit with acceleration 1/2: half of it in sqrt(2) seconds.
    assert abs(float(triangle.end) - 2.0 * np.sqrt(2.0)) < 1e-14
    assert abs(np.max(np.abs(triangle(np.sqrt(2.0))[1])) - 2.0 * np.sqrt(0.5)) < 1e-12


def test_quaternions_turn_about_one_axis():
    ball = pt.System(
        pt.RigidBody(1.0, (0.1, 0.2, 0.3), name="a"),
        joints=[pt.joints.Spherical("ground", "a", at=(0, 0, 0.5), name="ball")],
    )
    chain = pt.OpenChain(ball)
    q0, q1 = chain.coordinates({"ball": (0.3, 0.0, 0.1)}), chain.coordinates({"ball": (-0.4, 1.0, 0.2)})
    path = pt.control.quintic(q0, q1, 1.0, chain=chain)
    q, v, _ = path(0.4)
    assert abs(np.linalg.norm(q) - 1.0) < 1e-15
    rate = jax.jvp(lambda t: path(t)[0], (jnp.array(0.4),), (jnp.array(1.0),))[1]
    np.testing.assert_allclose(rate, chain.coordinate_rates(q, v), atol=1e-14)
    np.testing.assert_allclose(np.abs(path(1.0)[0] @ q1), 1.0, atol=1e-15)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pt.control.quintic([0.0], [1.0], 0.0), "duration of quintic = 0.0; it must be positive"),
        (
            lambda: pt.control.quintic([0.0], [1.0], [1.0, 2.0]),
            r"duration of quintic has shape \(2,\); it must be",
        ),
        (
            lambda: pt.control.quintic([0.0], [1.0], 1.0, chain=CHAIN),
            "chain = 3.0; it must be a pt.Open",
        ),
        (lambda: pt.control.quintic([0.0], [1.0, 2.0], 1.0), r"shapes \(1,\) and \(2,\); they must be lists"),
        (lambda: pt.control.trapezoidal([0.0], [0.0], 1.0, 1.0), "there is no way between them"),
        (lambda: pt.control.trapezoidal([0.0], [1.0], -1.0, 1.0), "speed of trapezoidal = -1.0"),
        (lambda: pt.control.trapezoidal([0.0], [1.0], [1.0, 2.0], 1.0), "one number, or a list of 1"),
    ],
)
def test_what_is_refused(call, said):
    with pytest.raises(pt.InputError, match=said):
        call()
