"""Every system by name: one line each feeds scenario files and the command line."""

import difflib
import inspect
from collections.abc import Callable
from typing import Any

from poinsot.core import InputError
from poinsot.library._body_system import BodySystem
from poinsot.library._fast_top import fast_top
from poinsot.library._galactic_orbit import galactic_orbit
from poinsot.library._gyro_top import gyro_top
from poinsot.library._harmonic_oscillator import harmonic_oscillator
from poinsot.library._henon_heiles import henon_heiles
from poinsot.library._kepler import kepler
from poinsot.library._nonlinear_pendulum import nonlinear_pendulum
from poinsot.library._regular_precession import regular_precession
from poinsot.library._symmetric_top import symmetric_top
from poinsot.library._system import System
from poinsot.library._tennis_racket import tennis_racket
from poinsot.library._tumbling_body import tumbling_body

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


def names() -> tuple[str, ...]:
    """Names of all systems that are given by their equations."""
    return tuple(REGISTRY)


def body_names() -> tuple[str, ...]:
    """Names of all systems of rigid bodies."""
    return tuple(BODIES)


def parameters(name: str) -> dict[str, Any]:
    """Parameters of a system, of equations or of bodies, with their default values."""
    return _defaults(_maker(name, REGISTRY | BODIES))


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
    known = _defaults(maker)
    for key in values:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise InputError(
                f"system {name!r} has no parameter {key!r}; {hint}its parameters are {', '.join(known)}"
            )
    return maker(**values)


def _defaults(maker: Callable[..., Any]) -> dict[str, Any]:
    return {key: given.default for key, given in inspect.signature(maker).parameters.items()}


def _maker(name: str, registry: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    canonical = name.replace("_", "-")
    if canonical not in registry:
        near = difflib.get_close_matches(canonical, registry, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InputError(f"system {name!r} is not known; {hint}the systems are {', '.join(registry)}")
    return registry[canonical]
