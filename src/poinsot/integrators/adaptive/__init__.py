"""Adaptive solvers, behind one interface."""

from poinsot.core import Projection
from poinsot.integrators.adaptive._base import (
    AbstractAdaptive,
    AdaptiveTraits,
    Batch,
    Counts,
    Dense,
    Engine,
    Task,
)
from poinsot.integrators.adaptive._dense import Piecewise
from poinsot.integrators.adaptive._dormand_prince853 import DormandPrince853

__all__ = [
    "AbstractAdaptive",
    "AdaptiveTraits",
    "Batch",
    "Counts",
    "Dense",
    "DormandPrince853",
    "Engine",
    "Piecewise",
    "Projection",
    "Task",
]
