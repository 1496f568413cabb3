"""Loads: forces and torques that no potential energy describes.

With loads the energy is not conserved; reports show its balance with the work done.

- resistance: `LinearDamping`
- on one body, constant or a function of time, in space or in the body: `Force`, `Torque`, `thrust`
- your own: `Function`
"""

from ._base import AbstractLoad
from ._damping import LinearDamping
from ._force import Force, Torque, thrust
from ._function import Function

__all__ = ["AbstractLoad", "Force", "Function", "LinearDamping", "Torque", "thrust"]
