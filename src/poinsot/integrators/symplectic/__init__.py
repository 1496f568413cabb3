"""Symplectic Euler and Störmer-Verlet: explicit for separable Hamiltonians, implicit for all others."""

from poinsot.integrators.symplectic._euler import SymplecticEulerA, SymplecticEulerB
from poinsot.integrators.symplectic._verlet import StormerVerlet

__all__ = ["StormerVerlet", "SymplecticEulerA", "SymplecticEulerB"]
