"""Symplectic Euler and Störmer-Verlet: explicit for separable Hamiltonians, implicit for all others."""

from typing import TYPE_CHECKING

from poinsot._lazy import lazy

if TYPE_CHECKING:
    from poinsot.integrators.symplectic._euler import SymplecticEulerA, SymplecticEulerB
    from poinsot.integrators.symplectic._verlet import StormerVerlet

__all__ = ["StormerVerlet", "SymplecticEulerA", "SymplecticEulerB"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "SymplecticEulerA SymplecticEulerB": "._euler",
        "StormerVerlet": "._verlet",
    },
)
