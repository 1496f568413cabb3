"""A platform on six legs."""

import math

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array

from poinsot.core import checked
from poinsot.library._bar import bar
from poinsot.library._parameters import single
from poinsot.model import System, joints, potentials, shapes
from poinsot.rotation import about_x, about_y, about_z

HALF = 0.3
"""Half the length of each part of a leg."""


@checked
def stewart_platform(
    heave: ArrayLike = 0.1, roll: ArrayLike = 0.2, rate: ArrayLike = 2.0, driven: bool = True
) -> System:
    r"""A platform on six legs whose lengths move it: Stewart (1965), after Gough.

    Each leg has two parts of 60 cm and 1 kg, the lower one on a universal joint at the base, the upper one
    sliding in it, with a ball joint at the platform: a disc of 10 kg, 1.2 m wide and 10 cm thick, one metre
    above the base of radius 1 m. Drives give the legs the lengths

    $$ l_k(t) = \lvert c(t) + R(t)\,p_k - b_k\rvert, \qquad c = (0, 0, 1 + h\,s), \quad
       R = R_x(\alpha s), \quad s = 1 - \cos\omega t $$

    so that the disc heaves and rolls. It starts at rest. 13 bodies and 72 conditions of joints leave six
    degrees of freedom; six drives leave none.

    Args:
        heave: the height h in metres.
        roll: the angle $\alpha$.
        rate: $\omega$ in 1/s.
        driven: whether there are drives; without them the platform sinks.
    """
    given = single(heave=heave, roll=roll, rate=rate)
    base, top = anchors()
    home = jnp.array([0.0, 0.0, 1.0])
    parts, held, drives, places, turns = [], [], [], [], []
    for k in range(6):
        lower, upper = f"lower{k}", f"upper{k}"
        along = home + top[k] - base[k]
        along = along / jnp.sqrt(along @ along)
        parts += [bar(lower, 1.0, 2 * HALF), bar(upper, 1.0, 2 * HALF)]
        foot, head = (-HALF, 0.0, 0.0), (HALF, 0.0, 0.0)
        held += [
            joints.Universal(
                "ground", lower, at_first=base[k], at_second=foot, axis=(1, 0, 0), name=f"foot{k}"
            ),
            joints.Prismatic(lower, upper, at_first=foot, at_second=head, axis=(1, 0, 0), name=f"leg{k}"),
            joints.Spherical(upper, "platform", at_first=head, at_second=top[k], name=f"head{k}"),
        ]
        params = given | {"base": jnp.asarray(base[k]), "top": jnp.asarray(top[k])}
        drives.append(joints.Drive(f"leg{k}", _length, params=params, name=f"jack{k}"))
        places += [base[k] + HALF * along, home + top[k] - HALF * along]
        # Turned about y with the base, then about its own z: the two axes of the universal joint.
        turns += 2 * [about_y(jnp.arctan2(-along[2], along[0])) @ about_z(jnp.arcsin(along[1]))]
    system = System(
        [*parts, shapes.cylinder(0.6, 0.1, mass=10.0, name="platform")],
        joints=[*held, *(drives if driven else [])],
        potentials=[potentials.UniformGravity((0.0, 0.0, -9.81))],
        name="stewart platform",
    )
    start = system.state(position=jnp.stack([*places, home]), rotation=jnp.stack([*turns, jnp.eye(3)]))
    return system.recommending(start, 1e-3)


def anchors() -> tuple[np.ndarray, np.ndarray]:
    """Points of the legs on the base and on the platform, in pairs that lean to each other."""
    k = np.arange(6)
    middle = np.pi / 3 * (2 * (k // 2) + 1)
    side = np.where(k % 2 == 0, -1.0, 1.0)

    def around(radius: float, angle: np.ndarray) -> np.ndarray:
        return radius * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)

    return around(1.0, middle + math.radians(50.0) * side), around(0.6, middle + math.radians(10.0) * side)


def _length(t, params) -> Array:
    """Length of a leg at a time."""
    s = 1.0 - jnp.cos(params["rate"] * t)
    centre = jnp.stack([jnp.zeros(()), jnp.zeros(()), 1.0 + params["heave"] * s])
    span = centre + about_x(params["roll"] * s) @ params["top"] - params["base"]
    return jnp.sqrt(span @ span)
