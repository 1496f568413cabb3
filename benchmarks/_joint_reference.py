"""Motions of jointed systems by other means: dense equations in NumPy, integrated by SciPy.

Nothing of the equations of the package is used, only the data of the bodies and joints. Redundant conditions
are solved by least squares. Gaps of joints are made to die out, which changes nothing where there are none.
"""

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

DYING_OUT = 20.0
"""Rate at which gaps of joints die out: else they grow with the square of time, from round-off on."""


def hat(w: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def end_positions(system, t1: float, force: Callable, tolerance: float = 1e-12) -> np.ndarray:
    """Mass centres at the end, of bodies on ball joints and hinges.

    Args:
        system: masses, moments, joints and start are taken from it.
        t1: end.
        force: forces in space and torques in the bodies, from positions and rotations, each (bodies, 3).
        tolerance: relative and absolute.
    """
    linkage, n = system.linkage, len(system.names)
    mass, moments = np.asarray(system.masses), np.asarray(system.inertia).T
    grips = [
        [(one.body, np.asarray(one.arm), np.asarray(one.frame)) for one in pair] for pair in linkage.grips
    ]
    hinges = [len(joint.freedoms) == 1 for joint in linkage.joints]

    def rows(x, R, w):
        """Jacobian in velocities and body angular velocities, minus the second rates, and gaps."""
        G, bends, gaps = [], [], []
        for pair, hinge in zip(grips, hinges, strict=True):
            point, bend, gap = np.zeros((3, 6 * n)), np.zeros(3), np.zeros(3)
            frames, spins = [], []
            for sign, (body, arm, frame) in zip((-1.0, 1.0), pair, strict=True):
                own, spin = (np.eye(3), np.zeros(3)) if body is None else (R[body], w[body])
                frames.append(own @ frame)
                spins.append(own @ spin)
                gap += sign * own @ arm
                if body is not None:
                    gap += sign * x[body]
                    point[:, 3 * body : 3 * body + 3] = sign * np.eye(3)
                    point[:, 3 * (n + body) : 3 * (n + body) + 3] = -sign * own @ hat(arm)
                    bend += sign * own @ np.cross(spin, np.cross(spin, arm))
            G.append(point)
            bends.append(-bend)
            gaps.append(gap)
            for k in (0, 1) if hinge else ():
                d, e, row = frames[0][:, 2], frames[1][:, k], np.zeros((1, 6 * n))
                for axis, other, (body, _, _) in ((d, e, pair[0]), (e, d, pair[1])):
                    if body is not None:
                        row[0, 3 * (n + body) : 3 * (n + body) + 3] = np.cross(axis, other) @ R[body]
                d1, e1 = np.cross(spins[0], d), np.cross(spins[1], e)
                second = np.cross(spins[0], d1) @ e + 2.0 * d1 @ e1 + d @ np.cross(spins[1], e1)
                G.append(row)
                bends.append(np.array([-second]))
                gaps.append(np.array([d @ e]))
        return np.concatenate(G), np.concatenate(bends), np.concatenate(gaps)

    def rates(t, y):
        x, R = y[: 3 * n].reshape(n, 3), y[3 * n : 12 * n].reshape(n, 3, 3)
        v, w = y[12 * n : 15 * n].reshape(n, 3), y[15 * n :].reshape(n, 3)
        push, torque = force(x, R)
        free = np.concatenate([np.ravel(push), np.ravel(torque - np.cross(w, moments * w))])
        inverse = 1.0 / np.concatenate([np.repeat(mass, 3), np.ravel(moments)])
        G, b, gaps = rows(x, R, w)
        b = b - 2.0 * DYING_OUT * (G @ np.concatenate([np.ravel(v), np.ravel(w)])) - DYING_OUT**2 * gaps
        forces = np.linalg.lstsq((G * inverse) @ G.T, b - G @ (inverse * free), rcond=1e-12)[0]
        turning = [R[i] @ hat(w[i]) for i in range(n)]
        return np.concatenate([v.ravel(), np.ravel(turning), inverse * (free + G.T @ forces)])

    start = system.start
    axes = np.asarray(system.placement.axes) if system.placement.axes is not None else np.eye(3)[:, :, None]
    R = np.stack([_matrix(q) @ axes[:, :, min(k, axes.shape[2] - 1)] for k, q in enumerate(start.quaternion)])
    own = np.stack(
        [axes[:, :, min(k, axes.shape[2] - 1)].T @ w for k, w in enumerate(start.angular_velocity)]
    )
    y = np.concatenate([np.ravel(part) for part in (start.position, R, start.velocity, own)])
    end = solve_ivp(rates, (0.0, t1), y, method="DOP853", rtol=tolerance, atol=tolerance).y[:, -1]
    return end[: 3 * n].reshape(n, 3)


def _matrix(q) -> np.ndarray:
    w, v = float(q[0]), np.asarray(q[1:])
    return (w * w - v @ v) * np.eye(3) + 2.0 * np.outer(v, v) + 2.0 * w * hat(v)
