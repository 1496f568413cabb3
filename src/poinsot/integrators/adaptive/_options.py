"""What adaptive solvers let people choose, checked alike for all."""

import equinox as eqx

from poinsot.core import AbstractConstrained, AbstractProblem, InputError, Projection, as_number, quoted
from poinsot.integrators.adaptive._base import AbstractAdaptive

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
    raise InputError(
        f"projection = {quoted(value)}; it must be True, False, 'position', 'velocity' or 'both'"
    )


class SteppedSolver(AbstractAdaptive):
    """A solver whose first and largest step can be set.

    Args:
        first_step: size of the first attempt; by default chosen.
        max_step: largest step, or None.
    """

    first_step: float | None = eqx.field(default=None, static=True)
    max_step: float | None = eqx.field(default=None, static=True)

    def drifts(self, problem: AbstractProblem) -> bool:
        """Unless the problem states its constraints, and has them held."""
        return not isinstance(problem, AbstractConstrained)

    def __check_init__(self):
        for name in ("first_step", "max_step"):
            value = getattr(self, name)
            if value is not None and not as_number(value, name) > 0.0:
                raise InputError(f"{name} = {value!r}; it must be a positive number, also for a backward run")


class ProjectingSolver(AbstractAdaptive):
    """A solver that lets the state be put back onto its constraints.

    Args:
        projection: put positions, velocities or both back onto the constraints after each accepted step:
            "position", "velocity", "both", or True for both.
    """

    projection: Projection = eqx.field(default=False, static=True, converter=as_projection, kw_only=True)

    def drifts(self, problem: AbstractProblem) -> bool:
        """Unless positions are put back."""
        return self.projection in ("none", "velocity")

    def refusal(self, problem: AbstractProblem) -> str | None:
        """Takes any ordinary differential equation; projects where there are constraints."""
        reason = super().refusal(problem)
        if reason is not None or self.projection == "none" or problem.projectable:
            return reason
        return (
            f"has projection = {self.projection!r}, but here are no constraints to project onto; leave it out"
        )


class OneStepSolver(ProjectingSolver, SteppedSolver):
    """A solver of one step, whose sizes can be set and after which the state can be projected.

    Args:
        first_step: size of the first attempt; by default chosen.
        max_step: largest step, or None.
        projection: put positions, velocities or both back onto the constraints after each accepted step:
            "position", "velocity", "both", or True for both.
    """
