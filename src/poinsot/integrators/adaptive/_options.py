"""What adaptive solvers let people choose, checked alike for all."""

import math

from poinsot.core import AbstractProblem, InputError, Projection

FEWEST_ULPS = 10
"""Steps shorter than this many spacings of floating-point numbers are too short: the limit in SciPy."""
CHOICES = ("none", "position", "velocity", "both")


def as_projection(value: bool | str) -> Projection:
    """What is put back onto the constraints after each accepted step: True means both."""
    if value in (False, True):
        return "both" if value else "none"
    for choice in CHOICES:
        if value == choice:
            return choice
    raise InputError(f"projection = {value!r}; it must be True, False, 'position', 'velocity' or 'both'")


def cannot_project(problem: AbstractProblem, projection: Projection) -> str | None:
    """Why a solver with this projection cannot work on `problem`, or None."""
    if projection == "none" or problem.projectable:
        return None
    return f"has projection = {projection!r}, but here are no constraints to project onto; leave it out"


def check_step_limits(first_step: float | None, max_step: float | None) -> None:
    """Refuse step sizes that are not positive numbers."""
    for name, value in (("first_step", first_step), ("max_step", max_step)):
        if value is not None and not (value > 0.0 and math.isfinite(value)):
            raise InputError(f"{name} = {value!r}; it must be a positive number, also for a backward run")
