"""Adaptive solvers, behind one interface."""

from poinsot.integrators.adaptive._base import (
    AbstractAdaptive,
    AdaptiveTraits,
    Batch,
    Counts,
    Dense,
    Engine,
    Projection,
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
