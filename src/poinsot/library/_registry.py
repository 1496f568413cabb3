"""Every system by name: one line each feeds scenario files and the command line."""

import difflib
import inspect
from collections.abc import Callable
from typing import Any

from poinsot.core import InputError
from poinsot.library._galactic_orbit import galactic_orbit
from poinsot.library._harmonic_oscillator import harmonic_oscillator
from poinsot.library._henon_heiles import henon_heiles
from poinsot.library._kepler import kepler
from poinsot.library._nonlinear_pendulum import nonlinear_pendulum
from poinsot.library._symmetric_top import symmetric_top
from poinsot.library._system import System

REGISTRY: dict[str, Callable[..., System]] = {
    "harmonic-oscillator": harmonic_oscillator,
    "nonlinear-pendulum": nonlinear_pendulum,
    "kepler": kepler,
    "galactic-orbit": galactic_orbit,
    "henon-heiles": henon_heiles,
    "symmetric-top": symmetric_top,
}


def names() -> tuple[str, ...]:
    """Names of all systems."""
    return tuple(REGISTRY)


def parameters(name: str) -> dict[str, Any]:
    """Parameters of a system with their default values."""
    return {key: given.default for key, given in inspect.signature(_maker(name)).parameters.items()}


def by_name(name: str, /, **values) -> System:
    """Build the system of that name; underscores may stand for hyphens.

    Args:
        name: one of `names()`.
        values: parameters that differ from their defaults.

    Raises:
        InputError: for an unknown name or parameter, or a value that makes no sense.
    """
    known = parameters(name)
    for key in values:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise InputError(
                f"system {name!r} has no parameter {key!r}; {hint}its parameters are {', '.join(known)}"
            )
    return _maker(name)(**values)


def _maker(name: str) -> Callable[..., System]:
    canonical = name.replace("_", "-")
    if canonical not in REGISTRY:
        near = difflib.get_close_matches(canonical, REGISTRY, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InputError(f"system {name!r} is not known; {hint}the systems are {', '.join(REGISTRY)}")
    return REGISTRY[canonical]
