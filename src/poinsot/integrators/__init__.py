"""One-step maps with declared, measured properties."""

from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators._composition_scheme import CompositionScheme
from poinsot.integrators._partitioned_tableau import PartitionedTableau
from poinsot.integrators._registry import adaptive_names, by_name, fitting, method_by_name, names
from poinsot.integrators._tableau import ButcherTableau
from poinsot.integrators.adaptive import (
    AbstractAdaptive,
    Bdf,
    DormandPrince5,
    DormandPrince8,
    DormandPrince853,
    Lsoda,
    Odex,
    Radau5,
    ReversibleSteps,
    Seulex,
)
from poinsot.integrators.constrained import ConstrainedRungeKutta, Rattle
from poinsot.integrators.energy_momentum import EnergyMomentum
from poinsot.integrators.lie import (
    KryslEndresNewmark,
    LieMidpoint,
    LieRattle,
    LieSplitting,
    MuntheKaas,
    TerzeRattle,
)
from poinsot.integrators.runge_kutta import (
    RK4,
    DormandPrince,
    ExplicitEuler,
    ExplicitRungeKutta,
    FixedPoint,
    GaussLegendre,
    Heun,
    ImplicitEuler,
    ImplicitMidpoint,
    ImplicitRungeKutta,
    LobattoIIIA,
    LobattoIIIAB,
    LobattoIIIB,
    LobattoIIIC,
    RadauIIA,
    SimplifiedNewton,
    SunGeng5,
)
from poinsot.integrators.splitting import Composition, Splitting
from poinsot.integrators.symplectic import StormerVerlet, SymplecticEulerA, SymplecticEulerB
from poinsot.integrators.variational import Variational

__all__ = [
    "RK4",
    "AbstractAdaptive",
    "AbstractIntegrator",
    "Bdf",
    "ButcherTableau",
    "Composition",
    "CompositionScheme",
    "ConstrainedRungeKutta",
    "DormandPrince",
    "DormandPrince5",
    "DormandPrince8",
    "DormandPrince853",
    "EnergyMomentum",
    "ExplicitEuler",
    "ExplicitRungeKutta",
    "FixedPoint",
    "GaussLegendre",
    "Heun",
    "ImplicitEuler",
    "ImplicitMidpoint",
    "ImplicitRungeKutta",
    "KryslEndresNewmark",
    "LieMidpoint",
    "LieRattle",
    "LieSplitting",
    "LobattoIIIA",
    "LobattoIIIAB",
    "LobattoIIIB",
    "LobattoIIIC",
    "Lsoda",
    "MuntheKaas",
    "Odex",
    "PartitionedTableau",
    "Radau5",
    "RadauIIA",
    "Rattle",
    "ReversibleSteps",
    "Seulex",
    "SimplifiedNewton",
    "Splitting",
    "StormerVerlet",
    "SunGeng5",
    "SymplecticEulerA",
    "SymplecticEulerB",
    "TerzeRattle",
    "Traits",
    "Variational",
    "adaptive_names",
    "by_name",
    "fitting",
    "method_by_name",
    "names",
]
