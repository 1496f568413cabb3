"""Bodies, momenta and times of a free rotation, and its series in time at 40 digits."""

from functools import cache

import jax.numpy as jnp
import mpmath
import numpy as np

from poinsot.rotation import free_rotation

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


def all_cases():
    """Moments, momentum and time of each case as one array."""
    return jnp.array([[*J, *m, h] for J, m, h in CASES.values()])


def joined(z):
    """Turn and momentum as one array, of moments, momentum and time as one."""
    return jnp.concatenate(free_rotation(z[..., :3], z[..., 3:6], z[..., 6]), axis=-1)


def along(name, direction, value):
    """First and second derivative along a direction: central differences of the series at 40 digits.

    Of the two quaternions of a turn the one next to `value` is meant.
    """
    J, m, h = CASES[name]
    with mpmath.workdps(40):
        z, eps = [mpmath.mpf(v) for v in (*J, *m, h)], mpmath.mpf(10) ** -11
        ends = []
        for sign in (1, -1):
            at = [v + sign * eps * mpmath.mpf(d) for v, d in zip(z, direction, strict=True)]
            ends.append(taylor(tuple(at[:3]), tuple(at[3:6]), at[6]))
        middle = taylor(J, m, h)
        slope = np.array([float((a - b) / (2 * eps)) for a, b in zip(*ends, strict=True)])
        bend = np.array(
            [float((a - 2 * v + b) / eps**2) for a, v, b in zip(ends[0], middle, ends[1], strict=True)]
        )
        exact = np.array([float(v) for v in middle])
    sign = np.where(np.arange(7) < 4, np.sign(exact[:4] @ value[:4]), 1.0)
    return sign * slope, sign * bend


def limit(name, exact):
    """How far rounding puts a derivative off: it grows with the time and with the derivative."""
    return 1e-13 * (1.0 + abs(CASES[name][2])) * (1.0 + np.abs(exact).max())
