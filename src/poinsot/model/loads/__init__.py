"""Loads: forces and torques that no potential energy describes.

With loads the energy is not conserved; reports show its balance with the work done.

- resistance: `LinearDamping`
- on one body, constant or a function of time, in space or in the body: `Force`, `Torque`, `thrust`
- between two points: `Damper`; in a joint: `JointTorque`, `JointForce`, `JointDamper`
- your own: `Function`
- in all joints at once, as a function of all joint coordinates: the controllers of `pt.control`
"""

from collections.abc import Callable

from poinsot.core import Registry

from ._base import AbstractLoad, total_wrench
from ._control import AbstractControl
from ._damper import Damper
from ._damping import LinearDamping
from ._force import Force, Torque, thrust
from ._function import Function
from ._joint import AbstractJointLoad, JointDamper, JointEffort, JointForce, JointTorque

REGISTRY: Registry[Callable[..., AbstractLoad]] = Registry(
    "load",
    {
        "linear-damping": LinearDamping,
        "force": Force,
        "thrust": thrust,
        "torque": Torque,
        "damper": Damper,
        "joint-torque": JointTorque,
        "joint-force": JointForce,
        "joint-damper": JointDamper,
    },
)

__all__ = [
    "REGISTRY",
    "AbstractControl",
    "AbstractJointLoad",
    "AbstractLoad",
    "Damper",
    "Force",
    "Function",
    "JointDamper",
    "JointEffort",
    "JointForce",
    "JointTorque",
    "LinearDamping",
    "Torque",
    "thrust",
    "total_wrench",
]
