"""Robot arms: one with seven axes, one that works in a plane."""

import math
from typing import NamedTuple

from poinsot.model import RigidBody, System, joints, potentials

TOOL = 0.15
"""From the last joint of the arm with seven axes to its hand."""


class _Segment(NamedTuple):
    """A part of an arm that stands upright, as a solid cylinder."""

    mass: float
    height: float
    radius: float
    axis: tuple[float, float, float]
    """Of the joint at its lower end."""

    @property
    def moments(self) -> tuple[float, float, float]:
        across = self.mass * (3.0 * self.radius**2 + self.height**2) / 12.0
        return across, across, 0.5 * self.mass * self.radius**2


UPRIGHT, ACROSS = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)
SEGMENTS = (
    _Segment(5.0, 0.34, 0.07, UPRIGHT),
    _Segment(5.0, 0.20, 0.07, ACROSS),
    _Segment(4.0, 0.20, 0.06, UPRIGHT),
    _Segment(4.0, 0.20, 0.06, (0.0, -1.0, 0.0)),
    _Segment(2.5, 0.20, 0.05, UPRIGHT),
    _Segment(2.0, 0.12, 0.05, ACROSS),
    _Segment(0.8, TOOL, 0.03, UPRIGHT),
)


def seven_axis_arm() -> System:
    """An arm with seven hinges, upright and across by turns: shoulder, elbow and wrist as of a human arm.

    Its segments are solid cylinders between 0.8 and 5 kg, 1.41 m high when it stands upright, where all
    coordinates are zero. The joints are called "axis1" to "axis7", the frame at its end "hand". It starts
    bent and at rest, and swings in gravity.
    """
    names = [f"link{k + 1}" for k in range(len(SEGMENTS))]
    feet = [sum(one.height for one in SEGMENTS[:k]) for k in range(len(SEGMENTS))]
    system = System(
        [RigidBody(one.mass, one.moments, name=name) for one, name in zip(SEGMENTS, names, strict=True)],
        joints=[
            joints.Revolute(inner, outer, at=(0, 0, foot), axis=one.axis, name=f"axis{k + 1}")
            for k, (inner, outer, foot, one) in enumerate(
                zip(["ground", *names[:-1]], names, feet, SEGMENTS, strict=True)
            )
        ],
        reference={
            name: ((0.0, 0.0, foot + 0.5 * one.height), (1, 0, 0, 0))
            for name, foot, one in zip(names, feet, SEGMENTS, strict=True)
        },
        potentials=[potentials.UniformGravity()],
        frames={"hand": (names[-1], (0, 0, 0.5 * TOOL))},
        name="seven-axis-arm",
    )
    bent = (0.2, 0.5, -0.3, 1.2, 0.4, 0.8, -0.1)
    start = system.joint_state({f"axis{k + 1}": angle for k, angle in enumerate(bent)})
    return system.recommending(start, 1e-3)


def scara() -> System:
    """An arm for work from above: two upright hinges, and a quill that slides and turns along z.

    Inner and outer arm are 0.35 and 0.25 m long, at a height of 0.5 m. The joints are called "shoulder",
    "elbow" and "quill", the last one with the coordinates "position" and "angle"; the frame at the lower end
    of the quill is "tool". It starts stretched along x, turning, with the quill at rest.
    """
    system = System(
        [
            RigidBody(4.0, (0.02, 0.05, 0.06), name="inner"),
            RigidBody(3.0, (0.01, 0.025, 0.03), name="outer"),
            RigidBody(0.8, (0.006, 0.006, 2e-4), name="quill"),
        ],
        joints=[
            joints.Revolute("ground", "inner", at=(0, 0, 0.5), name="shoulder"),
            joints.Revolute("inner", "outer", at=(0.35, 0, 0.5), name="elbow"),
            joints.Cylindrical("outer", "quill", at=(0.6, 0, 0.5), name="quill"),
        ],
        reference={
            "inner": ((0.175, 0, 0.5), (1, 0, 0, 0)),
            "outer": ((0.475, 0, 0.5), (1, 0, 0, 0)),
            "quill": ((0.6, 0, 0.5), (1, 0, 0, 0)),
        },
        potentials=[
            potentials.UniformGravity(bodies=["inner", "outer"]),
            potentials.JointSpring("quill", 200.0, coordinate="position"),
        ],
        frames={"tool": ("quill", (0, 0, -0.15))},
        name="scara",
    )
    start = system.joint_state({"quill": (0.05, 0.0)}, rates={"shoulder": 0.5 * math.pi, "elbow": -1.0})
    return system.recommending(start, 1e-3)
