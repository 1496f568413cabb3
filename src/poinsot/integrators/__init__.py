"""One-step maps with declared, measured properties.

What a method of your own needs is here too: `AbstractIntegrator`, its `Traits`, and the `StepInfo` of a step.
"""

from typing import TYPE_CHECKING

from poinsot._lazy import lazy
from poinsot.core import StepInfo
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators._registry import (
    REGISTRY,
    adaptive_names,
    as_fixed,
    as_integrator,
    by_name,
    fitting,
    names,
    register,
)
from poinsot.integrators.adaptive import AbstractAdaptive

if TYPE_CHECKING:
    from poinsot.integrators._composition_scheme import CompositionScheme
    from poinsot.integrators._partitioned_tableau import PartitionedTableau
    from poinsot.integrators._tableau import ButcherTableau
    from poinsot.integrators.adaptive import (
        Bdf,
        DormandPrince5,
        DormandPrince8,
        DormandPrince853,
        Ida,
        Lsoda,
        Odex,
        Radau5,
        ReversibleSteps,
        Seulex,
        Taylor,
    )
    from poinsot.integrators.constrained import (
        ConstrainedGauss,
        ConstrainedLobatto,
        ConstrainedRungeKutta,
        Rattle,
        Spark,
    )
    from poinsot.integrators.energy_momentum import EnergyMomentum
    from poinsot.integrators.lie import (
        GeneralizedAlpha,
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
    "ConstrainedGauss",
    "ConstrainedLobatto",
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
    "Ida",
    "ImplicitEuler",
    "ImplicitMidpoint",
    "ImplicitRungeKutta",
    "KryslEndresNewmark",
    "LieMidpoint",
    "GeneralizedAlpha",
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
    "REGISTRY",
    "Radau5",
    "RadauIIA",
    "Rattle",
    "ReversibleSteps",
    "Seulex",
    "SimplifiedNewton",
    "Spark",
    "Splitting",
    "StepInfo",
    "StormerVerlet",
    "SunGeng5",
    "SymplecticEulerA",
    "SymplecticEulerB",
    "Taylor",
    "TerzeRattle",
    "Traits",
    "Variational",
    "adaptive_names",
    "as_fixed",
    "as_integrator",
    "by_name",
    "fitting",
    "names",
    "register",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "CompositionScheme": "._composition_scheme",
        "PartitionedTableau": "._partitioned_tableau",
        "ButcherTableau": "._tableau",
        "Bdf DormandPrince5 DormandPrince8 DormandPrince853 Ida Lsoda Odex Radau5": ".adaptive",
        "ReversibleSteps Seulex Taylor": ".adaptive",
        "ConstrainedGauss ConstrainedLobatto ConstrainedRungeKutta Rattle Spark": ".constrained",
        "EnergyMomentum": ".energy_momentum",
        "GeneralizedAlpha KryslEndresNewmark LieMidpoint LieRattle LieSplitting": ".lie",
        "MuntheKaas TerzeRattle": ".lie",
        "RK4 DormandPrince ExplicitEuler ExplicitRungeKutta FixedPoint GaussLegendre Heun": ".runge_kutta",
        "ImplicitEuler ImplicitMidpoint ImplicitRungeKutta LobattoIIIA LobattoIIIAB": ".runge_kutta",
        "LobattoIIIB LobattoIIIC RadauIIA SimplifiedNewton SunGeng5": ".runge_kutta",
        "Composition Splitting": ".splitting",
        "StormerVerlet SymplecticEulerA SymplecticEulerB": ".symplectic",
        "Variational": ".variational",
    },
    {
        name: f".{name}"
        for name in (
            "adaptive coefficients constrained energy_momentum lie runge_kutta splitting symplectic "
            "variational"
        ).split()
    },
)
