"""Every system by name: one line each feeds scenario files and the command line."""

from collections.abc import Callable
from typing import Any

from poinsot.core import InputError, check_parameters, did_you_mean, parameters_of
from poinsot.library._body_system import BodySystem
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
from poinsot.library._regular_precession import regular_precession
from poinsot.library._symmetric_top import symmetric_top
from poinsot.library._system import System
from poinsot.library._tennis_racket import tennis_racket
from poinsot.library._tumbling_body import tumbling_body
from poinsot.model import AbstractSystem as Bodies

REGISTRY: dict[str, Callable[..., System]] = {
    "harmonic-oscillator": harmonic_oscillator,
    "nonlinear-pendulum": nonlinear_pendulum,
    "kepler": kepler,
    "galactic-orbit": galactic_orbit,
    "henon-heiles": henon_heiles,
    "symmetric-top": symmetric_top,
}

BODIES: dict[str, Callable[..., BodySystem]] = {
    "gyro-top": gyro_top,
    "fast-top": fast_top,
    "regular-precession": regular_precession,
    "tennis-racket": tennis_racket,
    "tumbling-body": tumbling_body,
}

MODELS: dict[str, Callable[..., Bodies]] = {
    "heavy-top": heavy_top,
    "free-body": free_body,
    "particle-chain": particle_chain,
}


def names() -> tuple[str, ...]:
    """Names of all systems that are given by their equations."""
    return tuple(REGISTRY)


def body_names() -> tuple[str, ...]:
    """Names of all examples of rigid bodies, which have data and a start of their own."""
    return tuple(BODIES)


def model_names() -> tuple[str, ...]:
    """Names of all systems of rigid bodies for your own data and start."""
    return tuple(MODELS)


def parameters(name: str) -> dict[str, Any]:
    """Parameters of any system with their default values; "required" where there is none."""
    return parameters_of(_maker(name, REGISTRY | BODIES | MODELS))


def build(name: str, /, **values) -> System | BodySystem | Bodies:
    """Build the system of that name, of whatever kind; underscores may stand for hyphens.

    Args:
        name: one of `names()`, `body_names()`, `model_names()`.
        values: parameters that differ from their defaults.

    Raises:
        InputError: for an unknown name or parameter, or a value that makes no sense.
    """
    return _build(name, REGISTRY | BODIES | MODELS, values)


def by_name(name: str, /, **values) -> System:
    """Build the system of that name; underscores may stand for hyphens.

    Args:
        name: one of `names()`.
        values: parameters that differ from their defaults.

    Raises:
        InputError: for an unknown name or parameter, or a value that makes no sense.
    """
    return _build(name, REGISTRY, values)


def body_by_name(name: str, /, **values) -> BodySystem:
    """Build the system of rigid bodies of that name; underscores may stand for hyphens.

    Args:
        name: one of `body_names()`.
        values: parameters that differ from their defaults.

    Raises:
        InputError: for an unknown name or parameter, or a value that makes no sense.
    """
    return _build(name, BODIES, values)


def _build(name: str, registry: dict[str, Callable[..., Any]], values: dict[str, Any]) -> Any:
    maker = _maker(name, registry)
    check_parameters(maker, values, f"system {name!r}")
    return maker(**values)


def _maker(name: str, registry: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    canonical = name.replace("_", "-")
    if canonical not in registry:
        hint = did_you_mean(name, registry, f"the systems are {', '.join(registry)}")
        raise InputError(f"system {name!r} is not known; {hint}")
    return registry[canonical]
