"""The model: rigid bodies, what they may do, and what acts on them, in positions and directors."""

from . import ends, freedom, joints, loads, potentials, shapes
from ._abstract_system import AbstractSystem
from ._chain import Chain
from ._chart import Chart
from ._particles import Particles
from ._rigid_body import RigidBody
from ._system import System
from ._units import Units

__all__ = [
    "AbstractSystem",
    "Chain",
    "Chart",
    "Particles",
    "RigidBody",
    "System",
    "Units",
    "ends",
    "freedom",
    "joints",
    "loads",
    "potentials",
    "shapes",
]
