"""A flyball governor."""

import math

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from poinsot.core import checked
from poinsot.library._bar import THICKNESS, bar
from poinsot.library._kinematics import Poses, moving
from poinsot.library._parameters import require, single
from poinsot.model import RigidBody, System, joints, potentials
from poinsot.rotation import about_y, about_z

LENGTH, ROD, BALL, SLEEVE = 0.5, 0.2, 1.0, 2.0
"""Length of the four rods; masses of a rod, a ball and the sleeve."""


@checked
def governor(speed: ArrayLike = 10.0, angle: ArrayLike = math.pi / 4) -> System:
    r"""Watt's governor: two balls on arms that fly out as the spindle turns, and lift a sleeve.

    Two arms hang from the top of a spindle, with balls at their ends; links from there carry a sleeve that
    slides on the spindle. Rods of $l = 0.5$ m and 0.2 kg, balls of $m = 1$ kg (points), a sleeve of
    $M = 2$ kg, gravity along -z. The spindle turns freely: angular momentum about z is conserved, and the
    arms swing about the angle of steady rotation from the vertical,

    $$ \cos\vartheta = \frac{g\,(m + 2 m_r + M)}
       {\omega^2\,l\,\bigl(m + \tfrac23 m_r - 2\kappa m_r\bigr)} $$

    with $\kappa = 10^{-3}$ for the thickness of the rods of mass $m_r$. Six of the 40 conditions are
    redundant; two degrees of freedom.

    Args:
        speed: angular velocity $\omega$ of the spindle at the start.
        angle: of the arms from the vertical, at rest in the spindle.
    """
    given = single(speed=speed, angle=angle)
    require(
        (given["angle"] > 0.0) & (given["angle"] < 0.5 * jnp.pi),
        f"angle = {angle}; it must be between 0 and pi/2",
    )
    centre = _arm_centre()
    sides = ("left", "right")
    top = (0.0, 0.0, 0.0)
    held = []
    for side in sides:
        arm, link = f"{side} arm", f"{side} link"
        held += [
            _pin(f"{side} top", "spindle", arm, 0.0, -centre),
            _pin(f"{side} ball", arm, link, LENGTH - centre, -0.5 * LENGTH),
            _pin(f"{side} foot", link, "sleeve", 0.5 * LENGTH, 0.0),
        ]
    system = System(
        [
            RigidBody(1.0, (0.02, 0.02, 1e-3), name="spindle"),
            RigidBody(SLEEVE, (2e-3, 2e-3, 2e-3), name="sleeve"),
            *(_arm(f"{side} arm", centre) for side in sides),
            *(bar(f"{side} link", ROD, LENGTH) for side in sides),
        ],
        joints=[
            joints.Revolute("ground", "spindle", at_first=top, at_second=top, name="bearing"),
            joints.Prismatic("spindle", "sleeve", at_first=top, at_second=top, name="slide"),
            *held,
        ],
        potentials=[potentials.UniformGravity((0.0, 0.0, -9.81))],
        name="governor",
    )
    q = jnp.stack([jnp.zeros(()), given["angle"]])
    start = moving(system, _poses, q, jnp.stack([given["speed"], jnp.zeros(())]))
    return system.recommending(start, 1e-3)


def _pin(name: str, first: str, second: str, at_first: float, at_second: float) -> joints.Revolute:
    """A hinge along y at points on the x axes of two bodies."""
    points = {"at_first": (at_first, 0.0, 0.0), "at_second": (at_second, 0.0, 0.0)}
    return joints.Revolute(first, second, **points, axis=(0, 1, 0), name=name)


def _arm_centre() -> float:
    """Distance of the mass centre of an arm with its ball from the hinge."""
    return (0.5 * ROD + BALL) * LENGTH / (ROD + BALL)


def _arm(name: str, centre: float) -> RigidBody:
    """A rod along x with a ball at its end."""
    own = ROD * LENGTH**2
    across = own / 12.0 + ROD * (centre - 0.5 * LENGTH) ** 2 + BALL * (LENGTH - centre) ** 2
    return RigidBody(ROD + BALL, (THICKNESS * own, across, across), name=name)


def _poses(q: Array) -> Poses:
    """Poses of all bodies at the angle of the spindle and that of the arms."""
    turned, lean = about_z(q[0]), 0.5 * jnp.pi - q[1]
    right, left = about_y(lean), about_y(jnp.pi - lean)
    right_link, left_link = about_y(jnp.pi - lean), about_y(lean)
    sleeve = 2.0 * LENGTH * (right[:, 0] * jnp.array([0.0, 0.0, 1.0]))
    ball = [LENGTH * arm[:, 0] for arm in (left, right)]
    centre = _arm_centre() / LENGTH
    places = [
        jnp.zeros(3), sleeve, centre * ball[0], centre * ball[1],
        0.5 * (ball[0] + sleeve), 0.5 * (ball[1] + sleeve),
    ]  # fmt: skip
    turns = [jnp.eye(3), jnp.eye(3), left, right, left_link, right_link]
    return jnp.stack(places) @ turned.T, turned @ jnp.stack(turns)
