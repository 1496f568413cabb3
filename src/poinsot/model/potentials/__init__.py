"""Potential energies, as terms that add up.

A term is a smooth function of the positions and directors of all bodies. Terms that declare quadratic
invariants let energy-momentum methods keep momenta as well as energy.
"""

from ._base import AbstractInvariantPotential, AbstractMassTerm, AbstractPotential
from ._function import Function, OfInvariants, of_body
from ._heavy_top import HeavyTop

__all__ = [
    "AbstractInvariantPotential",
    "AbstractMassTerm",
    "AbstractPotential",
    "Function",
    "HeavyTop",
    "OfInvariants",
    "of_body",
]
