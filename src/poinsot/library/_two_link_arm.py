"""Two links in a vertical plane: the arm of the textbooks, and the double pendulum."""

import math

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from poinsot.core import checked
from poinsot.library._bar import bar
from poinsot.library._parameters import Positive, single
from poinsot.model import System, joints, potentials

DOWN = -0.5 * math.pi


@checked
def two_link_arm(
    first: Positive = 1.0,
    second: Positive = 1.0,
    first_length: Positive = 1.0,
    second_length: Positive = 1.0,
) -> System:
    r"""Two slender links on hinges along z, in gravity along -y: the planar arm of the textbooks.

    With masses $m_i$, lengths $l_i$, mass centres at half of them, moments $J_i = m_i l_i^2/12$, the angle
    $q_1$ of the first link from x and $q_2$ of the second from the first,

    $$ a_{11} = \tfrac13 m_1 l_1^2 + m_2\bigl(l_1^2 + \tfrac13 l_2^2 + l_1 l_2\cos q_2\bigr), \quad
       a_{12} = m_2\bigl(\tfrac13 l_2^2 + \tfrac12 l_1 l_2\cos q_2\bigr), \quad
       a_{22} = \tfrac13 m_2 l_2^2. $$

    The joints are called "shoulder" and "elbow", the frame at its end "hand". It starts stretched along x, at
    rest.

    Args:
        first: mass $m_1$.
        second: mass $m_2$.
        first_length: length $l_1$.
        second_length: length $l_2$.
    """
    given = single(first=first, second=second, first_length=first_length, second_length=second_length)
    return _two_links("two-link-arm", given, jnp.zeros(2), "hand")


@checked
def double_pendulum(
    first: Positive = 1.0,
    second: Positive = 1.0,
    first_length: Positive = 1.0,
    second_length: Positive = 1.0,
    angles: tuple[ArrayLike, ArrayLike] = (2.0, 0.5),
) -> System:
    """Two slender rods, one below the other, that swing in a plane.

    They are those of `two_link_arm`, with joints "shoulder" and "elbow". They start at rest.

    Args:
        first: mass of the upper rod.
        second: mass of the lower rod.
        first_length: length of the upper rod.
        second_length: length of the lower rod.
        angles: of the upper rod from straight down, and of the lower rod from the upper one.
    """
    given = single(first=first, second=second, first_length=first_length, second_length=second_length)
    start = jnp.stack([DOWN + single(upper=angles[0])["upper"], single(lower=angles[1])["lower"]])
    return _two_links("double-pendulum", given, start, "tip")


def _two_links(name: str, given: dict[str, Array], angles: Array, end: str) -> System:
    """Two links at rest with these angles, and a frame at the end of the second."""
    along = jnp.array([1.0, 0.0, 0.0])
    halves = [0.5 * given[f"{link}_length"] * along for link in ("first", "second")]
    system = System(
        [
            bar("upper", given["first"], given["first_length"]),
            bar("lower", given["second"], given["second_length"]),
        ],
        joints=[
            joints.Revolute("ground", "upper", at_first=(0, 0, 0), at_second=-halves[0], name="shoulder"),
            joints.Revolute("upper", "lower", at_first=halves[0], at_second=-halves[1], name="elbow"),
        ],
        potentials=[potentials.UniformGravity((0.0, -9.81, 0.0))],
        frames={end: ("lower", halves[1])},
        name=name,
    )
    start = system.joint_state({"shoulder": angles[0], "elbow": angles[1]})
    return system.recommending(start, 1e-3)
