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

__all__ = [
    "AbstractAdaptive",
    "AdaptiveTraits",
    "Batch",
    "Counts",
    "Dense",
    "Engine",
    "Projection",
    "Task",
]
