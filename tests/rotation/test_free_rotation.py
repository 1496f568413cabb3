"""The free rotation against a Taylor series at 40 digits: every kind of body, axis and step."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from poinsot.rotation import free_rotation, multiply, rotate
from quickly import quickly
from rotation.free_rotation_cases import (
    CASES,
    DIRECTION,
    TERZE_J,
    TERZE_M,
    all_cases,
    along,
    joined,
    limit,
    taylor,
)


@pytest.fixture(scope="module")
def table():
    """All cases in one call."""
    z = all_cases()
    return dict(zip(CASES, np.asarray(quickly(joined)(z)), strict=True))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "long" else name for name in CASES]
)
def test_against_the_series_in_time(table, name):
    J, m, h = CASES[name]
    with mpmath.workdps(40):
        exact = np.array([float(v) for v in taylor(J, m, h)])
    exact[:4] *= np.sign(exact[:4] @ table[name][:4])
    # Rounding of the data alone shifts the phase by the angle times round-off.
    limit = 3e-15 * (1.0 + 0.03 * abs(h) * np.linalg.norm(m))
    np.testing.assert_allclose(table[name][:4], exact[:4], atol=limit, rtol=0)
    np.testing.assert_allclose(table[name][4:], exact[4:], atol=limit * np.linalg.norm(m), rtol=0)


@pytest.mark.parametrize("name", CASES)
def test_invariants(table, name):
    """Unit length, energy, and the momentum in space."""
    J, m, _ = (np.asarray(part) for part in CASES[name])
    turn, end = table[name][:4], table[name][4:]
    scale = 1.0 + float(m @ m)
    assert abs(turn @ turn - 1.0) < 1e-15
    assert abs(end @ (end / J) - m @ (m / J)) < 4e-15 * scale
    np.testing.assert_allclose(rotate(jnp.asarray(turn), jnp.asarray(end)), m, atol=4e-15 * scale)


@pytest.mark.slow
def test_terze_body_in_two_hundred_steps():
    J = jnp.asarray(TERZE_J)

    def step(_, state):
        quat, m = state
        turn, m = free_rotation(J, m, 0.5)
        return multiply(quat, turn), m

    start = jnp.array([1.0, 0.0, 0.0, 0.0]), jnp.asarray(TERZE_M)
    quat, m = quickly(lambda s: jax.lax.fori_loop(0, 200, step, s))(start)
    with mpmath.workdps(40):
        exact = np.array([float(v) for v in taylor(*CASES["long"])])
    np.testing.assert_allclose(quat * np.sign(exact[:4] @ np.asarray(quat)), exact[:4], atol=1e-13)
    np.testing.assert_allclose(m, exact[4:], atol=1e-13)


def test_round_off_of_many_short_steps_has_no_bias():
    """Errors of one sign would reach 7e-12 here; those of a random walk stay below 2e-14."""
    J, m, n = jnp.array([50.0, 42.0, 10.0]), jnp.array([30.0, -11.0, 200.0]), 10_000
    end = quickly(lambda m: jax.lax.fori_loop(0, n, lambda _, m: free_rotation(J, m, 1e-3)[1], m))(m)
    bound = 4.0 * np.finfo(float).eps * np.sqrt(n)
    for conserved in (lambda m: m @ m, lambda m: m @ (m / J)):
        assert abs(conserved(end) / conserved(m) - 1.0) < bound


@pytest.fixture(scope="module")
def forward():
    """Derivatives of all cases along one direction."""
    z = all_cases()
    slopes = quickly(lambda z: jax.jvp(joined, (z,), (jnp.broadcast_to(DIRECTION, z.shape),))[1])(z)
    return dict(zip(CASES, np.asarray(slopes), strict=True))


@pytest.fixture(scope="module")
def jacobians():
    """Derivatives in moments, momentum and time of all cases, in reverse."""
    z = all_cases()
    return dict(zip(CASES, np.asarray(quickly(jax.vmap(jax.jacrev(joined)))(z)), strict=True))


each = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "long" else name for name in CASES]
)


@each
def test_derivatives_in_forward_mode(table, forward, name):
    exact = along(name, DIRECTION, table[name])[0]
    np.testing.assert_allclose(forward[name], exact, atol=limit(name, exact), rtol=0)


@pytest.mark.slow
@each
def test_derivatives_in_reverse_mode(table, jacobians, name):
    exact = np.stack([along(name, direction, table[name])[0] for direction in np.eye(7)], axis=1)
    np.testing.assert_allclose(jacobians[name], exact, atol=limit(name, exact), rtol=0)
