"""A gyroscope in gimbals."""

import math

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from poinsot.core import checked
from poinsot.library._kinematics import Poses, moving
from poinsot.library._parameters import single
from poinsot.model import RigidBody, System, joints
from poinsot.rotation import about_x, about_z

RING, DISC = 0.2, 1.0
"""Masses in kilograms."""
BEARINGS = (0.0, 0.0, -0.12), (0.11, 0.0, 0.0), (0.0, 0.0, 0.1)
"""A place on the axis of each hinge."""


@checked
def gimbals(angle: ArrayLike = math.pi / 3, spin: ArrayLike = 60.0, rate: ArrayLike = 3.0) -> System:
    r"""A balanced gyroscope in two gimbal rings (Cardan's suspension), with the mass of the rings.

    The outer ring turns about the vertical by $\psi$, the inner ring in it about a level axis by
    $\vartheta$, and the rotor in that about its own axis by $\varphi$: Euler angles zxz. Thin rings of 200 g,
    with radii of 12 and 10 cm, and a disc of 1 kg with a radius of 8 cm; all centres are at the origin, and
    nothing else acts. With moments $A_z$ of the outer ring about z, $B$ of the inner ring and $C$ of the
    rotor,

    $$ T = \tfrac12\bigl(A_z + (B_y + C_1)\sin^2\vartheta + B_z\cos^2\vartheta\bigr)\dot\psi^2
         + \tfrac12 (B_x + C_1)\,\dot\vartheta^2
         + \tfrac12 C_3\,(\dot\varphi + \dot\psi\cos\vartheta)^2. $$

    Momenta of $\psi$ and $\varphi$ are conserved. A gyroscope without rings would keep its axis near the
    angular momentum; because of the rings' mass the nutation makes the outer ring drift (Magnus).

    Args:
        angle: $\vartheta$ of the inner ring at the start.
        spin: $\dot\varphi$ of the rotor.
        rate: $\dot\vartheta$ of the inner ring: how much it nutates.
    """
    given = single(angle=angle, spin=spin, rate=rate)
    below, beside, above = ({"at_first": at, "at_second": at} for at in BEARINGS)
    system = System(
        [
            RigidBody(RING, _ring(0.12), name="outer ring"),
            RigidBody(RING, _ring(0.10), name="inner ring"),
            RigidBody(DISC, DISC * 0.08**2 * jnp.array([0.25, 0.25, 0.5]), name="rotor"),
        ],
        joints=[
            joints.Revolute("ground", "outer ring", **below, axis=(0, 0, 1), name="psi"),
            joints.Revolute("outer ring", "inner ring", **beside, axis=(1, 0, 0), name="theta"),
            joints.Revolute("inner ring", "rotor", **above, axis=(0, 0, 1), name="phi"),
        ],
        name="gimbals",
    )
    none = jnp.zeros(())
    start = moving(
        system,
        _poses,
        jnp.stack([none, given["angle"], none]),
        jnp.stack([none, given["rate"], given["spin"]]),
    )
    return system.recommending(start, 1e-3)


def _ring(radius: float) -> Array:
    """Moments of a thin ring in the plane of x and z."""
    return RING * radius**2 * jnp.array([0.5, 1.0, 0.5])


def _poses(angles: Array) -> Poses:
    """Poses of both rings and the rotor at the three angles."""
    outer = about_z(angles[0])
    inner = outer @ about_x(angles[1])
    return jnp.zeros((3, 3)), jnp.stack([outer, inner, inner @ about_z(angles[2])])
