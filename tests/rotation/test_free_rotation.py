"""The free rotation against a Taylor series at 40 digits: every kind of body, axis and step."""

from functools import cache

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from poinsot.rotation import free_rotation, multiply, rotate

TERZE_J = np.array([0.9144, 1.098, 1.66])
TERZE_M = TERZE_J * np.array([0.45549, 0.82623, 0.03476])
BODY = (1.0, 2.0, 3.5)
SEPARATRIX = np.sqrt((1.0 / 2.0 - 1.0 / 3.5) / 0.5)

CASES: dict[str, tuple] = {
    "sorted": (BODY, (0.3, -0.8, 1.2), 2.5),
    "cyclic": ((3.5, 1.0, 2.0), (0.3, -0.8, 1.2), -2.5),
    "anticyclic": ((2.0, 1.0, 3.5), (1.2, -0.8, -0.3), 2.5),
    "short": (BODY, (0.3, -0.8, 1.2), 1e-3),
    "series": (BODY, (0.3, -0.8, 1.2), 1e-8),
    "long": (tuple(TERZE_J), tuple(TERZE_M), 100.0),
    "near stable": (BODY, (1e-9, 2e-9, 1.0), 3.0),
    "stable": (BODY, (1.0, 0.0, 0.0), 3.0),
    "near unstable": (BODY, (1e-9, 1.0, 2e-9), 10.0),
    "hidden by rounding": (BODY, (1e-30, 1.0, 2e-30), 3.0),
    "unstable": (BODY, (0.0, 1.0, 0.0), 3.0),
    "negative stable": (BODY, (0.0, 0.0, -1.0), 3.0),
    "near separatrix": (BODY, (0.6 * SEPARATRIX, 1.0, 0.6 * (1.0 + 1e-9)), 3.0),
    "separatrix": (BODY, (0.6 * SEPARATRIX, 1.0, 0.6), 3.0),
    "beyond separatrix": (BODY, (0.6 * SEPARATRIX * (1.0 + 1e-9), 1.0, 0.6), 3.0),
    "towards unstable": (BODY, (-0.6 * SEPARATRIX, 1.0, 0.6), 12.0),
    "nearly symmetric": ((1.0, 1.0 + 1e-12, 2.0), (0.3, 0.5, -0.7), 5.0),
    "symmetric": ((1.0, 2.0, 2.0), (0.3, 0.5, -0.7), 5.0),
    "equator": ((1.0, 1.0, 2.0), (0.3, 0.5, 0.0), 5.0),
    "nearly spherical": ((2.0, 2.0 + 1e-12, 2.0 - 1e-12), (0.3, 0.5, -0.7), 5.0),
    "spherical": ((2.0, 2.0, 2.0), (0.3, 0.5, -0.7), 5.0),
    "slow": (BODY, (1e-6, 2e-6, -3e-6), 1.0),
    "rest": (BODY, (0.0, 0.0, 0.0), 1.0),
}
DIRECTION = np.array([0.3, -0.2, 0.5, 0.1, -0.4, 0.6, 0.2])


@cache
def taylor(J, m, h):
    """Quaternion and momentum by a power series in time, in steps of at most 0.15 radians."""
    inverse, h = [1 / mpmath.mpf(j) for j in J], mpmath.mpf(h)
    m, q = [mpmath.mpf(v) for v in m], [mpmath.mpf(v) for v in (1, 0, 0, 0)]
    steps = 1 + int(abs(h) * max(abs(a * v) for a, v in zip(inverse, m, strict=True)) / 0.15)
    for _ in range(steps):
        q, m = _series_step(inverse, q, m, h / steps)
    return [*q, *m]


def _series_step(inverse, q, m, h):
    Q, M, W = [[v] for v in q], [[v] for v in m], [[a * v] for a, v in zip(inverse, m, strict=True)]
    for k in range(28):

        def of(A, B, k=k):
            return mpmath.fsum(A[j] * B[k - j] for j in range(k + 1)) / (k + 1)

        rates = [of(M[(i + 1) % 3], W[(i + 2) % 3]) - of(M[(i + 2) % 3], W[(i + 1) % 3]) for i in range(3)]
        turns = [
            -of(Q[1], W[0]) - of(Q[2], W[1]) - of(Q[3], W[2]),
            of(Q[0], W[0]) + of(Q[2], W[2]) - of(Q[3], W[1]),
            of(Q[0], W[1]) + of(Q[3], W[0]) - of(Q[1], W[2]),
            of(Q[0], W[2]) + of(Q[1], W[1]) - of(Q[2], W[0]),
        ]
        for i in range(3):
            M[i].append(rates[i])
            W[i].append(inverse[i] * rates[i])
        for i in range(4):
            Q[i].append(turns[i] / 2)
    return tuple([mpmath.polyval(series, h, asc=True) for series in part] for part in (Q, M))


def joined(z):
    """Turn and momentum as one array, of moments, momentum and time as one."""
    return jnp.concatenate(free_rotation(z[..., :3], z[..., 3:6], z[..., 6]), axis=-1)


@pytest.fixture(scope="module")
def table():
    """All cases in one call."""
    z = jnp.array([[*J, *m, h] for J, m, h in CASES.values()])
    return dict(zip(CASES, np.asarray(jax.jit(joined)(z)), strict=True))


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
    quat, m = jax.jit(lambda s: jax.lax.fori_loop(0, 200, step, s))(start)
    with mpmath.workdps(40):
        exact = np.array([float(v) for v in taylor(*CASES["long"])])
    np.testing.assert_allclose(quat * np.sign(exact[:4] @ np.asarray(quat)), exact[:4], atol=1e-13)
    np.testing.assert_allclose(m, exact[4:], atol=1e-13)


def test_round_off_of_many_short_steps_has_no_bias():
    """Errors of one sign would reach 7e-12 here; those of a random walk stay below 2e-14."""
    J, m, n = jnp.array([50.0, 42.0, 10.0]), jnp.array([30.0, -11.0, 200.0]), 10_000
    end = jax.jit(lambda m: jax.lax.fori_loop(0, n, lambda _, m: free_rotation(J, m, 1e-3)[1], m))(m)
    bound = 4.0 * np.finfo(float).eps * np.sqrt(n)
    for conserved in (lambda m: m @ m, lambda m: m @ (m / J)):
        assert abs(conserved(end) / conserved(m) - 1.0) < bound


def moved(name, direction, table):
    """Derivative along a direction: a central difference of the series at 40 digits."""
    J, m, h = CASES[name]
    with mpmath.workdps(40):
        z, eps = [mpmath.mpf(v) for v in (*J, *m, h)], mpmath.mpf(10) ** -13
        ends = []
        for sign in (1, -1):
            at = [v + sign * eps * mpmath.mpf(d) for v, d in zip(z, direction, strict=True)]
            ends.append(taylor(tuple(at[:3]), tuple(at[3:6]), at[6]))
        slope = np.array([float((a - b) / (2 * eps)) for a, b in zip(*ends, strict=True)])
        value = np.array([float(v) for v in taylor(J, m, h)])
    slope[:4] *= np.sign(value[:4] @ table[name][:4])
    return slope


@pytest.fixture(scope="module")
def forward():
    """Derivatives of all cases along one direction."""
    z = jnp.array([[*J, *m, h] for J, m, h in CASES.values()])
    slopes = jax.jit(lambda z: jax.jvp(joined, (z,), (jnp.broadcast_to(DIRECTION, z.shape),))[1])(z)
    return dict(zip(CASES, np.asarray(slopes), strict=True))


@pytest.fixture(scope="module")
def jacobians():
    """Derivatives in moments, momentum and time of all cases, in reverse."""
    z = jnp.array([[*J, *m, h] for J, m, h in CASES.values()])
    return dict(zip(CASES, np.asarray(jax.jit(jax.vmap(jax.jacrev(joined)))(z)), strict=True))


each = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "long" else name for name in CASES]
)


@each
def test_derivatives_in_forward_mode(table, forward, name):
    exact = moved(name, DIRECTION, table)
    limit = 1e-13 * (1.0 + abs(CASES[name][2])) * (1.0 + np.abs(exact).max())
    np.testing.assert_allclose(forward[name], exact, atol=limit, rtol=0)


@pytest.mark.slow
@each
def test_derivatives_in_reverse_mode(table, jacobians, name):
    exact = np.stack([moved(name, direction, table) for direction in np.eye(7)], axis=1)
    limit = 1e-13 * (1.0 + abs(CASES[name][2])) * (1.0 + np.abs(exact).max())
    np.testing.assert_allclose(jacobians[name], exact, atol=limit, rtol=0)
