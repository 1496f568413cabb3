"""Whether a step backward undoes a step forward."""

import numpy as np

from poinsot.analysis._travel import travel
from poinsot.core import AbstractProblem, State, checked
from poinsot.integrators import AbstractIntegrator
from poinsot.simulation._validate import check_state, fixed_for


@checked
def reversibility(
    problem: AbstractProblem, integrator: AbstractIntegrator | str, state: State, h: float, *, t: float = 0.0
) -> float:
    r"""Distance from the start after a step forward and one back, relative to the state's size.

    $$ \frac{\|\Phi_{-h}(\Phi_h(y)) - y\|_{\max}}{\|y\|_{\max}} $$

    It is round-off for a symmetric method. Infinite when a step fails.

    Args:
        problem: what is solved.
        integrator: the method, or its name.
        state: where to step from.
        h: step size.
        t: time of the first step.
    """
    integrator = fixed_for(problem, integrator, "reversibility")
    y = check_state(problem, state, t)
    there = travel(problem, integrator, y, h, 1, t)
    back = travel(problem, integrator, there.y, -h, 1, t + h)
    if not (there.ok and back.ok):
        return np.inf
    return float(np.max(np.abs(np.asarray(back.y - y))) / np.max(np.abs(np.asarray(y))))
