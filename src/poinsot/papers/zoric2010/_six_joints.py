"""A chain of six bodies with revolute and prismatic joints, as the paper describes one."""

from functools import cache

import numpy as np

from poinsot.model import RigidBody, System, joints, potentials

KINDS = "RPRRPR"
"""Revolute and prismatic joints, from the ground outwards."""
GRAVITY = (0.0, 0.0, -9.81)
AXES = np.array(
    [
        (0.0, 0.0, 1.0),
        (2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0),
        (0.0, 0.6, 0.8),
        (-0.48, 0.6, 0.64),
        (0.8, 0.0, -0.6),
        (0.36, 0.48, 0.8),
    ]
)
"""Unit vectors of the joints in their bodies; all frames are parallel where the coordinates vanish."""
STRETCHES = np.array(
    [(0.1, 0.0, 0.4), (0.3, -0.1, 0.0), (0.0, 0.2, 0.5), (0.4, 0.1, -0.1), (0.0, -0.3, 0.2), (0.1, 0.1, 0.3)]
)
"""From each joint to the next one, and from the last to the tip, in the bodies."""
Q = np.array([0.7, 0.3, -1.1, 0.4, -0.2, 1.9])
"""Coordinates at which all is compared, their rates and second rates, and forces in the joints."""
V = np.array([0.9, -0.4, 1.3, -0.8, 0.5, 1.1])
A = np.array([-0.6, 1.2, 0.3, 0.9, -1.4, 0.2])
TAU = np.array([3.0, -5.0, 2.0, 1.5, 4.0, -0.5])


@cache
def particles() -> tuple[np.ndarray, np.ndarray]:
    """Masses (body, particle) and places (body, particle, 3) from the joint of each body."""
    draw = np.random.default_rng(2010)
    masses = draw.uniform(0.2, 1.0, (len(KINDS), 5))
    return masses, 0.5 * STRETCHES[:, None] + draw.uniform(-0.2, 0.2, (len(KINDS), 5, 3))


@cache
def system() -> System:
    """The chain."""
    masses, points = particles()
    names = [f"V{i + 1}" for i in range(len(KINDS))]
    bodies = [
        RigidBody.from_particles(mass, point, name=name)
        for mass, point, name in zip(masses, points, names, strict=True)
    ]
    origins = np.concatenate([np.zeros((1, 3)), np.cumsum(STRETCHES, axis=0)[:-1]])
    links = []
    for i, kind in enumerate(KINDS):
        make = joints.Revolute if kind == "R" else joints.Prismatic
        inner = "ground" if i == 0 else names[i - 1]
        links.append(make(inner, names[i], at=origins[i], axis=AXES[i], name=f"q{i + 1}"))
    reference = {
        name: (origins[i] + np.asarray(bodies[i].centre), (1.0, 0.0, 0.0, 0.0))
        for i, name in enumerate(names)
    }
    return System(
        bodies,
        joints=links,
        reference=reference,
        potentials=[potentials.UniformGravity(GRAVITY)],
        name="six joints",
    )
