"""Parallelograms of bars in a row."""

from dataclasses import dataclass

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from poinsot.core import checked
from poinsot.library._bar import bar
from poinsot.library._kinematics import Poses, bars, moving
from poinsot.library._parameters import Count, single
from poinsot.model import System, joints, potentials


@checked
def parallelogram(speed: ArrayLike = 1.0, loops: Count = 1) -> System:
    r"""Unit bars on the ground, joined to parallelograms in a row: the N four-bar of IFToMM benchmark A02.

    Bars of one metre and one kilogram, hinged along z: $N + 1$ stand upright on the ground, a metre apart,
    and $N$ lie on top, in gravity along -y. As hinges in space each loop has three redundant conditions.
    Whenever the bars are level each loop could fold the other way, and joint forces are not unique. The upper
    hinges are at $(\cos\vartheta, \sin\vartheta)$ from the lower ones and move like a pendulum,

    $$ \bigl(\tfrac{N + 1}{3} + N\bigr)\,\ddot\vartheta
       = -g\,\bigl(\tfrac{N + 1}{2} + N\bigr)\cos\vartheta. $$

    Args:
        speed: of the upper bars along x at the start, in m/s.
        loops: number N of parallelograms.
    """
    given = single(speed=speed)
    uprights, levels = [f"upright{i}" for i in range(loops + 1)], [f"level{i}" for i in range(loops)]
    end, begin = (0.5, 0.0, 0.0), (-0.5, 0.0, 0.0)
    hinges = [
        joints.Revolute("ground", name, at_first=(i, 0, 0), at_second=begin, name=f"A{i}")
        for i, name in enumerate(uprights)
    ]
    for i, level in enumerate(levels):
        hinges += [
            joints.Revolute(uprights[i], level, at_first=end, at_second=begin, name=f"B{i}"),
            joints.Revolute(level, uprights[i + 1], at_first=end, at_second=end, name=f"C{i + 1}"),
        ]
    system = System(
        [bar(name) for name in (*uprights, *levels)],
        joints=hinges,
        potentials=[potentials.UniformGravity((0.0, -9.81, 0.0))],
        name="parallelogram",
    )
    start = moving(system, Row(loops), jnp.asarray(0.5 * jnp.pi), -given["speed"])
    return system.recommending(start, 1e-3)


@dataclass(frozen=True)
class Row:
    """Poses of the bars at an angle of the upright ones."""

    loops: int

    def __call__(self, angle: Array) -> Poses:
        """Upright bars, then level ones."""
        arm = jnp.stack([jnp.cos(angle), jnp.sin(angle)])
        feet = jnp.stack([jnp.arange(self.loops + 1.0), jnp.zeros(self.loops + 1)], axis=1)
        tips = feet + arm[None]
        return bars([*zip(feet, tips, strict=True), *zip(tips[:-1], tips[1:], strict=True)])
