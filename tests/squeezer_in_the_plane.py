"""Andrews' squeezer in the plane: three numbers a body, forces of the hinges from one dense system."""

import numpy as np
from scipy.integrate import solve_ivp

D, DA, E, EA, RR, RA, SS, SA, SB, SC, SD = (
    0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092, 0.035, 0.01874, 0.01043, 0.018, 0.02,
)  # fmt: skip
TA, TB, U, UA, UB, ZF, ZT, FA = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
C0, L0, TORQUE = 4530.0, 0.07785, 0.033
MASS = np.array([0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498])
MOMENT = np.array([2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5])
A, B, C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])
POINTS = {
    "O1": (0, (-RA, 0)), "P1": (0, (RR - RA, 0)), "P2": (1, (DA, 0)), "F2": (1, (DA - D, 0)),
    "B3": (2, (-SB, SA)), "F3": (2, (-SB, SA - SS)), "G4": (3, (0, E - EA)), "F4": (3, (0, -EA)),
    "A5": (4, (-TA, -TB)), "G5": (4, (ZT - TA, -TB)), "H6": (5, (FA - ZF, 0)), "F6": (5, (FA, 0)),
    "A7": (6, (UB, UA)), "H7": (6, (UB, UA - U)),
}  # fmt: skip
"""Body and place in it."""
HINGES = [
    ("O1", np.zeros(2)), ("P1", "P2"), ("B3", B), ("F2", "F3"), ("A5", A), ("G5", "G4"), ("F2", "F4"),
    ("A7", A), ("H7", "H6"), ("F2", "F6"),
]  # fmt: skip
START = np.array(
    [-0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885884, 0.487364979543842550,
     -0.222668390165885884, 1.23054744454982119]
)  # fmt: skip
PUBLISHED = np.array(
    [15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
     0.5347301163226948, 1.048080741042263]
)  # fmt: skip
"""The seven angles at t = 0.03 s that the test set of Mazzia and Magherini prints."""


def body_angles(source: np.ndarray) -> np.ndarray:
    """Angles of the bodies from those of the source."""
    beta, theta, gamma, phi, delta, omega, epsilon = source
    return np.array([beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon])


def _turned(angle, point) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * point[0] - s * point[1], s * point[0] + c * point[1]])


def _start() -> np.ndarray:
    angles = body_angles(START)
    centres: dict[int, np.ndarray] = {}

    def place(name):
        body, point = POINTS[name]
        return centres[body] + _turned(angles[body], point)

    for inner, outer in (
        (np.zeros(2), "O1"), ("P1", "P2"), (B, "B3"), (A, "A5"), (A, "A7"), ("G5", "G4"), ("H7", "H6"),
    ):  # fmt: skip
        body, point = POINTS[outer]
        where = place(inner) if isinstance(inner, str) else inner
        centres[body] = where - _turned(angles[body], point)
    return np.concatenate([[*centres[i], angles[i]] for i in range(7)])


def _rates(t: float, y: np.ndarray) -> np.ndarray:
    q, v = y[:21], y[21:]
    matrix, right = np.zeros((41, 41)), np.zeros(41)
    matrix[range(21), range(21)] = np.stack([MASS, MASS, MOMENT], axis=1).reshape(-1)
    for k, ends in enumerate(HINGES):
        rows = slice(21 + 2 * k, 23 + 2 * k)
        for end, sign in zip(ends, (1.0, -1.0), strict=True):
            if isinstance(end, str):
                body, point = POINTS[end]
                arm = _turned(q[3 * body + 2], point)
                jac = sign * np.array([[1.0, 0.0, -arm[1]], [0.0, 1.0, arm[0]]])
                matrix[rows, 3 * body : 3 * body + 3] += jac
                right[rows] += sign * arm * v[3 * body + 2] ** 2
    matrix[:21, 21:] = matrix[21:, :21].T
    arm = _turned(q[8], (SD - SB, SA - SC))
    span = q[6:8] + arm - C
    length = np.sqrt(span @ span)
    force = -C0 * (length - L0) / length * span
    right[6:8], right[8] = force, arm[0] * force[1] - arm[1] * force[0]
    right[2] = TORQUE
    return np.concatenate([v, np.linalg.solve(matrix, right)[:21]])


def motion(t1: float) -> np.ndarray:
    """Place and angle of each body, (7, 3), at a time."""
    y = np.concatenate([_start(), np.zeros(21)])
    return solve_ivp(_rates, (0.0, t1), y, method="DOP853", rtol=1e-12, atol=1e-14).y[:21, -1].reshape(7, 3)
