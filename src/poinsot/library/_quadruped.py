"""A four-legged machine that no ground holds."""

import math
from typing import Any

from poinsot.model import RigidBody, System, joints, potentials

TORSO = (0.4, 0.2, 0.1)
"""Length, width and height of the torso."""
HIP, THIGH, SHANK = 0.06, 0.2, 0.2
"""Lengths of the three links of a leg: sideways, down and down."""
CORNERS = {"front_left": (1, 1), "front_right": (1, -1), "rear_left": (-1, 1), "rear_right": (-1, -1)}


def quadruped() -> System:
    """A torso that moves freely, with four legs of three hinges each: hip, thigh and knee.

    The torso is a box of 8 kg; hips, thighs and shanks have 0.5, 0.8 and 0.3 kg. Hips turn about the way
    ahead, x, thighs and knees about y; at coordinates of zero the legs hang straight down. The joints are
    called "front_left_hip", "front_left_thigh", "front_left_knee" and so on, the frames at the ends of the
    legs "front_left_foot" and so on. There is no ground: it starts with bent knees and falls, kicking.
    """
    length, width, height = TORSO
    bodies = [RigidBody(8.0, _box(8.0, *TORSO), name="torso")]
    hinges: list[joints.AbstractJoint] = []
    places: dict[str, Any] = {"torso": ((0, 0, 0), (1, 0, 0, 0))}
    frames = {}
    for leg, (ahead, left) in CORNERS.items():
        corner = (0.5 * length * ahead, 0.5 * width * left, 0.0)
        side = (corner[0], corner[1] + HIP * left, 0.0)
        links = {
            "hip": (0.5, (0.04, HIP, 0.04), (corner[0], corner[1] + 0.5 * HIP * left, 0.0)),
            "thigh": (0.8, (0.04, 0.04, THIGH), (side[0], side[1], -0.5 * THIGH)),
            "shank": (0.3, (0.03, 0.03, SHANK), (side[0], side[1], -THIGH - 0.5 * SHANK)),
        }
        for link, (mass, sides, centre) in links.items():
            bodies.append(RigidBody(mass, _box(mass, *sides), name=f"{leg}_{link}"))
            places[f"{leg}_{link}"] = centre, (1, 0, 0, 0)
        knee = (side[0], side[1], -THIGH)
        hinges += [
            joints.Revolute("torso", f"{leg}_hip", at=corner, axis=(1, 0, 0), name=f"{leg}_hip"),
            joints.Revolute(f"{leg}_hip", f"{leg}_thigh", at=side, axis=(0, 1, 0), name=f"{leg}_thigh"),
            joints.Revolute(f"{leg}_thigh", f"{leg}_shank", at=knee, axis=(0, 1, 0), name=f"{leg}_knee"),
        ]
        frames[f"{leg}_foot"] = f"{leg}_shank", (0, 0, -0.5 * SHANK)
    system = System(
        bodies,
        joints=hinges,
        reference=places,
        potentials=[potentials.UniformGravity()],
        frames=frames,
        name="quadruped",
    )
    bent = {f"{leg}_thigh": 0.25 * math.pi for leg in CORNERS}
    bent |= {f"{leg}_knee": -0.5 * math.pi for leg in CORNERS}
    kick = {f"{leg}_knee": 2.0 * ahead * left for leg, (ahead, left) in CORNERS.items()}
    return system.recommending(system.joint_state(bent, rates=kick), 1e-3)


def _box(mass: float, a: float, b: float, c: float) -> tuple[float, float, float]:
    """Moments of a solid box."""
    scale = mass / 12.0
    return scale * (b * b + c * c), scale * (a * a + c * c), scale * (a * a + b * b)
