"""Many runs of one problem at once, laid out for the machine."""

import os
from concurrent.futures import ThreadPoolExecutor

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from poinsot.core import AbstractProblem, InputError, State
from poinsot.integrators import AbstractIntegrator
from poinsot.simulate._progress import Progress
from poinsot.simulate._solve import Solution, solve
from poinsot.simulate._validate import check_integrator

BLOCK = 512
"""Runs that step together on a CPU: few enough to stay in its cache, many enough to fill its vectors."""


def ensemble(
    problem: AbstractProblem,
    integrator: AbstractIntegrator,
    states: State,
    *,
    dt: float,
    steps: int,
    t0: float = 0.0,
    save_every: int = 1,
    progress: bool | None = None,
) -> Solution:
    """Run one problem from many starts: what `vmap` of `solve` does, faster and on all cores.

    On a CPU the runs go through in blocks, one at a time on each core; on a GPU all step at once. Where the
    problem is `vectorised`, as those of the library are, a block is one array with the runs along its last
    axis, which fills the vector units; else it is stepped by `vmap`.

    Args:
        problem: what to solve.
        integrator: how.
        states: the starts, run first: `q` of shape `(runs, n)`.
        dt: step size.
        steps: number of steps.
        t0: start time.
        save_every: save each so-manieth state; must divide `steps`.
        progress: show a progress bar; by default on a terminal.

    Returns:
        A `Solution` with the runs along the first axis of every array, on the host. A failed run has NaN
        after its failure, and its reason in `result`.
    """
    check_integrator(problem, integrator)
    lengths = {label: value.shape[0] if value.ndim > 1 else 0 for label, value in states.items()}
    count = lengths[next(iter(lengths))]
    if count == 0 or set(lengths.values()) != {count}:
        raise InputError(f"ensemble: states must have the runs along their first axis; runs found: {lengths}")
    on_cpu = jax.default_backend() == "cpu"
    block = min(BLOCK, count) if on_cpu else count
    padded = jax.tree.map(lambda x: np.concatenate([x, np.repeat(x[-1:], -count % block, axis=0)]), states)
    blocks = [
        jax.tree.map(lambda x, i=i: jnp.asarray(x[i : i + block]), padded) for i in range(0, count, block)
    ]
    grid = jnp.asarray(dt, dtype=float), jnp.asarray(t0, dtype=float)

    def run(starts: State) -> Solution:
        return jax.tree.map(np.asarray, _solve_block(problem, integrator, starts, *grid, steps, save_every))

    cores = len(os.sched_getaffinity(0)) if on_cpu and hasattr(os, "sched_getaffinity") else 1
    pieces = []
    with Progress(progress, steps * count, integrator.name) as bar, ThreadPoolExecutor(cores) as pool:
        for piece in pool.map(run, blocks):
            pieces.append(piece)
            bar.update(min(len(pieces) * block, count) * steps)
    return jax.tree.map(lambda *parts: np.concatenate(parts)[:count], *pieces)


@eqx.filter_jit
def _solve_block(problem, integrator, starts: State, dt, t0, steps: int, save_every: int) -> Solution:
    """One block, with the runs first in every array that comes back."""

    def run(start: State) -> Solution:
        return solve(problem, integrator, start, dt=dt, steps=steps, t0=t0, save_every=save_every)

    if not problem.vectorised:
        return jax.vmap(run)(starts)
    solution = run(jax.tree.map(lambda x: jnp.moveaxis(x, 0, -1), starts))
    runs = solution.result.shape
    return Solution(
        t=jnp.broadcast_to(solution.t, (*runs, *solution.t.shape)),
        state=jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), solution.state),
        result=solution.result,
        steps=solution.steps,
        iterations=jnp.broadcast_to(solution.iterations, runs),
    )
