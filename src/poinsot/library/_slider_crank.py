"""A slider-crank in space."""

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array

from poinsot.core import checked
from poinsot.library._kinematics import Poses, moving
from poinsot.library._parameters import single
from poinsot.model import RigidBody, System, joints, potentials
from poinsot.rotation import about_x, about_y, about_z

CRANK, ROD = 0.08, 0.3
"""Lengths in metres."""
AXLE = (0.0, 0.1, 0.12)
"""Where the crank turns."""


@checked
def slider_crank(rate: ArrayLike = 6.0, driven: bool = False) -> System:
    r"""A crank that moves a slider along its axle: the spatial slider-crank of Haug (1989).

    The crank of 8 cm turns about the x direction through $(0, 0.1, 0.12)$ m, the slider moves along the
    x axis, and a rod of 30 cm goes between them, on a ball joint at the crank and a universal joint at the
    slider. With the angle $\vartheta$ of the crank from z, its pin is at
    $p = (0,\ 0.1 - 0.08\sin\vartheta,\ 0.12 + 0.08\cos\vartheta)$ and the slider at

    $$ s = \sqrt{0.3^2 - p_y^2 - p_z^2}. $$

    Masses 0.12, 0.5 and 2 kg; moments $10^{-4}$ across and $10^{-5}$ along the crank, $4\cdot10^{-3}$ across
    and $4\cdot10^{-4}$ along the rod, $10^{-4}$ of the slider, in kg m²; gravity along -z. It starts with the
    crank upright.

    Args:
        rate: of the crank at the start, in 1/s.
        driven: whether a drive keeps the crank at this rate.
    """
    given = single(rate=rate)
    motor = [joints.Drive("axle", _steady, params=given, name="motor")] if driven else []
    system = System(
        [
            RigidBody(0.12, (1e-4, 1e-4, 1e-5), name="crank"),
            RigidBody(0.5, (4e-4, 4e-3, 4e-3), name="rod"),
            RigidBody(2.0, (1e-4, 1e-4, 1e-4), name="slider"),
        ],
        joints=[
            joints.Revolute(
                "ground", "crank", at_first=AXLE, at_second=(0, 0, -CRANK / 2), axis=(1, 0, 0), name="axle"
            ),
            joints.Spherical(
                "crank", "rod", at_first=(0, 0, CRANK / 2), at_second=(ROD / 2, 0, 0), name="pin"
            ),
            joints.Universal(
                "slider", "rod", at_first=(0, 0, 0), at_second=(-ROD / 2, 0, 0), axis=(1, 0, 0), name="cross"
            ),
            joints.Prismatic(
                "ground", "slider", at_first=(0, 0, 0), at_second=(0, 0, 0), axis=(1, 0, 0), name="rail"
            ),
            *motor,
        ],
        potentials=[potentials.UniformGravity((0.0, 0.0, -9.81))],
        name="slider-crank",
    )
    start = moving(system, _poses, jnp.zeros(()), given["rate"])
    return system.recommending(start, 1e-3)


def _steady(t, params):
    """The angle of a crank that turns at a constant rate."""
    return params["rate"] * t


def _poses(angle: Array) -> Poses:
    """Poses of crank, rod and slider at an angle of the crank."""
    turned = about_x(angle)
    axle, arm = jnp.array(AXLE), turned[:, 2] * CRANK
    pin = axle + arm
    s = jnp.sqrt(ROD**2 - pin[1] ** 2 - pin[2] ** 2)
    slider = jnp.stack([s, jnp.zeros(()), jnp.zeros(())])
    along = (pin - slider) / ROD
    # Turned about y with the slider, then about its own z: the two axes of the universal joint.
    leaning = about_y(jnp.arctan2(-along[2], along[0])) @ about_z(jnp.arcsin(along[1]))
    places = jnp.stack([axle + 0.5 * arm, 0.5 * (pin + slider), slider])
    return places, jnp.stack([turned, leaning, jnp.eye(3)])
