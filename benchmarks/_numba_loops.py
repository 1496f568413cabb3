"""Hand-written loops to measure against: what a careful user would write in Numba for one system."""

import math

import numba
import numpy as np


@numba.njit(fastmath=False)
def _galactic(q0, q1, q2, p0, p1, p2, a2, b2, c2):
    inverse = 2.0 / (1.0 + q0 * q0 / a2 + q1 * q1 / b2 + q2 * q2 / c2)
    return (
        p0 + 0.25 * q1,
        p1 - 0.25 * q0,
        p2,
        0.25 * p1 - q0 / a2 * inverse,
        -0.25 * p0 - q1 / b2 * inverse,
        -q2 / c2 * inverse,
    )


@numba.njit(fastmath=False)
def _kepler(q0, q1, p0, p1):
    r2 = q0 * q0 + q1 * q1
    inverse = 1.0 / (r2 * math.sqrt(r2))
    return p0, p1, -q0 * inverse, -q1 * inverse


@numba.njit(fastmath=False)
def _guess(F, Z, A, E, h):
    """Increments from the extrapolated stage derivatives of the last step."""
    stages, n = F.shape
    for k in range(n):
        for i in range(stages):
            total = 0.0
            for j in range(stages):
                extrapolated = 0.0
                for m in range(stages):
                    extrapolated += E[j, m] * F[m, k]
                total += A[i, j] * extrapolated
            Z[i, k] = h * total


@numba.njit(fastmath=False)
def _substitute(F, Z, A, h, half):
    """New increments; returns the largest change of positions and of momenta."""
    stages, n = F.shape
    change_q, change_p = 0.0, 0.0
    for k in range(n):
        f0, f1, f2 = F[0, k], F[1, k], F[2, k]
        for i in range(stages):
            z = h * (A[i, 0] * f0 + A[i, 1] * f1 + A[i, 2] * f2)
            change = abs(z - Z[i, k])
            Z[i, k] = z
            if k < half:
                change_q = max(change_q, change)
            else:
                change_p = max(change_p, change)
    return change_q, change_p


@numba.njit(fastmath=False)
def _settled(change, previous):
    """The rule of `poinsot.solvers.Stopping`, looked at after every second substitution."""
    rate = math.sqrt(change / previous)
    left = change if previous == math.inf else change * rate / max(1.0 - rate, 2.2e-16)
    return (left <= 0.01 or change >= previous) and change <= 1e4


@numba.njit(fastmath=False)
def gauss6_galactic(y, h, steps, A, b, E, abc):
    """Gauss 6 by fixed point, with the predictor and the stopping rule of ours. Returns iterations."""
    a2, b2, c2 = abc[0] ** 2, abc[1] ** 2, abc[2] ** 2
    F, Z, iterations = np.zeros((3, 6)), np.zeros((3, 6)), 0
    for i in range(3):
        F[i] = _galactic(y[0], y[1], y[2], y[3], y[4], y[5], a2, b2, c2)
    for _ in range(steps):
        _guess(F, Z, A, E, h)
        unit_q = 2.2e-16 * max(abs(y[0]), abs(y[1]), abs(y[2]))
        unit_p = 2.2e-16 * max(abs(y[3]), abs(y[4]), abs(y[5]))
        previous = math.inf
        for k in range(50):
            for i in range(3):
                q0, q1, q2 = y[0] + Z[i, 0], y[1] + Z[i, 1], y[2] + Z[i, 2]
                p0, p1, p2 = y[3] + Z[i, 3], y[4] + Z[i, 4], y[5] + Z[i, 5]
                F[i] = _galactic(q0, q1, q2, p0, p1, p2, a2, b2, c2)
            change_q, change_p = _substitute(F, Z, A, h, 3)
            iterations += 1
            if k % 2 == 1:
                change = max(change_q / unit_q, change_p / unit_p)
                if _settled(change, previous):
                    break
                previous = change
        for k in range(6):
            y[k] += h * (b[0] * F[0, k] + b[1] * F[1, k] + b[2] * F[2, k])
    return iterations


@numba.njit(fastmath=False)
def gauss6_kepler(y, h, steps, A, b, E):
    """The same for one Kepler orbit."""
    F, Z, iterations = np.zeros((3, 4)), np.zeros((3, 4)), 0
    for i in range(3):
        F[i] = _kepler(y[0], y[1], y[2], y[3])
    for _ in range(steps):
        _guess(F, Z, A, E, h)
        unit_q = 2.2e-16 * max(abs(y[0]), abs(y[1]))
        unit_p = 2.2e-16 * max(abs(y[2]), abs(y[3]))
        previous = math.inf
        for k in range(50):
            for i in range(3):
                F[i] = _kepler(y[0] + Z[i, 0], y[1] + Z[i, 1], y[2] + Z[i, 2], y[3] + Z[i, 3])
            change_q, change_p = _substitute(F, Z, A, h, 2)
            iterations += 1
            if k % 2 == 1:
                change = max(change_q / unit_q, change_p / unit_p)
                if _settled(change, previous):
                    break
                previous = change
        for k in range(4):
            y[k] += h * (b[0] * F[0, k] + b[1] * F[1, k] + b[2] * F[2, k])
    return iterations


@numba.njit(fastmath=False)
def verlet_kepler(y, h, steps):
    """Kick, drift, kick for one Kepler orbit, reusing the force as ours does."""
    q0, q1, p0, p1 = y
    _, _, f0, f1 = _kepler(q0, q1, p0, p1)
    for _ in range(steps):
        p0 += 0.5 * h * f0
        p1 += 0.5 * h * f1
        q0 += h * p0
        q1 += h * p1
        _, _, f0, f1 = _kepler(q0, q1, p0, p1)
        p0 += 0.5 * h * f0
        p1 += 0.5 * h * f1
    y[0], y[1], y[2], y[3] = q0, q1, p0, p1
