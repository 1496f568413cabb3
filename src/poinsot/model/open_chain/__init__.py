"""A system along its tree of joints: kinematics and dynamics in joint coordinates.

Vectors are along space axes, each at the point of its node; `_spatial` says how they go from one point to
another, `_sweeps` how recursions run along the tree.
"""

from ._canonical import along_rates, lifted, normalised, quaternion_slope, rates_of
from ._inputs import as_coordinates
from ._inverse_kinematics import Reached
from ._kinematics import axis_places, quaternion_places
from ._loops import Loops, beyond_the_tree, loops_of
from ._nodes import Nodes, nodes_of
from ._open_chain import OpenChain
from ._structure import Slot

__all__ = [
    "Loops",
    "Nodes",
    "OpenChain",
    "Reached",
    "Slot",
    "along_rates",
    "as_coordinates",
    "beyond_the_tree",
    "lifted",
    "loops_of",
    "nodes_of",
    "normalised",
    "axis_places",
    "quaternion_places",
    "quaternion_slope",
    "rates_of",
]
