"""The splitting of a chain of tetrahedra as a scalar Numba loop, written down independently."""

import math

import numpy as np
from numba import njit

POINTS = np.array([[-0.5, -1 / 3, -0.25], [0.5, -1 / 3, -0.25], [0.0, 2 / 3, -0.25], [0.0, 0.0, 0.75]])
MOMENTS = np.array([17 / 12, 5 / 4, 7 / 6])
MASS, EPSILON = 4.0, 5.0
AXES = ((0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5))


@njit(cache=True)
def turned(q, m, h):
    """Free rotation of one body by turns about its axes, in place."""
    for axis, part in AXES:
        i, j, k = axis, (axis + 1) % 3, (axis + 2) % 3
        angle = part * h * m[i] / MOMENTS[i]
        s, c = math.sin(0.5 * angle), math.cos(0.5 * angle)
        a, b, d, e = q[0], q[1 + i], q[1 + j], q[1 + k]
        q[0], q[1 + i] = c * a - s * b, c * b + s * a
        q[1 + j], q[1 + k] = c * d + s * e, c * e - s * d
        S, C = 2.0 * s * c, c * c - s * s
        m[j], m[k] = C * m[j] + S * m[k], C * m[k] - S * m[j]


@njit(cache=True)
def placed(x, q, R, sites):
    """Rotation matrix and particles of one body."""
    a, b, c, d = q
    R[0, 0], R[0, 1], R[0, 2] = a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)
    R[1, 0], R[1, 1], R[1, 2] = 2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)
    R[2, 0], R[2, 1], R[2, 2] = 2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d
    for k in range(4):
        for i in range(3):
            sites[k, i] = x[i] + R[i, 0] * POINTS[k, 0] + R[i, 1] * POINTS[k, 1] + R[i, 2] * POINTS[k, 2]


@njit(cache=True)
def run(x, p, q, m, h, steps):
    """Steps of a chain whose first and last body stand still; the momenta at whole steps."""
    n = x.shape[0]
    F, T = np.zeros((n, 3)), np.zeros((n, 3))
    R, sites, pull = np.zeros((n, 3, 3)), np.zeros((n, 4, 3)), np.zeros((n, 4, 3))
    for step in range(steps + 1):
        if step:
            for b in range(1, n - 1):
                for i in range(3):
                    p[b, i] += 0.5 * h * F[b, i]
                    m[b, i] += 0.5 * h * T[b, i]
                    x[b, i] += h * p[b, i] / MASS
                turned(q[b], m[b], h)
        for b in range(n):
            placed(x[b], q[b], R[b], sites[b])
            pull[b] = 0.0
        for b in range(n - 1):
            for k in range(4):
                for j in range(4):
                    dx = sites[b + 1, j, 0] - sites[b, k, 0]
                    dy = sites[b + 1, j, 1] - sites[b, k, 1]
                    dz = sites[b + 1, j, 2] - sites[b, k, 2]
                    u = 1.0 / (dx * dx + dy * dy + dz * dz)
                    w = u * u * u
                    f = 24.0 * EPSILON * (2.0 * w - 1.0) * w * u
                    pull[b + 1, j, 0] += f * dx
                    pull[b + 1, j, 1] += f * dy
                    pull[b + 1, j, 2] += f * dz
                    pull[b, k, 0] -= f * dx
                    pull[b, k, 1] -= f * dy
                    pull[b, k, 2] -= f * dz
        for b in range(1, n - 1):
            F[b], T[b] = 0.0, 0.0
            for k in range(4):
                f0, f1, f2 = pull[b, k]
                F[b, 0] += f0
                F[b, 1] += f1
                F[b, 2] += f2
                g0 = R[b, 0, 0] * f0 + R[b, 1, 0] * f1 + R[b, 2, 0] * f2
                g1 = R[b, 0, 1] * f0 + R[b, 1, 1] * f1 + R[b, 2, 1] * f2
                g2 = R[b, 0, 2] * f0 + R[b, 1, 2] * f1 + R[b, 2, 2] * f2
                T[b, 0] += POINTS[k, 1] * g2 - POINTS[k, 2] * g1
                T[b, 1] += POINTS[k, 2] * g0 - POINTS[k, 0] * g2
                T[b, 2] += POINTS[k, 0] * g1 - POINTS[k, 1] * g0
            if step:
                for i in range(3):
                    p[b, i] += 0.5 * h * F[b, i]
                    m[b, i] += 0.5 * h * T[b, i]
