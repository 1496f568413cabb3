"""The model: rigid bodies, what they may do, and what acts on them, in positions and directors."""

from . import ends, freedom, joints, loads, open_chain, potentials, shapes
from ._abstract_system import AbstractSystem
from ._chain import Chain
from ._chart import Chart
from ._compact import (
    MANY,
    ROW,
    AnyLinkage,
    compact,
    expanded_along,
    jacobians_of,
    reduced_along,
    redundant_diagonal,
)
from ._dependence import DEPENDENT, in_loops, scaled_jacobians
from ._geometry import Geometry
from ._limits import JointLimits
from ._linkage import Linkage, Turning
from ._mobility import Mobility
from ._params import Parametrised, filled
from ._particles import Particles
from ._reaction import Passed, free_wrench, joint_forces, passed_along, passed_on
from ._rigid_body import RigidBody
from ._serial_linkage import SerialLinkage
from ._system import System
from ._tree_motion import joint_rates, seen_rates
from ._units import Units
from ._worst_run import may_contradict, off_by
from .open_chain import OpenChain

__all__ = [
    "DEPENDENT",
    "MANY",
    "AbstractSystem",
    "AnyLinkage",
    "Chain",
    "Chart",
    "Geometry",
    "JointLimits",
    "Linkage",
    "Mobility",
    "OpenChain",
    "Parametrised",
    "Particles",
    "Passed",
    "ROW",
    "RigidBody",
    "SerialLinkage",
    "System",
    "Turning",
    "Units",
    "compact",
    "ends",
    "expanded_along",
    "filled",
    "free_wrench",
    "freedom",
    "in_loops",
    "jacobians_of",
    "joint_forces",
    "joint_rates",
    "may_contradict",
    "off_by",
    "joints",
    "loads",
    "open_chain",
    "passed_along",
    "passed_on",
    "potentials",
    "reduced_along",
    "redundant_diagonal",
    "scaled_jacobians",
    "seen_rates",
    "shapes",
]
