"""A four-bar linkage."""

import math
from typing import Any

import jax.numpy as jnp
from jax.typing import ArrayLike

from poinsot.core import checked
from poinsot.library._bar import bar
from poinsot.library._kinematics import Poses, bars, moving
from poinsot.library._parameters import NotNegative, Positive, require, single
from poinsot.model import System, joints, potentials


@checked
def four_bar(
    crank: Positive = 1.0,
    coupler: Positive = 2.0,
    rocker: Positive = 2.0,
    ground: Positive = 2.0,
    angle: ArrayLike = math.pi / 2,
    rate: ArrayLike = 3.0,
    stiffness: NotNegative | None = None,
    rest_length: NotNegative = 2.0,
) -> System:
    r"""Crank AB, coupler BC and rocker DC on the ground AD, with a spring along the diagonal AC if you like.

    Slender bars with as many kilograms as metres, hinged along z, in gravity along -y; A is the origin and
    D is on the x axis. With the lengths given here the crank goes round and the rocker swings (Grashof's
    condition: the shortest and the longest bar together are no longer than the other two). As hinges in
    space the loop has three redundant conditions and one degree of freedom, the angle of the crank.

    Args:
        crank: length of AB.
        coupler: length of BC.
        rocker: length of DC.
        ground: distance of A and D.
        angle: of the crank from AD, at the start.
        rate: of that angle.
        stiffness: of a spring between A and C; there is none when left out.
        rest_length: of the spring.
    """
    given = single(crank=crank, coupler=coupler, rocker=rocker, ground=ground, angle=angle, rate=rate)
    l1, l2, l3, l4 = (given[name] for name in ("crank", "coupler", "rocker", "ground"))
    terms: list[Any] = [potentials.UniformGravity((0.0, -9.81, 0.0))]
    if stiffness is not None:
        spring: Any = single(stiffness=stiffness, rest_length=rest_length)
        corner = potentials.Marker("rocker", (0.5 * l3, 0.0, 0.0))
        terms.append(
            potentials.Spring(
                (0.0, 0.0, 0.0), corner, stiffness=spring["stiffness"], rest_length=spring["rest_length"]
            )
        )
    system = System(
        [bar("crank", l1, l1), bar("coupler", l2, l2), bar("rocker", l3, l3)],
        joints=[
            joints.Revolute("ground", "crank", at_first=(0, 0, 0), at_second=_along(-l1), name="A"),
            joints.Revolute("crank", "coupler", at_first=_along(l1), at_second=_along(-l2), name="B"),
            joints.Revolute("coupler", "rocker", at_first=_along(l2), at_second=_along(l3), name="C"),
            joints.Revolute("ground", "rocker", at_first=_along(2.0 * l4), at_second=_along(-l3), name="D"),
        ],
        potentials=terms,
        name="four-bar",
    )
    start = moving(system, lambda angle: _poses(angle, l1, l2, l3, l4), given["angle"], given["rate"])
    return system.recommending(start, 1e-3)


def _poses(angle, crank, coupler, rocker, ground) -> Poses:
    """Poses of the bars, C to the left on the way from B to D."""
    A, D = jnp.zeros(2), jnp.stack([ground, jnp.zeros(())])
    B = crank * jnp.stack([jnp.cos(angle), jnp.sin(angle)])
    span = jnp.sqrt((D - B) @ (D - B))
    along = (coupler**2 - rocker**2 + span**2) / (2.0 * span)
    height = coupler**2 - along**2
    require(
        height > 0.0,
        f"coupler = {coupler} and rocker = {rocker} do not meet over {span}, the distance of B and D; make "
        "them longer, or change angle",
    )
    e = (D - B) / span
    C = B + along * e + jnp.sqrt(height) * jnp.stack([-e[1], e[0]])
    return bars([(A, B), (B, C), (D, C)])


def _along(length):
    """Half a length along the x axis."""
    return jnp.stack([0.5 * length, jnp.zeros(()), jnp.zeros(())])
