"""Every system by name: one line each feeds scenario files, the command line and the documentation."""

from collections.abc import Callable
from typing import Any

from poinsot.core import (
    AbstractProblem,
    InputError,
    Later,
    Registry,
    check_parameters,
    checked,
    parameters_of,
)
from poinsot.model import AbstractSystem

PLACES = {
    "harmonic-oscillator": "_harmonic_oscillator",
    "nonlinear-pendulum": "_nonlinear_pendulum",
    "kepler": "_kepler",
    "galactic-orbit": "_galactic_orbit",
    "henon-heiles": "_henon_heiles",
    "symmetric-top": "_symmetric_top",
    "gyro-top": "_gyro_top",
    "fast-top": "_fast_top",
    "regular-precession": "_regular_precession",
    "tennis-racket": "_tennis_racket",
    "tumbling-body": "_tumbling_body",
    "two-body-linkage": "_two_body_linkage",
    "rod-pendulum": "_rod_pendulum",
    "hinge-pendulum": "_hinge_pendulum",
    "parallelogram": "_parallelogram",
    "four-bar": "_four_bar",
    "slider-crank": "_slider_crank",
    "squeezer": "_squeezer",
    "bricard": "_bricard",
    "gimbals": "_gimbals",
    "governor": "_governor",
    "stewart-platform": "_stewart_platform",
    "cart-pole": "_cart_pole",
    "two-link-arm": "_two_link_arm",
    "double-pendulum": "_two_link_arm",
    "scara": "_arms",
    "seven-axis-arm": "_arms",
    "quadruped": "_quadruped",
    "heavy-top": "_heavy_top",
    "free-body": "_free_body",
    "particle-chain": "_particle_chain",
}
"""The file of each system, in which its function has its name."""

REGISTRY: Registry[Callable[..., AbstractProblem | AbstractSystem]] = Registry(
    "system",
    {name: Later(f"poinsot.library.{file}", name.replace("-", "_")) for name, file in PLACES.items()},
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
