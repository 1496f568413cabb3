"""The tangent map: how a motion answers to a small change of its start."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.core import AbstractProblem, InputError, Packed, Result, State, checked
from poinsot.integrators import AbstractIntegrator
from poinsot.kernels import jitted
from poinsot.simulation._loop import LoopState, Marcher
from poinsot.simulation._validate import check_state, fixed_for


@dataclass(frozen=True)
class TangentMap:
    """End of a run, and its derivative in the start."""

    state: State
    """The state at the end."""
    matrix: np.ndarray
    """Derivative of the packed end (positions, then momenta) in the packed start."""
    result: Result
    """How the run ended."""


@checked
def tangent_map(
    problem: AbstractProblem,
    integrator: AbstractIntegrator | str,
    state: State,
    *,
    dt: float,
    steps: int,
    t0: float = 0.0,
) -> TangentMap:
    r"""Derivative $\partial y_n / \partial y_0$ of the numerical motion, exact to round-off.

    Tangent vectors travel along with the state, step by step, by forward differentiation of the step: no
    variational equation needs to be written, and no step size of a difference quotient to be chosen.

    Args:
        problem: what is solved.
        integrator: the method, or its name.
        state: start.
        dt: step size.
        steps: number of steps.
        t0: start time.
    """
    integrator = fixed_for(problem, integrator, "tangent_map")
    y = check_state(problem, state, t0)
    if y.ndim != 1:
        raise InputError(f"tangent_map takes one state, not a batch; the start has shape {y.shape}")
    marcher = Marcher(problem, integrator, jnp.asarray(t0, dtype=float), jnp.asarray(dt, dtype=float))
    end, matrix, result = _derivative(marcher, y, jnp.int64(steps))
    return TangentMap(problem.unpack(end), np.asarray(matrix), Result(int(result)))


def flow(marcher: Marcher, y: Packed, first, steps) -> LoopState:
    """March from step number `first` with nothing carried over, so that all depends on `y` alone."""
    t = marcher.time(first)
    carry = marcher.integrator.init(marcher.problem, t, marcher.h, y)
    start = LoopState(first, y, carry, jnp.int32(Result.successful), jnp.int64(0))
    return marcher.march(start, first + steps)


@jitted
def _derivative(marcher: Marcher, y: Packed, steps):
    def end(y):
        loop = flow(marcher, y, jnp.int64(0), steps)
        return loop.y, (loop.y, loop.result)

    matrix, (y1, result) = jax.jacfwd(end, has_aux=True)(y)
    return y1, matrix, result
