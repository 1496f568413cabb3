"""Splitting with the exact free rotation: free bodies of every kind, at steps of any size."""

from functools import cache
from typing import Literal

import numpy as np
import pytest

import poinsot as pt
from poinsot.coordinates import Group
from poinsot.integrators import LieSplitting

TERZE = (0.9144, 1.098, 1.66)
BODIES = {
    "terze": (TERZE, (0.45549, 0.82623, 0.03476)),
    "nearly symmetric": ((1.0, 1.0 + 1e-9, 1.5), (0.4, 0.7, 0.5)),
    "symmetric": ((1.0, 1.0, 1.5), (0.4, 0.7, 0.5)),
    "spherical": ((1.2, 1.2, 1.2), (0.4, 0.7, 0.5)),
    "nearly spherical": ((1.2, 1.2 + 1e-11, 1.2 - 1e-11), (0.4, 0.7, 0.5)),
    "near the unstable axis": (TERZE, (1e-3, 0.9, -1e-3)),
}
"""Moments and angular velocities."""
T1 = 100.0


@cache
def taylor() -> tuple[np.ndarray, np.ndarray]:
    """Quaternions and angular velocities at `T1` by Taylor series of order 28, with more digits than double.

    All derivatives follow from products of series, since Euler's equations and $q' = q * \\Omega / 2$ are
    quadratic.
    """
    J = np.array([J for J, _ in BODIES.values()], dtype=np.longdouble).T
    w = np.array([w for _, w in BODIES.values()], dtype=np.longdouble).T
    q = np.zeros((4, len(BODIES)), dtype=np.longdouble)
    q[0] = 1.0
    ratio = np.stack([(J[1] - J[2]) / J[0], (J[2] - J[0]) / J[1], (J[0] - J[1]) / J[2]])
    order, steps = 28, 400
    powers = (np.longdouble(T1) / steps) ** np.arange(order + 1, dtype=np.longdouble)[:, None, None]
    W, Q = (np.zeros((order + 1, *part.shape), dtype=np.longdouble) for part in (w, q))
    for _ in range(steps):
        W[0], Q[0] = w, q
        for n in range(order):
            begin, back = W[: n + 1], W[n::-1]
            spin = np.sum(begin[:, [1, 2, 0]] * back[:, [2, 0, 1]], axis=0)
            W[n + 1] = ratio * spin / (n + 1)
            Q[n + 1] = np.sum(_product(Q[: n + 1], back), axis=0) / (2 * (n + 1))
        w, q = np.sum(powers * W, axis=0), np.sum(powers * Q, axis=0)
    return q.T.astype(float), w.T.astype(float)


def _product(q: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Products of quaternions q and (0, w), components along the second axis."""
    (a, b, c, d), (x, y, z) = np.moveaxis(q, 1, 0), np.moveaxis(w, 1, 0)
    return np.stack(
        [-b * x - c * y - d * z, a * x + c * z - d * y, a * y + d * x - b * z, a * z + b * y - c * x], axis=1
    )


@cache
def run(dt: float, free: Literal["exact", "elementary"] = "exact") -> pt.BodyTrajectory:
    """All bodies side by side: nothing acts between them."""
    system = pt.System([pt.RigidBody(1.0, J, name=name) for name, (J, _) in BODIES.items()])
    start = system.state(angular_velocity=[w for _, w in BODIES.values()])
    trajectory = pt.simulate(
        system,
        start,
        t1=T1,
        dt=dt,
        coordinates=Group(),
        integrator=LieSplitting(free),
        save_every=round(T1 / dt),
        progress=False,
    )
    assert isinstance(trajectory, pt.BodyTrajectory)
    return trajectory


@pytest.mark.parametrize("dt", [0.5, 12.5, 100.0])
def test_free_bodies_after_a_hundred_seconds_at_any_step(dt):
    quaternions, spins = taylor()
    end = run(dt)
    for k, name in enumerate(BODIES):
        found = end.quaternion[-1, k]
        sign = np.sign(found @ quaternions[k])
        assert np.max(np.abs(sign * found - quaternions[k])) < 1e-10, name
        assert np.max(np.abs(end.angular_velocity[-1, k] - spins[k])) < 1e-10, name
    assert np.max(np.abs(end.energy / end.energy[0] - 1.0)) < 1e-12


def test_elementary_rotations_are_not_exact():
    _, spins = taylor()
    end = run(0.5, "elementary")
    assert np.max(np.abs(end.angular_velocity[-1, 0] - spins[0])) > 1e-4
    # Of a sphere they are: it has no gyroscopic torque, and keeps its angular velocity in space.
    momentum = end.rotation[-1, 3] @ end.angular_velocity[-1, 3]
    np.testing.assert_allclose(momentum, BODIES["spherical"][1], rtol=0.0, atol=1e-12)
