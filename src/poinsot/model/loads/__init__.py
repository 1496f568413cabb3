"""Loads: forces and torques that no potential energy describes.

With loads the energy is not conserved; reports show its balance with the work done.

- resistance: `LinearDamping`
- on one body, constant or a function of time, in space or in the body: `Force`, `Torque`, `thrust`
- your own: `Function`
"""

from collections.abc import Callable

from poinsot.core import Registry

from ._base import AbstractLoad
from ._damping import LinearDamping
from ._force import Force, Torque, thrust
from ._function import Function

REGISTRY: Registry[Callable[..., AbstractLoad]] = Registry(
    "load", {"linear-damping": LinearDamping, "force": Force, "thrust": thrust, "torque": Torque}
)

__all__ = ["REGISTRY", "AbstractLoad", "Force", "Function", "LinearDamping", "Torque", "thrust"]
