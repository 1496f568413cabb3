"""The model: rigid bodies, what they may do, and what acts on them, in positions and directors."""

from . import freedom, loads, potentials, shapes
from ._particles import Particles
from ._rigid_body import RigidBody
from ._system import System

__all__ = ["Particles", "RigidBody", "System", "freedom", "loads", "potentials", "shapes"]
