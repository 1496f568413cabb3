"""The pure solver: arrays in, pytree out; works under `jit`, `vmap` and `grad`, on any device."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Int

from poinsot.core import AbstractProblem, Result, State
from poinsot.core.types import IntScalar
from poinsot.integrators import AbstractIntegrator
from poinsot.simulation._loop import Marcher


class Solution(eqx.Module):
    """Saved states of one run, or of a batch of runs after `vmap`."""

    t: Array
    """Times of the saved states."""
    state: State
    """The saved states, time first; NaN after a failure."""
    result: Int[Array, "*runs"]
    """A `poinsot.Result` as integer; 0 is success."""
    steps: Int[Array, "*runs"]
    """Steps taken before the end or the failure."""
    iterations: IntScalar
    """Iterations of implicit equations, all steps together."""

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.state, name)


def solve(
    problem: AbstractProblem,
    integrator: AbstractIntegrator,
    state: State,
    *,
    dt,
    steps: int,
    t0=0.0,
    save_every: int = 1,
) -> Solution:
    """Take `steps` steps and return the states, the start included.

    A pure function of arrays: batch it with `jax.vmap` over states, parameters or `dt`, differentiate it
    with `jax.grad` or `jax.jacfwd`, call it inside your own `jit`. It raises nothing at run time: look at
    `result`; states after a failure are NaN, so that a failed lane of a batch leaves the others alone.

    Args:
        problem: what to solve.
        integrator: how.
        state: start, with the problem's labels.
        dt: step size, negative to go backward; may be traced.
        steps: number of steps, a Python integer.
        t0: start time.
        save_every: save each so-manieth state; must divide `steps`. `save_every=steps` keeps start and end.
    """
    if steps < 1 or save_every < 1 or steps % save_every:
        raise ValueError(
            f"solve: steps={steps} must be a positive multiple of save_every={save_every}; "
            "choose a save_every that divides steps"
        )
    refusal = integrator.refusal(problem)
    if refusal is not None:
        raise TypeError(f"{integrator.name} {refusal}")
    t0, dt = jnp.asarray(t0, dtype=float), jnp.asarray(dt, dtype=float)
    return _solve(Marcher(problem, integrator, t0, dt), state, steps // save_every, save_every)


@eqx.filter_jit
def _solve(marcher: Marcher, state: State, saves: int, save_every: int) -> Solution:
    """Nested scans, so that reverse-mode derivatives exist."""

    def step(loop, n):
        failed = loop.result != Result.successful
        following = marcher.step(loop, n)
        held = jax.tree.map(lambda new, old: jnp.where(failed, old, new), following, loop)
        return eqx.tree_at(lambda one: one.iterations, held, following.iterations), None

    def save(loop, numbers):
        loop, _ = lax.scan(step, loop, numbers)
        return loop, jnp.where(loop.result == Result.successful, loop.y, jnp.nan)

    y = marcher.problem.pack(state)
    numbers = jnp.arange(saves * save_every).reshape(saves, save_every)
    loop, saved = lax.scan(save, marcher.start(y), numbers)
    states = jax.vmap(marcher.problem.unpack)(jnp.concatenate([y[None], saved]))
    times = marcher.time(save_every * jnp.arange(saves + 1))
    return Solution(times, states, loop.result, loop.n, loop.iterations)
