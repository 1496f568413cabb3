"""The largest Lyapunov exponent of a motion."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from poinsot.analysis._tangent import flow
from poinsot.core import AbstractProblem, InputError, Packed, Result, State, checked, quoted
from poinsot.integrators import AbstractIntegrator
from poinsot.kernels import jitted
from poinsot.simulation._loop import Marcher
from poinsot.simulation._validate import check_state, count_steps, fixed_for


@dataclass(frozen=True)
class LyapunovEstimate:
    """Running estimates of the largest Lyapunov exponent."""

    t: np.ndarray
    """Times since the start."""
    estimate: np.ndarray
    """Mean rate of growth of a tangent vector up to each; it tends to the exponent."""
    result: Result
    """How the run ended; after a failure the estimates are NaN."""

    @property
    def exponent(self) -> float:
        """The last estimate."""
        return float(self.estimate[-1])


@checked
def lyapunov(
    problem: AbstractProblem,
    integrator: AbstractIntegrator | str,
    state: State,
    *,
    t1: float,
    dt: float,
    t0: float = 0.0,
    every: int = 10,
    direction: State | None = None,
) -> LyapunovEstimate:
    r"""Largest Lyapunov exponent by the method of Benettin.

    A tangent vector $v$ travels along with the motion; every so many steps its growth is noted and its length
    brought back to one:

    $$ \lambda(t) = \frac1t \sum_k \log \frac{|v_k^-|}{|v_{k-1}^+|}. $$

    For regular motion $\lambda(t)$ falls to zero like $\log t / t$, for chaotic motion it tends to a positive
    number. The norm is Euclidean in the packed state; the limit does not depend on it.

    Args:
        problem: what is solved.
        integrator: the method, or its name.
        state: start.
        t1: end time, a whole number of renormalisation intervals from `t0`.
        dt: step size, negative for a backward run.
        t0: start time.
        every: steps between renormalisations.
        direction: the first tangent vector; by default one with no special direction.

    Reference: Benettin, Galgani, Giorgilli, Strelcyn, Meccanica 15 (1980) 9-20.
    """
    steps, _ = count_steps(t0, t1, dt, "refuse")
    integrator = fixed_for(problem, integrator, "lyapunov")
    y = check_state(problem, state, t0)
    if not isinstance(every, int) or every < 1 or steps % every:
        raise InputError(
            f"every = {quoted(every)} must be a whole number that divides the {steps} steps of the run"
        )
    if direction is None:
        v = jnp.sin(1.0 + jnp.arange(y.size, dtype=float)).reshape(y.shape)
    else:
        v = problem.pack(direction)
    if v.shape != y.shape or not bool(jnp.linalg.norm(v) > 0.0):
        raise InputError(f"direction has shape {v.shape}; it must be a vector like the start, and not zero")
    marcher = Marcher(problem, integrator, jnp.asarray(t0, dtype=float), jnp.asarray(dt, dtype=float))
    growth, result = _growth(marcher, y, v / jnp.linalg.norm(v), steps // every, jnp.int64(every))
    elapsed = abs(dt) * every * np.arange(1, steps // every + 1)
    return LyapunovEstimate(elapsed, np.cumsum(np.asarray(growth)) / elapsed, Result(int(result)))


@jitted
def _growth(marcher: Marcher, y: Packed, v: Packed, intervals: int, every):
    """Logarithm of the growth of a tangent vector over each interval, and how the run ended."""

    def interval(carry, k):
        y, v, result = carry

        def end(y):
            loop = flow(marcher, y, k * every, every)
            return loop.y, loop.result

        y, v, outcome = jax.jvp(end, (y,), (v,), has_aux=True)
        result = jnp.where(result == Result.successful, outcome, result)
        length = jnp.linalg.norm(v)
        return (y, v / length, result), jnp.where(result == Result.successful, jnp.log(length), jnp.nan)

    start = (y, v, jnp.int32(Result.successful))
    (_, _, result), growth = lax.scan(interval, start, jnp.arange(intervals))
    return growth, result
