"""Potential energies, as terms that add up; every one works in every system.

A term is a smooth function of the positions and directors of all bodies. Terms that declare quadratic
invariants let energy-momentum methods keep momenta as well as energy; all named ones here do.

- weight: `UniformGravity`, `HeavyTop`, `GravityGradient`
- between points of bodies or space, given as a `Marker`: `Spring`, `LinearBushing`, `TorsionalBushing`
- on one body: `ConstantForce`
- your own: `Function`, `of_body`, `Field`, `OfInvariants`

Between two bodies: neighbours in a chain, all bodies of a system, or those named in `Between`:

- of two particles, by their distance: `LennardJones`, `Morse`, `Coulomb`, `ScreenedCoulomb`, `HarmonicPair`;
  your own: `PairFunction`; any of them ended at a radius: `Cutoff`
- of two bodies, by their relative pose: `GayBerne`; your own: `PosePair`
"""

from typing import TYPE_CHECKING

from poinsot._lazy import lazy

from ._base import AbstractInvariantPotential, AbstractPotential, AbstractTerm
from ._marker import Marker
from ._registry import REGISTRY

if TYPE_CHECKING:
    from ._between import Between
    from ._bushing import LinearBushing, TorsionalBushing
    from ._constant_force import ConstantForce
    from ._coulomb import Coulomb, ScreenedCoulomb
    from ._cutoff import Cutoff
    from ._function import Field, Function, OfInvariants, of_body
    from ._gay_berne import GayBerne
    from ._gravity import UniformGravity
    from ._gravity_gradient import GravityGradient
    from ._harmonic import HarmonicPair
    from ._heavy_top import HeavyTop
    from ._joint_spring import JointSpring
    from ._lennard_jones import LennardJones
    from ._morse import Morse
    from ._pair import AbstractPair
    from ._pair_function import PairFunction
    from ._pose_pair import AbstractPosePair, PosePair
    from ._spring import Spring

__all__ = [
    "REGISTRY",
    "AbstractInvariantPotential",
    "AbstractPair",
    "AbstractPosePair",
    "AbstractPotential",
    "AbstractTerm",
    "Between",
    "ConstantForce",
    "Coulomb",
    "Cutoff",
    "Field",
    "Function",
    "GayBerne",
    "GravityGradient",
    "HarmonicPair",
    "HeavyTop",
    "JointSpring",
    "LennardJones",
    "LinearBushing",
    "Marker",
    "Morse",
    "OfInvariants",
    "PairFunction",
    "PosePair",
    "ScreenedCoulomb",
    "Spring",
    "TorsionalBushing",
    "UniformGravity",
    "of_body",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Between": "._between",
        "LinearBushing TorsionalBushing": "._bushing",
        "ConstantForce": "._constant_force",
        "Coulomb ScreenedCoulomb": "._coulomb",
        "Cutoff": "._cutoff",
        "Field Function OfInvariants of_body": "._function",
        "GayBerne": "._gay_berne",
        "UniformGravity": "._gravity",
        "GravityGradient": "._gravity_gradient",
        "HarmonicPair": "._harmonic",
        "HeavyTop": "._heavy_top",
        "JointSpring": "._joint_spring",
        "LennardJones": "._lennard_jones",
        "Morse": "._morse",
        "AbstractPair": "._pair",
        "PairFunction": "._pair_function",
        "AbstractPosePair PosePair": "._pose_pair",
        "Spring": "._spring",
    },
)
