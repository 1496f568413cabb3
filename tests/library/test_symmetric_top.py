"""The top in Euler angles against Euler's equations with a quaternion, solved by SciPy."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import poinsot as pt

MASS, LENGTH, GRAVITY, TRANSVERSE, AXIAL = 1.5, 1.33, 9.81, 3.06, 0.45
START = {"theta": 0.8, "psi": 0.3, "phi": -0.4, "theta_rate": 0.7, "psi_rate": -0.6, "phi_rate": 30.0}


def axis_by_quaternion(times):
    """Third body axis in space, and body angular velocity, from Euler's equations."""
    th, ps, ph, th1, ps1, ph1 = START.values()
    rotation = Rotation.from_euler("ZYZ", [ps, th, ph])
    omega = [
        th1 * np.sin(ph) - ps1 * np.sin(th) * np.cos(ph),
        th1 * np.cos(ph) + ps1 * np.sin(th) * np.sin(ph),
        ph1 + ps1 * np.cos(th),
    ]
    inertia = np.array([TRANSVERSE, TRANSVERSE, AXIAL])
    x, y, z, w = rotation.as_quat()

    def rates(_, state):
        p, omega = state[:4], state[4:]
        # weight -m g e_z at l e3: the body torque l e3 x R^T(-m g e_z) from the third row of R
        up = np.array([2 * (p[1] * p[3] - p[0] * p[2]), 2 * (p[2] * p[3] + p[0] * p[1])])
        torque = MASS * GRAVITY * LENGTH * np.array([up[1], -up[0], 0.0])
        acceleration = (torque - np.cross(omega, inertia * omega)) / inertia
        a, b, c = omega
        turn = 0.5 * np.array(
            [
                -p[1] * a - p[2] * b - p[3] * c,
                p[0] * a + p[2] * c - p[3] * b,
                p[0] * b + p[3] * a - p[1] * c,
                p[0] * c + p[1] * b - p[2] * a,
            ]
        )
        return np.concatenate([turn, acceleration])

    solved = solve_ivp(
        rates, (0.0, times[-1]), [w, x, y, z, *omega], "DOP853", t_eval=times, rtol=1e-13, atol=1e-13
    )
    p = solved.y[:4] / np.linalg.norm(solved.y[:4], axis=0)
    axis = [2 * (p[1] * p[3] + p[0] * p[2]), 2 * (p[2] * p[3] - p[0] * p[1])]
    return np.array([*axis, p[0] ** 2 - p[1] ** 2 - p[2] ** 2 + p[3] ** 2]).T


@pytest.fixture(scope="module")
def run():
    system = pt.library.symmetric_top(
        mass=MASS, length=LENGTH, transverse_inertia=TRANSVERSE, axial_inertia=AXIAL, gravity=GRAVITY, **START
    )
    integrator = pt.integrators.by_name("gauss10")
    return pt.simulate(system, system.start, t1=3.0, dt=0.005, integrator=integrator, save_every=60)


def test_axis_moves_as_with_quaternions(run):
    ours = np.asarray(pt.library.centre_of_mass(run.y, LENGTH)) / LENGTH
    np.testing.assert_allclose(ours, axis_by_quaternion(run.t), atol=1e-10)


def test_body_spin_and_vertical_momentum_are_two_different_constants(run):
    np.testing.assert_allclose(run.conserved["Omega_3"], 30.0 - 0.6 * np.cos(0.8), rtol=1e-12)
    spread = np.ptp(run.conserved["L_z"])
    assert spread < 1e-11
    assert abs(run.conserved["L_z"][0] - AXIAL * run.conserved["Omega_3"][0]) > 1.0
    assert np.ptp(run.y[:, 5]) > 0.1, "the rate of phi itself is no constant"
