"""The stored references are what heyoka computes, and what elliptic functions and SciPy say."""

import mpmath
import numpy as np
import pytest
from heyoka_top import CASES, Case, motion, stored
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

# Example B blows round-off up: what is left of extended precision (5e-20) was measured at these sizes.
CERTAIN = {"example A": 1e-14, "example B, 1e-1": 1e-14, "example B, 1e-5": 1e-10, "example B, 1e-3": 1e-7}


def largest(a, b) -> float:
    return max(float(np.max(np.abs(x - y))) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_extended_precision_finds_the_stored_motion(name):
    assert largest(motion(CASES[name]), stored(name)) < CERTAIN[name]


def test_another_body_is_told_apart():
    case = CASES["example A"]
    heavier = case._replace(mgl=case.mgl * (1.0 + 1e-12))
    assert largest(motion(heavier), stored("example A")) > CERTAIN["example A"]


def free_rotation(case: Case, t: float) -> np.ndarray:
    """Euler's free body about the axis of the middle moment J1, J2 < J1 < J3, by Jacobi's functions.

    With 2T J1 < |L|^2 the component 3 keeps its sign, and 1, 2, 3 go like sn, cn, dn.
    """
    with mpmath.workdps(40):
        b, a, c = (mpmath.mpf(value) for value in case.inertia)
        O1, O2, O3 = (mpmath.mpf(value) for value in case.Omega)
        T2 = b * O1**2 + a * O2**2 + c * O3**2
        LL = b**2 * O1**2 + a**2 * O2**2 + c**2 * O3**2
        assert a < b < c and LL > T2 * b and O2 > 0 and O3 > 0
        m = (b - a) * (T2 * c - LL) / ((c - b) * (LL - T2 * a))
        rate = mpmath.sqrt((c - b) * (LL - T2 * a) / (a * b * c))
        scale = [mpmath.sqrt((T2 * c - LL) / (b * (c - b))), mpmath.sqrt((T2 * c - LL) / (a * (c - a)))]
        scale.append(mpmath.sqrt((LL - T2 * a) / (c * (c - a))))
        # axes (2, 1, 3) are a left-handed triple, in which time runs backwards
        u = mpmath.ellipf(mpmath.asin(O1 / scale[0]), m) - rate * mpmath.mpf(t)
        pairs = zip(scale, ("sn", "cn", "dn"), strict=True)
        return np.array([float(s * mpmath.ellipfun(f, u, m=m)) for s, f in pairs])


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("example B")])
def test_tennis_racket_turns_as_elliptic_functions_say(name):
    case = CASES[name]
    for t, Omega in zip(case.times, stored(name).Omega, strict=True):
        np.testing.assert_allclose(Omega, free_rotation(case, t), rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("name", ["example A", "example B, 1e-1"])
def test_eulers_equations_in_quaternions_agree(name):
    case = CASES[name]
    J = np.array(case.inertia)

    def field(_, y):
        p, Omega = y[:4], y[4:]
        w, x, y_, z = p
        rate = np.array([-p[1:] @ Omega, *(w * Omega + np.cross(p[1:], Omega))]) / 2.0
        weight = case.mgl * np.array([2.0 * (y_ * z + w * x), -2.0 * (x * z - w * y_), 0.0])
        return np.concatenate([rate, (weight + np.cross(J * Omega, Omega)) / J])

    start = Rotation.from_euler("ZXZ", np.pi * np.array(case.angles))
    y0 = np.concatenate([start.as_quat(scalar_first=True), case.Omega])
    t = case.times[0]
    end = solve_ivp(field, (0.0, t), y0, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    R = Rotation.from_quat(end[:4], scalar_first=True).as_matrix()
    reference = stored(name)
    assert np.max(np.abs(R - reference.R[0])) < 1e-9
    assert np.max(np.abs(end[4:] - reference.Omega[0])) < 1e-9
