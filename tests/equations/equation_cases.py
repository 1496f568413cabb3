"""A system with every freedom, potential and load, and its accelerations written down by hand."""

from functools import cache
from typing import NamedTuple

import numpy as np

import poinsot as pt
from poinsot.coordinates import Directors, EulerAngles, Group, Quaternions
from poinsot.model.potentials import Marker

INERTIA = np.array([[1.1, 0.2, -0.1], [0.2, 1.4, 0.15], [-0.1, 0.15, 1.7]])
MASSES = (2.0, 1.5, 1.2, 1.0)
PIVOT, AT = np.array([0.1, -0.2, -0.5]), np.array([0.0, 0.0, 1.0])
TOP_INERTIA = np.array([1.0, 1.3, 1.7])
GRAVITY = 0.8
SPRINGS = (
    ((0, (0.3, -0.2, 0.4)), (1, (0.1, 0.0, 0.2)), 1.3, 0.5),
    ((2, (0.2, 0.1, 0.6)), (3, (0.0, 0.3, 0.0)), 0.9, 0.2),
    ((0, (-0.3, 0.1, 0.0)), (2, (0.0, 0.0, 0.4)), 0.7, 0.0),
)
"""Ends (body, point), stiffness and rest length."""
DAMPING, SPIN_DAMPING = 0.3, 0.2
THRUST, THRUST_POINT = np.array([0.2, -0.1, 0.5]), np.array([0.0, 0.4, -0.1])

FORMULATIONS = {
    **{f"quaternions, {form}": (Quaternions(), form) for form in ("hamiltonian", "index3", "index1")},
    **{f"quaternions, {form}": (Quaternions(), form) for form in ("index0", "null_space")},
    "quaternions with sigma, index3": (Quaternions(sigma="mean"), "index3"),
    "quaternions with radial inertia, hamiltonian": (Quaternions(I0=1.0), "hamiltonian"),
    **{f"directors, {form}": (Directors(), form) for form in ("hamiltonian", "index3", "index1")},
    **{f"directors, {form}": (Directors(), form) for form in ("index0", "null_space")},
    **{f"Euler angles, {form}": (EulerAngles("zxz"), form) for form in ("hamiltonian", "index0")},
    "Euler angles, null_space": (EulerAngles("xyz"), "null_space"),
    "group": (Group(), "group"),
    "group of matrices": (Group("matrix"), "group"),
}


@cache
def system() -> pt.System:
    """A free body, one that only translates, one with a fixed point and one that is clamped."""
    return pt.System(
        [
            pt.RigidBody(MASSES[0], INERTIA, name="flyer"),
            pt.RigidBody(MASSES[1], (1.0, 1.0, 1.0), name="slider"),
            pt.RigidBody(MASSES[2], TOP_INERTIA, name="top"),
            pt.RigidBody(MASSES[3], (1.0, 1.0, 1.0), name="wall"),
        ],
        freedom=[
            pt.freedom.Free(),
            pt.freedom.Translation(pt.rotation.about_x(0.3)),
            pt.freedom.FixedPoint(PIVOT, at=AT),
            pt.freedom.Clamped((1.0, 0.0, 0.0), pt.rotation.about_y(0.4)),
        ],
        potentials=[
            pt.potentials.UniformGravity((0.0, 0.0, -GRAVITY)),
            *(
                pt.potentials.Spring(Marker(*first), Marker(*second), stiffness=k, rest_length=rest)
                for first, second, k, rest in SPRINGS
            ),
        ],
        loads=[pt.loads.LinearDamping(DAMPING, SPIN_DAMPING), pt.loads.thrust(THRUST, THRUST_POINT)],
        name="four bodies",
    )


@cache
def start() -> pt.State:
    """Somewhere away from gimbal lock, with everything in motion."""
    turns = [pt.rotation.euler("zxz", angles) for angles in ((0.4, 1.1, -0.7), (0.9, 0.8, 0.2))]
    return system().state(
        position=[(0.5, -0.4, 0.2), (-0.6, 0.3, 0.9), None, None],
        rotation=[turns[0], None, turns[1], None],
        velocity=[(0.3, 0.2, -0.1), (0.1, -0.4, 0.2), None, None],
        angular_velocity=[(0.7, -0.5, 1.1), None, (-0.4, 0.6, 0.9), None],
    )


class Accelerations(NamedTuple):
    """Of the flyer's and the slider's mass centres in space; angular ones of flyer and top in the body."""

    flyer: np.ndarray
    slider: np.ndarray
    flyer_spin: np.ndarray
    top_spin: np.ndarray


def newton_euler(x, R, v, Omega) -> Accelerations:
    """Accelerations at poses and velocities of all bodies: forces and their moments, body by body."""
    force = -DAMPING * v + np.array(MASSES)[:, None] * np.array([0.0, 0.0, -GRAVITY])
    torque = -SPIN_DAMPING * Omega
    force[0] += R[0] @ THRUST
    torque[0] += np.cross(THRUST_POINT, THRUST)
    for (i, a), (j, b), stiffness, rest in SPRINGS:
        span = x[j] + R[j] @ b - x[i] - R[i] @ a
        pull = stiffness * (1.0 - rest / np.linalg.norm(span)) * span
        for body, point, push in ((i, a, pull), (j, b, -pull)):
            force[body] += push
            torque[body] += np.cross(point, R[body].T @ push)
    arm = -PIVOT
    about_pivot = np.diag(TOP_INERTIA) + MASSES[2] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    moment = torque[2] + np.cross(arm, R[2].T @ force[2])
    return Accelerations(
        force[0] / MASSES[0],
        force[1] / MASSES[1],
        np.linalg.solve(INERTIA, torque[0] - np.cross(Omega[0], INERTIA @ Omega[0])),
        np.linalg.solve(about_pivot, moment - np.cross(Omega[2], about_pivot @ Omega[2])),
    )
