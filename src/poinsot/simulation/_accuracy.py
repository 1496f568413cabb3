"""What sets the accuracy of a run: a fixed step, tolerances, or a nominal step."""

from dataclasses import dataclass

import numpy as np

from poinsot.core import InputError, Packed, as_number, quoted
from poinsot.integrators import AbstractIntegrator
from poinsot.integrators.adaptive import AbstractAdaptive
from poinsot.simulation._validate import check_span, check_step

TOLERANCE = 1e-9
"""Tolerances where none are given."""
LEAST = 1e-100
"""Absolute tolerance that stands for none: a component that starts at zero leaves it in tens of steps."""


@dataclass(frozen=True)
class Accuracy:
    """What an adaptive solver is led by: tolerances, or a nominal step."""

    rtol: float = TOLERANCE
    atol: float = TOLERANCE
    dt: float | None = None

    @classmethod
    def checked(
        cls,
        solver: AbstractAdaptive,
        span: tuple[float, float],
        dt: float | None,
        rtol: float | None,
        atol: float | None,
    ) -> "Accuracy":
        """What was given, once it is what the solver takes."""
        span = check_span(*span)
        if solver.control == "dt":
            return cls(dt=_nominal_step(solver, dt, *span, rtol=rtol, atol=atol))
        return cls(*_tolerances(solver, dt, rtol, atol))

    @property
    def told(self) -> dict[str, float]:
        """What a trajectory says of it."""
        return {"rtol": self.rtol, "atol": self.atol} if self.dt is None else {"nominal_dt": self.dt}


def fixed_step(integrator: AbstractIntegrator, dt: float | None, **tolerances: float | None) -> float:
    """The step of an integrator with fixed steps, which takes no tolerances."""
    for name, value in tolerances.items():
        if value is not None:
            raise InputError(
                f"{name} = {value!r}, but {integrator.name} has fixed steps and keeps to no tolerance; give "
                "dt=..., or take an adaptive solver such as pt.integrators.DormandPrince853()"
            )
    if dt is None:
        raise InputError(f"{integrator.name} has fixed steps; give dt=...")
    return dt


def flat(y: Packed) -> np.ndarray:
    """The start of an adaptive run, which takes states that are a list of numbers."""
    if y.ndim != 1:
        raise InputError(f"the start has shape {y.shape}; an adaptive solver takes a flat list of numbers")
    return np.asarray(y)


def _tolerances(
    solver: AbstractAdaptive, dt: float | None, rtol: float | None, atol: float | None
) -> tuple[float, float]:
    """Tolerances of an adaptive solver, which takes no step."""
    if dt is not None:
        raise InputError(
            f"dt = {quoted(dt)}, but {solver.name} chooses its steps to meet rtol and atol; leave dt out "
            "(the solver's first_step sets the first one)"
        )
    rtol = as_number(TOLERANCE if rtol is None else rtol, "rtol")
    atol = as_number(TOLERANCE if atol is None else atol, "atol")
    if not 0.0 < rtol < 1.0:
        raise InputError(f"rtol = {quoted(rtol)}; a relative tolerance must be between 0 and 1, such as 1e-9")
    if rtol < solver.finest:
        raise InputError(
            f"rtol = {quoted(rtol)} is below what double precision allows {solver.name}; take at least "
            f"{solver.finest:.2g}"
        )
    if atol < 0.0:
        raise InputError(f"atol = {quoted(atol)}; an absolute tolerance must be positive, or zero for none")
    return rtol, max(atol, LEAST)


def _nominal_step(solver: AbstractAdaptive, dt: float | None, t0: float, t1: float, **given) -> float:
    """The step of an adaptive solver that is not led by tolerances."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} = {value!r}, but {solver.name} is led by dt and keeps to no tolerance")
    if dt is None:
        raise InputError(f"{solver.name} needs a nominal step; give dt=...")
    return check_step(t0, t1, dt)
