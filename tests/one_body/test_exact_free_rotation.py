"""Splitting with the exact free rotation: free bodies of every kind, at steps of any size."""

from functools import cache

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
    powers = (np.longdouble(T1) / steps) ** np.arange(order + 1, dtype=np.longdouble)
    for _ in range(steps):
        W, Q = [w], [q]
        for n in range(order):
            back = W[::-1]
            spin = sum(
                np.stack([a[1] * b[2], a[2] * b[0], a[0] * b[1]]) for a, b in zip(W, back, strict=True)
            )
            turn = sum(_product(a, b) for a, b in zip(Q, back, strict=True))
            W.append(ratio * spin / (n + 1))
            Q.append(turn / (2 * (n + 1)))
        w = sum(c * h for c, h in zip(W, powers, strict=True))
        q = sum(c * h for c, h in zip(Q, powers, strict=True))
    return q.T.astype(float), w.T.astype(float)


def _product(q, w):
    """The product of quaternions q and (0, w)."""
    return np.stack(
        [
            -q[1] * w[0] - q[2] * w[1] - q[3] * w[2],
            q[0] * w[0] + q[2] * w[2] - q[3] * w[1],
            q[0] * w[1] + q[3] * w[0] - q[1] * w[2],
            q[0] * w[2] + q[1] * w[1] - q[2] * w[0],
        ]
    )


@cache
def run(dt: float, free="exact") -> pt.BodyTrajectory:
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
    # But a sphere has no gyroscopic torque, and every splitting of its rotation is free of error in Omega...
    assert np.max(np.abs(np.linalg.norm(end.angular_velocity[-1, 3]) - np.linalg.norm(spins[3]))) < 1e-13
