"""A system along its tree of joints: kinematics and dynamics in joint coordinates.

Vectors are along space axes, each at the point of its node; `_spatial` says how they go from one point to
another, `_sweeps` how recursions run along the tree.
"""

from ._inverse_kinematics import Reached
from ._open_chain import OpenChain
from ._structure import Slot

__all__ = ["OpenChain", "Reached", "Slot"]
