"""Ready-made systems, each with its source and data: build one by its function or by its name.

Each is what `pt.simulate` takes, a problem or a system of rigid bodies, and carries a recommended `start` and
`dt`, and the `exact` motion where it is known. `heavy_top` and `free_body` make a body with your own data,
which starts where you say.

Example:
    >>> import poinsot as pt
    >>> planet = pt.library.kepler(eccentricity=0.6)
    >>> run = pt.simulate(planet, planet.start, t1=10.0, dt=planet.dt, integrator="verlet")
"""

from typing import TYPE_CHECKING

from poinsot._lazy import lazy
from poinsot.library._registry import PLACES, REGISTRY, by_name, names, parameters

if TYPE_CHECKING:
    from poinsot.library._arms import scara, seven_axis_arm
    from poinsot.library._bricard import bricard
    from poinsot.library._cart_pole import cart_pole
    from poinsot.library._disc_rod import disc_rod
    from poinsot.library._fast_top import fast_top
    from poinsot.library._four_bar import four_bar
    from poinsot.library._free_body import free_body
    from poinsot.library._galactic_orbit import galactic_orbit
    from poinsot.library._gimbals import gimbals
    from poinsot.library._governor import governor
    from poinsot.library._gyro_top import gyro_top
    from poinsot.library._harmonic_oscillator import harmonic_oscillator
    from poinsot.library._heavy_top import heavy_top
    from poinsot.library._henon_heiles import henon_heiles
    from poinsot.library._hinge_pendulum import hinge_pendulum
    from poinsot.library._kepler import kepler
    from poinsot.library._nonlinear_pendulum import nonlinear_pendulum
    from poinsot.library._parallelogram import parallelogram
    from poinsot.library._particle_chain import particle_chain
    from poinsot.library._quadruped import quadruped
    from poinsot.library._register import register
    from poinsot.library._regular_precession import regular_precession
    from poinsot.library._rod_pendulum import rod_pendulum
    from poinsot.library._slider_crank import slider_crank
    from poinsot.library._squeezer import squeezer
    from poinsot.library._stewart_platform import stewart_platform
    from poinsot.library._symmetric_top import centre_of_mass, symmetric_top
    from poinsot.library._tennis_racket import tennis_racket
    from poinsot.library._tumbling_body import tumbling_body
    from poinsot.library._two_body_linkage import two_body_linkage
    from poinsot.library._two_link_arm import double_pendulum, two_link_arm

__all__ = [
    "REGISTRY",
    "bricard",
    "cart_pole",
    "by_name",
    "centre_of_mass",
    "disc_rod",
    "double_pendulum",
    "fast_top",
    "four_bar",
    "free_body",
    "galactic_orbit",
    "gimbals",
    "governor",
    "gyro_top",
    "harmonic_oscillator",
    "heavy_top",
    "henon_heiles",
    "hinge_pendulum",
    "kepler",
    "names",
    "nonlinear_pendulum",
    "parallelogram",
    "parameters",
    "particle_chain",
    "quadruped",
    "register",
    "regular_precession",
    "rod_pendulum",
    "scara",
    "seven_axis_arm",
    "slider_crank",
    "squeezer",
    "stewart_platform",
    "symmetric_top",
    "tennis_racket",
    "tumbling_body",
    "two_body_linkage",
    "two_link_arm",
]

__getattr__, __dir__ = lazy(
    __name__,
    {name.replace("-", "_"): f".{file}" for name, file in PLACES.items()}
    | {"centre_of_mass": "._symmetric_top", "disc_rod": "._disc_rod", "register": "._register"},
)
