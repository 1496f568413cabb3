"""How far conserved quantities stray over a long run."""

from dataclasses import dataclass

import numpy as np

from poinsot.analysis._travel import travel
from poinsot.core import AbstractProblem, Result, State, checked
from poinsot.integrators import AbstractIntegrator
from poinsot.simulation._validate import check_state, fixed_for


@dataclass(frozen=True)
class InvariantDeviations:
    """Largest deviations of conserved quantities over a run."""

    start: dict[str, float]
    """Start values."""
    deviation: dict[str, float]
    """Largest distance from them at any step."""
    steps: int
    """Steps taken."""
    result: Result
    """How the run ended."""


@checked
def invariant_deviations(
    problem: AbstractProblem,
    integrator: AbstractIntegrator | str,
    state: State,
    *,
    dt: float,
    steps: int,
    t0: float = 0.0,
) -> InvariantDeviations:
    """Follow everything the problem conserves over `steps` steps, looking at every one of them.

    Args:
        problem: what is solved, with its `invariants`.
        integrator: the method, or its name.
        state: start.
        dt: step size.
        steps: number of steps; nothing is stored, so it may be large.
        t0: start time.
    """
    integrator = fixed_for(problem, integrator, "invariant_deviations")
    y = check_state(problem, state, t0)
    start = {name: float(np.asarray(value)) for name, value in problem.conserved(t0, y).items()}
    end = travel(problem, integrator, y, dt, steps, t0)
    deviation = {name: float(value) for name, value in end.deviation.items()}
    return InvariantDeviations(start, deviation, int(end.steps), Result(int(end.result)))
