"""Splitting of the heavy top as one would write it by hand for Numba: scalars, one trajectory."""

import math

import numba


@numba.njit(fastmath=False)
def lie_splitting(y, J, mgl, h, steps):
    """Kick, turns about the axes 1, 2, 3, 2, 1, kick; `y` holds quaternion and body momentum, in place.

    The torque after a step is that before the next one, so that each step takes one; a turn about an axis by
    the angle a takes one sine and one cosine, of a/2.
    """
    w, x, y_, z, m1, m2, m3 = y
    f1, f2, f3 = 0.5 * h / J[0], 0.5 * h / J[1], h / J[2]
    t1 = 2.0 * mgl * (y_ * z + w * x)
    t2 = 2.0 * mgl * (w * y_ - x * z)
    for _ in range(steps):
        m1 += 0.5 * h * t1
        m2 += 0.5 * h * t2
        w, x, y_, z, m2, m3 = _turn_1(w, x, y_, z, m2, m3, f1 * m1)
        w, x, y_, z, m3, m1 = _turn_2(w, x, y_, z, m3, m1, f2 * m2)
        w, x, y_, z, m1, m2 = _turn_3(w, x, y_, z, m1, m2, f3 * m3)
        w, x, y_, z, m3, m1 = _turn_2(w, x, y_, z, m3, m1, f2 * m2)
        w, x, y_, z, m2, m3 = _turn_1(w, x, y_, z, m2, m3, f1 * m1)
        t1 = 2.0 * mgl * (y_ * z + w * x)
        t2 = 2.0 * mgl * (w * y_ - x * z)
        m1 += 0.5 * h * t1
        m2 += 0.5 * h * t2
    y[0], y[1], y[2], y[3], y[4], y[5], y[6] = w, x, y_, z, m1, m2, m3


@numba.njit(fastmath=False, inline="always")
def _half_angles(angle):
    c, s = math.cos(0.5 * angle), math.sin(0.5 * angle)
    return c, s, c * c - s * s, 2.0 * c * s


@numba.njit(fastmath=False, inline="always")
def _turn_1(w, x, y, z, m2, m3, angle):
    c, s, C, S = _half_angles(angle)
    return c * w - s * x, c * x + s * w, c * y + s * z, c * z - s * y, C * m2 + S * m3, C * m3 - S * m2


@numba.njit(fastmath=False, inline="always")
def _turn_2(w, x, y, z, m3, m1, angle):
    c, s, C, S = _half_angles(angle)
    return c * w - s * y, c * x - s * z, c * y + s * w, c * z + s * x, C * m3 + S * m1, C * m1 - S * m3


@numba.njit(fastmath=False, inline="always")
def _turn_3(w, x, y, z, m1, m2, angle):
    c, s, C, S = _half_angles(angle)
    return c * w - s * z, c * x + s * y, c * y - s * x, c * z + s * w, C * m1 + S * m2, C * m2 - S * m1


@numba.njit(fastmath=False)
def euler_equations(t, y, J, mgl):
    """Rates of quaternion and body angular velocity, for SciPy."""
    w, x, y_, z, a, b, c = y
    return (
        0.5 * (-x * a - y_ * b - z * c),
        0.5 * (w * a + y_ * c - z * b),
        0.5 * (w * b + z * a - x * c),
        0.5 * (w * c + x * b - y_ * a),
        (2.0 * mgl * (y_ * z + w * x) + (J[1] - J[2]) * b * c) / J[0],
        (2.0 * mgl * (w * y_ - x * z) + (J[2] - J[0]) * c * a) / J[1],
        (J[0] - J[1]) * a * b / J[2],
    )
