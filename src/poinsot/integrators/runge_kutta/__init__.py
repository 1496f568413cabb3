"""Runge-Kutta methods: a validated tableau each, one stepper for each shape of tableau."""

from typing import TYPE_CHECKING

from poinsot._lazy import lazy

if TYPE_CHECKING:
    from poinsot.integrators.runge_kutta._explicit import ExplicitRungeKutta
    from poinsot.integrators.runge_kutta._implicit import ImplicitRungeKutta
    from poinsot.integrators.runge_kutta._named import (
        RK4,
        DormandPrince,
        ExplicitEuler,
        GaussLegendre,
        Heun,
        ImplicitEuler,
        ImplicitMidpoint,
        LobattoIIIA,
        LobattoIIIB,
        LobattoIIIC,
        RadauIIA,
        SunGeng5,
    )
    from poinsot.integrators.runge_kutta._partitioned import LobattoIIIAB
    from poinsot.integrators.runge_kutta._stages import FixedPoint, SimplifiedNewton

__all__ = [
    "RK4",
    "DormandPrince",
    "ExplicitEuler",
    "ExplicitRungeKutta",
    "FixedPoint",
    "GaussLegendre",
    "Heun",
    "ImplicitEuler",
    "ImplicitMidpoint",
    "ImplicitRungeKutta",
    "LobattoIIIA",
    "LobattoIIIAB",
    "LobattoIIIB",
    "LobattoIIIC",
    "RadauIIA",
    "SimplifiedNewton",
    "SunGeng5",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "ExplicitRungeKutta": "._explicit",
        "ImplicitRungeKutta": "._implicit",
        "RK4 DormandPrince ExplicitEuler GaussLegendre Heun ImplicitEuler": "._named",
        "ImplicitMidpoint LobattoIIIA LobattoIIIB LobattoIIIC RadauIIA SunGeng5": "._named",
        "LobattoIIIAB": "._partitioned",
        "FixedPoint SimplifiedNewton": "._stages",
    },
)
