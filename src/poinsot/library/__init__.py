"""Ready-made systems, each with its source and data: build one by its function or by its name."""

from poinsot.library._galactic_orbit import galactic_orbit
from poinsot.library._harmonic_oscillator import harmonic_oscillator
from poinsot.library._henon_heiles import henon_heiles
from poinsot.library._kepler import kepler
from poinsot.library._nonlinear_pendulum import nonlinear_pendulum
from poinsot.library._registry import by_name, names, parameters
from poinsot.library._symmetric_top import centre_of_mass, symmetric_top
from poinsot.library._system import System

__all__ = [
    "System",
    "by_name",
    "centre_of_mass",
    "galactic_orbit",
    "harmonic_oscillator",
    "henon_heiles",
    "kepler",
    "names",
    "nonlinear_pendulum",
    "parameters",
    "symmetric_top",
]
