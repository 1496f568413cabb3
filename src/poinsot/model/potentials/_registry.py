"""Potentials by name: one line each feeds scenario files."""

from collections.abc import Callable
from typing import Any

from poinsot.core import Registry

from ._bushing import LinearBushing, TorsionalBushing
from ._constant_force import ConstantForce
from ._coulomb import Coulomb, ScreenedCoulomb
from ._cutoff import Cutoff
from ._gay_berne import GayBerne
from ._gravity import UniformGravity
from ._gravity_gradient import GravityGradient
from ._harmonic import HarmonicPair
from ._heavy_top import HeavyTop
from ._joint_spring import JointSpring
from ._lennard_jones import LennardJones
from ._morse import Morse
from ._spring import Spring

REGISTRY: Registry[Callable[..., Any]] = Registry(
    "potential",
    {
        "uniform-gravity": UniformGravity,
        "heavy-top": HeavyTop,
        "gravity-gradient": GravityGradient,
        "constant-force": ConstantForce,
        "spring": Spring,
        "joint-spring": JointSpring,
        "linear-bushing": LinearBushing,
        "torsional-bushing": TorsionalBushing,
        "lennard-jones": LennardJones,
        "morse": Morse,
        "coulomb": Coulomb,
        "screened-coulomb": ScreenedCoulomb,
        "harmonic-pair": HarmonicPair,
        "cutoff": Cutoff,
        "gay-berne": GayBerne,
    },
)
