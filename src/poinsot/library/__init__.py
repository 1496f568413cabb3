"""Ready-made systems, each with its source and data: build one by its function or by its name.

Systems given by their equations are a `System` each; examples of rigid bodies are a `BodySystem` each. The
functions `heavy_top` and `free_body` make a body with your own data.
"""

from poinsot.library._body_system import BodySystem
from poinsot.library._disc_rod import disc_rod
from poinsot.library._fast_top import fast_top
from poinsot.library._free_body import free_body
from poinsot.library._galactic_orbit import galactic_orbit
from poinsot.library._gyro_top import gyro_top
from poinsot.library._harmonic_oscillator import harmonic_oscillator
from poinsot.library._heavy_top import heavy_top
from poinsot.library._henon_heiles import henon_heiles
from poinsot.library._kepler import kepler
from poinsot.library._nonlinear_pendulum import nonlinear_pendulum
from poinsot.library._particle_chain import particle_chain
from poinsot.library._registry import body_by_name, body_names, build, by_name, model_names, names, parameters
from poinsot.library._regular_precession import regular_precession
from poinsot.library._symmetric_top import centre_of_mass, symmetric_top
from poinsot.library._system import System
from poinsot.library._tennis_racket import tennis_racket
from poinsot.library._tumbling_body import tumbling_body

__all__ = [
    "BodySystem",
    "System",
    "body_by_name",
    "body_names",
    "build",
    "by_name",
    "centre_of_mass",
    "disc_rod",
    "fast_top",
    "free_body",
    "galactic_orbit",
    "gyro_top",
    "harmonic_oscillator",
    "heavy_top",
    "henon_heiles",
    "kepler",
    "model_names",
    "names",
    "nonlinear_pendulum",
    "parameters",
    "particle_chain",
    "regular_precession",
    "symmetric_top",
    "tennis_racket",
    "tumbling_body",
]
