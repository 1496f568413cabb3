"""Adaptive solvers, behind one interface."""

from typing import TYPE_CHECKING

from poinsot._lazy import lazy
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

if TYPE_CHECKING:
    from poinsot.integrators.adaptive._dense import Piecewise
    from poinsot.integrators.adaptive._dormand_prince import DormandPrince5, DormandPrince8
    from poinsot.integrators.adaptive._dormand_prince853 import DormandPrince853
    from poinsot.integrators.adaptive._ida import Ida
    from poinsot.integrators.adaptive._multistep import Bdf, Lsoda
    from poinsot.integrators.adaptive._odex import Odex
    from poinsot.integrators.adaptive._radau5 import Radau5
    from poinsot.integrators.adaptive._reversible import ReversibleSteps
    from poinsot.integrators.adaptive._seulex import Seulex
    from poinsot.integrators.adaptive._taylor import Taylor

__all__ = [
    "AbstractAdaptive",
    "AdaptiveTraits",
    "Batch",
    "Bdf",
    "Counts",
    "Dense",
    "DormandPrince5",
    "DormandPrince8",
    "DormandPrince853",
    "Engine",
    "Ida",
    "Lsoda",
    "Odex",
    "Piecewise",
    "Projection",
    "Radau5",
    "ReversibleSteps",
    "Seulex",
    "Task",
    "Taylor",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Piecewise": "._dense",
        "DormandPrince5 DormandPrince8": "._dormand_prince",
        "DormandPrince853": "._dormand_prince853",
        "Ida": "._ida",
        "Bdf Lsoda": "._multistep",
        "Odex": "._odex",
        "Radau5": "._radau5",
        "ReversibleSteps": "._reversible",
        "Seulex": "._seulex",
        "Taylor": "._taylor",
    },
)
