"""Methods that keep the energy by a discrete gradient."""

from poinsot.integrators.energy_momentum._energy_momentum import EnergyMomentum

__all__ = ["EnergyMomentum"]
