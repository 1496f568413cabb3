"""Every system by name: one line each feeds scenario files, the command line and the documentation."""

from collections.abc import Callable
from typing import Any

from poinsot.core import AbstractProblem, InputError, Registry, check_parameters, checked, parameters_of
from poinsot.library._arms import scara, seven_axis_arm
from poinsot.library._bricard import bricard
from poinsot.library._cart_pole import cart_pole
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
from poinsot.library._regular_precession import regular_precession
from poinsot.library._rod_pendulum import rod_pendulum
from poinsot.library._slider_crank import slider_crank
from poinsot.library._squeezer import squeezer
from poinsot.library._stewart_platform import stewart_platform
from poinsot.library._symmetric_top import symmetric_top
from poinsot.library._tennis_racket import tennis_racket
from poinsot.library._tumbling_body import tumbling_body
from poinsot.library._two_body_linkage import two_body_linkage
from poinsot.library._two_link_arm import double_pendulum, two_link_arm
from poinsot.model import AbstractSystem

REGISTRY: Registry[Callable[..., AbstractProblem | AbstractSystem]] = Registry(
    "system",
    {
        "harmonic-oscillator": harmonic_oscillator,
        "nonlinear-pendulum": nonlinear_pendulum,
        "kepler": kepler,
        "galactic-orbit": galactic_orbit,
        "henon-heiles": henon_heiles,
        "symmetric-top": symmetric_top,
        "gyro-top": gyro_top,
        "fast-top": fast_top,
        "regular-precession": regular_precession,
        "tennis-racket": tennis_racket,
        "tumbling-body": tumbling_body,
        "two-body-linkage": two_body_linkage,
        "rod-pendulum": rod_pendulum,
        "hinge-pendulum": hinge_pendulum,
        "parallelogram": parallelogram,
        "four-bar": four_bar,
        "slider-crank": slider_crank,
        "squeezer": squeezer,
        "bricard": bricard,
        "gimbals": gimbals,
        "governor": governor,
        "stewart-platform": stewart_platform,
        "cart-pole": cart_pole,
        "two-link-arm": two_link_arm,
        "double-pendulum": double_pendulum,
        "scara": scara,
        "seven-axis-arm": seven_axis_arm,
        "quadruped": quadruped,
        "heavy-top": heavy_top,
        "free-body": free_body,
        "particle-chain": particle_chain,
    },
)


def names() -> tuple[str, ...]:
    """Names of all systems: those given by their equations, rigid bodies, and bodies for your own data."""
    return tuple(REGISTRY)


@checked
def parameters(name: str) -> dict[str, Any]:
    """Parameters of a system with their default values; "required" where there is none."""
    return parameters_of(REGISTRY.find(name))


@checked
def by_name(name: str, /, **values) -> AbstractProblem | AbstractSystem:
    """Build the system of that name.

    Args:
        name: one of `names()`; underscores may stand for hyphens.
        values: parameters that differ from their defaults.

    Returns:
        What `pt.simulate` takes: a problem, or a system of bodies, with `start`, `dt` and `exact` where these
        are recommended or known.

    Raises:
        InputError: for an unknown name or parameter, or a value that makes no sense.
    """
    maker = REGISTRY.find(name)
    check_parameters(maker, values, f"system {name!r}")
    built = maker(**values)
    if not isinstance(built, (AbstractProblem, AbstractSystem)):
        raise InputError(
            f"system {name!r}: its maker returns {type(built).__name__}; it must return a problem such as "
            "pt.Hamiltonian, or a pt.System"
        )
    return built
