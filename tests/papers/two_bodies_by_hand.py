"""Two bodies with a ball joint by equations of their own, integrated in extended precision.

The joint force follows from three linear equations, rotations are matrices, and steps are extrapolated to
order 16 by Gragg's method: nothing of it is in the package.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

Number = np.longdouble
LEVELS = 8
"""Columns of the extrapolation: order 16."""


@dataclass(frozen=True)
class Pair:
    """Two bodies whose points at `arms` from the mass centres meet; a spring holds the first mass centre."""

    mass: Any
    inertia: Any
    """Principal moments of both."""
    arms: Any
    stiffness: float = 0.0

    def __post_init__(self):
        for name in ("mass", "inertia", "arms"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=Number))

    def start(self, rotation, spins) -> np.ndarray:
        """The packed state: both bodies turned alike, the first at rest at the origin."""
        R, w, zero = np.asarray(rotation, dtype=Number), np.asarray(spins, dtype=Number), np.zeros(3, Number)
        x = R @ (self.arms[0] - self.arms[1])
        v = R @ (np.cross(w[0], self.arms[0]) - np.cross(w[1], self.arms[1]))
        return np.concatenate([zero, x, R.ravel(), R.ravel(), zero, v, w.ravel()])

    def rates(self, y: np.ndarray) -> np.ndarray:
        """Rates of the packed state."""
        x, R, v, w = parts(y)
        force = np.stack([-Number(self.stiffness) * x[0], np.zeros(3, Number)])
        matrix, apart, across, spun = np.zeros((3, 3), Number), np.zeros(3, Number), [], []
        torque = np.cross(self.inertia * w, w)
        for i, sign in enumerate((1, -1)):
            arm, J = self.arms[i], self.inertia[i]
            across.append(R[i] @ hat(arm))
            spun.append(R[i] @ hat(w[i]))
            matrix += np.eye(3, dtype=Number) / self.mass[i] + (across[i] / J) @ across[i].T
            bent = np.cross(torque[i] / J, arm) + np.cross(w[i], np.cross(w[i], arm))
            apart += sign * (force[i] / self.mass[i] + R[i] @ bent)
        pull = solved(matrix, -apart)
        a, turning = np.empty_like(v), np.empty_like(w)
        for i, sign in enumerate((1, -1)):
            a[i] = (force[i] + sign * pull) / self.mass[i]
            turning[i] = (torque[i] - sign * across[i].T @ pull) / self.inertia[i]
        return np.concatenate([v.ravel(), np.ravel(spun), a.ravel(), turning.ravel()])

    def end(self, y: np.ndarray, t1: float, steps: int) -> np.ndarray:
        """The state at `t1`, by extrapolated steps of the explicit midpoint rule."""
        H = Number(t1) / steps
        counts = [2 * (k + 1) for k in range(LEVELS)]
        for _ in range(steps):
            table: list[np.ndarray] = []
            first = self.rates(y)
            for row, count in enumerate(counts):
                h = H / count
                before, now = y, y + h * first
                for _ in range(count - 1):
                    before, now = now, before + 2 * h * self.rates(now)
                new = [now]
                for k in range(row):
                    ratio = (Number(count) / counts[row - 1 - k]) ** 2
                    new.append(new[k] + (new[k] - table[k]) / (ratio - 1))
                table = new
            y = table[-1]
        return y


def parts(y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Positions, rotations, velocities and body angular velocities."""
    return y[:6].reshape(2, 3), y[6:24].reshape(2, 3, 3), y[24:30].reshape(2, 3), y[30:].reshape(2, 3)


def hat(w: np.ndarray) -> np.ndarray:
    """The matrix of a cross product."""
    zero = Number(0)
    return np.array([[zero, -w[2], w[1]], [w[2], zero, -w[0]], [-w[1], w[0], zero]])


def solved(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution of three equations by Cramer's rule."""
    columns = np.array([np.cross(A[1], A[2]), np.cross(A[2], A[0]), np.cross(A[0], A[1])]).T
    return columns @ b / (A[0] @ columns[:, 0])
