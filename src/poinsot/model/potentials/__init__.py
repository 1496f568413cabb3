"""Potential energies, as terms that add up.

A term is a smooth function of the positions and directors of all bodies. Terms that declare quadratic
invariants let energy-momentum methods keep momenta as well as energy; all named ones here do.

- weight: `UniformGravity`, `HeavyTop`, `GravityGradient`
- between points of bodies or space, given as a `Marker`: `Spring`, `LinearBushing`, `TorsionalBushing`
- on one body: `ConstantForce`
- between particles of two bodies: `LennardJones`
- your own: `Function`, `of_body`, `OfInvariants`
"""

from ._base import AbstractInvariantPotential, AbstractMassTerm, AbstractPotential
from ._bushing import LinearBushing, TorsionalBushing
from ._constant_force import ConstantForce
from ._function import Function, OfInvariants, of_body
from ._gravity import UniformGravity
from ._gravity_gradient import GravityGradient
from ._heavy_top import HeavyTop
from ._lennard_jones import LennardJones
from ._marker import Marker
from ._pair import AbstractPair
from ._spring import Spring

__all__ = [
    "AbstractInvariantPotential",
    "AbstractMassTerm",
    "AbstractPair",
    "AbstractPotential",
    "ConstantForce",
    "Function",
    "GravityGradient",
    "HeavyTop",
    "LennardJones",
    "LinearBushing",
    "Marker",
    "OfInvariants",
    "Spring",
    "TorsionalBushing",
    "UniformGravity",
    "of_body",
]
