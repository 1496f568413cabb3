"""A parallelogram of bars."""

import math

import jax.numpy as jnp
from jax.typing import ArrayLike

from poinsot.library._parameters import numbers
from poinsot.model import RigidBody, System, joints, potentials
from poinsot.rotation import about_z


def parallelogram(speed: ArrayLike = 1.0) -> System:
    r"""Three unit bars and the ground as a parallelogram: IFToMM benchmark A02 with one loop.

    Bars of one metre and one kilogram, hinged along z: two stand upright on the ground, a metre apart, and
    the third lies on top, in gravity along -y. As hinges in space the loop has three redundant conditions.
    Whenever the bars are level it could fold the other way, and joint forces are not unique. The upper hinges
    are at $(\cos\vartheta, \sin\vartheta)$ from the lower ones and move like a pendulum,

    $$ \tfrac53\,\ddot\vartheta = -2 g\cos\vartheta. $$

    Args:
        speed: of the upper bar along x at the start, in m/s.
    """
    given = numbers(speed=speed)
    bars = [RigidBody(1.0, (1e-3, 1.0 / 12.0, 1.0 / 12.0), name=name) for name in ("left", "top", "right")]
    end = (0.5, 0.0, 0.0)
    begin = (-0.5, 0.0, 0.0)
    system = System(
        bars,
        joints=[
            joints.Revolute("ground", "left", at_first=(0, 0, 0), at_second=begin),
            joints.Revolute("left", "top", at_first=end, at_second=begin),
            joints.Revolute("top", "right", at_first=end, at_second=end),
            joints.Revolute("ground", "right", at_first=(1, 0, 0), at_second=begin),
        ],
        potentials=[potentials.UniformGravity((0.0, -9.81, 0.0))],
        name="parallelogram",
    )
    upright, level = about_z(math.pi / 2), jnp.eye(3)
    along, turning = jnp.array([1.0, 0.0, 0.0]), jnp.array([0.0, 0.0, -1.0])
    start = system.state(
        position=[(0.0, 0.5, 0.0), (0.5, 1.0, 0.0), (1.0, 0.5, 0.0)],
        rotation=jnp.stack([upright, level, upright]),
        velocity=given["speed"] * jnp.stack([0.5 * along, along, 0.5 * along]),
        angular_velocity=given["speed"] * jnp.stack([turning, jnp.zeros(3), turning]),
    )
    return system.recommending(start, 1e-3)
