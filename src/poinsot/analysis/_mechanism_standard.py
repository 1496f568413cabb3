r"""The mechanisms on which methods that hold joints are measured: a tree and a loop.

All bodies are asymmetric, all numbers of the size of one, and nothing stands along an axis that would make a
term vanish.
"""

from functools import cache

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.analysis._specimen import Specimen, seen
from poinsot.analysis._travel import travel
from poinsot.coordinates import Group
from poinsot.core import State
from poinsot.equations import formulate
from poinsot.integrators import RK4
from poinsot.model import RigidBody, System
from poinsot.model.joints import PointOnLine, Revolute, Spherical
from poinsot.model.potentials import UniformGravity
from poinsot.rotation import about_z

REFERENCE_STEPS = 40_000
"""Steps of order 4 that leave nothing but round-off."""


@cache
def standard_tree() -> Specimen:
    """A body on a ball joint with another one hinged to it, under gravity: four degrees of freedom.

    Energy and vertical angular momentum are conserved.
    """
    system = System(
        [RigidBody(1.0, (0.9, 1.1, 0.7), name="upper"), RigidBody(0.8, (0.5, 0.6, 0.4), name="lower")],
        joints=[
            Spherical("ground", "upper", at_first=(0, 0, 0), at_second=(0.1, -0.2, 0.9), name="ball"),
            Revolute(
                "upper",
                "lower",
                at_first=(0.2, 0.1, -0.8),
                at_second=(-0.1, 0.3, 0.7),
                axis_first=(0.3, 1.0, 0.2),
                axis_second=(0.0, 1.0, 0.1),
                name="hinge",
            ),
        ],
        potentials=[UniformGravity((0.0, 0.0, -1.4))],
        name="tree",
    )
    near = system.state(
        position=[(0.0, 0.0, -1.0), (0.3, 0.0, -2.4)],
        angular_velocity=[(0.7, -0.5, 1.1), (0.2, 0.9, -0.4)],
    )
    return _specimen(system, system.assemble(near), 2.0, 0.05, 4.0, 3.0)


@cache
def standard_loop() -> Specimen:
    """A crank, a rod on it, and a point of the rod on a line through the ground: one degree of freedom.

    With hinges in space its twelve conditions have rank eleven. The rod is so long that the loop is nowhere
    stretched. The energy is conserved.
    """
    system = System(
        [RigidBody(1.0, (0.2, 0.5, 0.6), name="crank"), RigidBody(0.8, (0.3, 0.9, 1.0), name="rod")],
        joints=[
            Revolute("ground", "crank", at_first=(0, 0, 0), at_second=(-0.3, 0, 0), name="main"),
            Revolute("crank", "rod", at_first=(0.4, 0.1, 0), at_second=(-0.8, 0.1, 0), name="pin"),
            PointOnLine(
                "ground",
                "rod",
                at_first=(0, 0.2, 0),
                at_second=(0.9, 0, 0),
                axis_first=(1, 0, 0),
                axis_second=(1, 0, 0),
                name="slot",
            ),
        ],
        potentials=[UniformGravity((0.5, -1.4, 0.0))],
        name="loop",
    )
    near = system.state(
        position=[(0.2, 0.2, 0.0), (1.2, 0.4, 0.0)],
        rotation=jnp.stack([about_z(0.8), about_z(-0.5)]),
        angular_velocity=[(0.0, 0.0, 1.5), (0.0, 0.0, -0.4)],
    )
    return _specimen(system, system.assemble(near), 2.0, 0.05, 4.0, 1.0)


def _specimen(
    system: System, start: State, t1: float, step: float, energy: float, momentum: float
) -> Specimen:
    @cache
    def end() -> Float[Array, " n"]:
        """From the accelerations, with no joint closed on the way."""
        formulation = formulate(system, Group(), "group")
        y = formulation.problem.pack(formulation.start(start))
        arrived = travel(formulation.problem, RK4(compensated=True), y, t1 / REFERENCE_STEPS, REFERENCE_STEPS)
        return jnp.asarray(np.asarray(seen(formulation, arrived.y)))

    return Specimen(system.name, system, start, t1, step, energy, momentum, end)
