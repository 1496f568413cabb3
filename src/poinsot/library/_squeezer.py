"""Andrews' squeezer mechanism."""

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from poinsot.core import checked
from poinsot.library._kinematics import planar
from poinsot.library._parameters import single
from poinsot.model import RigidBody, System, joints, loads, potentials

MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
MOMENTS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
"""Points of the ground: two hinges, and the end of the spring."""
HINGES = (
    ("O", 0, (0.0, 0.0), 1, (-0.00092, 0.0)),
    ("E", 1, (0.00608, 0.0), 2, (0.0115, 0.0)),
    ("B", 0, B, 3, (-0.01043, 0.01874)),
    ("F3", 2, (-0.0165, 0.0), 3, (-0.01043, -0.01626)),
    ("A5", 0, A, 5, (-0.02308, -0.00916)),
    ("G", 5, (0.01692, -0.00916), 4, (0.0, 0.00579)),
    ("F4", 2, (-0.0165, 0.0), 4, (0.0, -0.01421)),
    ("A7", 0, A, 7, (0.00449, 0.01228)),
    ("H", 7, (0.00449, -0.02772), 6, (-0.00579, 0.0)),
    ("F6", 2, (-0.0165, 0.0), 6, (0.01421, 0.0)),
)
"""Name, and of two bodies (0 the ground) the number and the point relative to the mass centre."""
TREE = (0, 1, 2, 4, 5, 7, 8)
"""Hinges that lead from the ground to each body once."""
SPRING = (0.00957, 0.00074)
"""The other end of the spring, in the third body."""
ANGLES = (-0.06171389001427645, 0.0, 0.4552798191630704, 0.2226683901658859, 0.4873649795438426,
          -0.2226683901658859, 1.2305474445498212)  # fmt: skip
"""Angles beta, Theta, gamma, Phi, delta, Omega, epsilon of the source at the start."""


@checked
def squeezer(torque: ArrayLike = 0.033) -> System:
    r"""Seven bodies on ten hinges, driven by a motor: Andrews' squeezer, as in Hairer and Wanner (1996).

    Three of the bodies share a point F, and a spring of 4530 N/m with a rest length of 77.85 mm pulls the
    third body towards a point of the ground. The motor turns the first body by a constant torque, from rest.
    Data and start are those of the test set of Mazzia and Magherini. As hinges along z in space there are 50
    conditions on 42 freedoms, 9 of them redundant: one degree of freedom, and three loops.

    Args:
        torque: of the motor, in N m.
    """
    given = single(torque=torque)
    names = [f"K{i}" for i in range(1, 8)]
    bodies = ["ground", *names]
    system = System(
        [
            RigidBody(mass, moment * np.ones(3), name=name)
            for mass, moment, name in zip(MASSES, MOMENTS, names, strict=True)
        ],
        joints=[
            joints.Revolute(bodies[i], bodies[j], at_first=(*first, 0.0), at_second=(*second, 0.0), name=name)
            for name, i, first, j, second in HINGES
        ],
        potentials=[
            potentials.Spring(
                (*C, 0.0), potentials.Marker("K3", (*SPRING, 0.0)), stiffness=4530.0, rest_length=0.07785
            )
        ],
        loads=[loads.Torque(given["torque"] * jnp.array([0.0, 0.0, 1.0]), body="K1")],
        name="squeezer",
    )
    position, rotation = planar(*_places())
    return system.recommending(system.state(position=position, rotation=rotation), 1e-5)


def _places():
    """Mass centres and angles of the bodies at the start, along the tree of hinges."""
    beta, theta, gamma, phi, delta, omega, epsilon = ANGLES
    angles = np.array([0.0, beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon])
    turns = [np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in angles]
    places = {0: np.zeros(2)}
    for hinge in TREE:
        _, i, first, j, second = HINGES[hinge]
        places[j] = places[i] + turns[i] @ first - turns[j] @ second
    return jnp.asarray(np.stack([places[i] for i in range(1, 8)])), jnp.asarray(angles[1:])
