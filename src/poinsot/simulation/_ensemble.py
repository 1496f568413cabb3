"""Many runs of one problem at once, laid out for the machine."""

import math
import os
from concurrent.futures import ThreadPoolExecutor

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from poinsot.core import AbstractProblem, InputError, State
from poinsot.integrators import AbstractIntegrator
from poinsot.simulation._accuracy import check_fixed
from poinsot.simulation._lanes import LanedIntegrator, LanedProblem
from poinsot.simulation._progress import Progress
from poinsot.simulation._solve import Solution, solve
from poinsot.simulation._validate import check_integrator

BLOCK = 128
"""Runs that step together on a CPU: enough to fill its vectors, few enough for XLA to make one piece of
machine code of the loop over them (above about 250 it does not, and Gauss 6 takes three times as long)."""
BATCH = 32
"""Blocks that go through in one call, at most: between calls the progress is shown."""


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
    check_fixed("ensemble", integrator)
    check_integrator(problem, integrator)
    lengths = {label: value.shape[0] if value.ndim > 1 else 0 for label, value in states.items()}
    count = lengths[next(iter(lengths))]
    if count == 0 or set(lengths.values()) != {count}:
        raise InputError(f"ensemble: states must have the runs along their first axis; runs found: {lengths}")
    on_cpu = jax.default_backend() == "cpu"
    cores = len(os.sched_getaffinity(0)) if on_cpu and hasattr(os, "sched_getaffinity") else 1
    block = min(BLOCK, count) if on_cpu else count
    batch = min(BATCH, math.ceil(count / (block * cores)))
    size = batch * block
    padded = jax.tree.map(lambda x: np.concatenate([x, np.repeat(x[-1:], -count % size, axis=0)]), states)
    rounds = math.ceil(count / size)
    calls = jax.tree.map(lambda x: x.reshape(rounds, batch, block, *x.shape[1:]), padded)
    grid = jnp.asarray(dt, dtype=float), jnp.asarray(t0, dtype=float)

    def run(index: int) -> Solution:
        starts = jax.tree.map(lambda x: jnp.asarray(x[index]), calls)
        solution = _solve_blocks(problem, integrator, starts, *grid, steps, save_every)
        return jax.tree.map(lambda x: np.asarray(x).reshape(size, *x.shape[2:]), solution)

    pieces = []
    with Progress(progress, steps * count, integrator.name) as bar, ThreadPoolExecutor(cores) as pool:
        for piece in pool.map(run, range(rounds)):
            pieces.append(piece)
            bar.update(min(len(pieces) * size, count) * steps)
    return jax.tree.map(lambda *parts: np.concatenate(parts)[:count], *pieces)


@eqx.filter_jit
def _solve_blocks(problem, integrator, starts: State, dt, t0, steps: int, save_every: int) -> Solution:
    """One block after the other, with the runs first in every array that comes back."""
    if not problem.vectorised:
        problem, integrator = LanedProblem(problem), LanedIntegrator(integrator)

    def run(start: State) -> Solution:
        return solve(problem, integrator, start, dt=dt, steps=steps, t0=t0, save_every=save_every)

    def run_as_lanes(block: State) -> Solution:
        solution = run(jax.tree.map(lambda x: jnp.moveaxis(x, 0, -1), block))
        runs = solution.result.shape
        return Solution(
            t=jnp.broadcast_to(solution.t, (*runs, *solution.t.shape)),
            state=jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), solution.state),
            result=solution.result,
            steps=solution.steps,
            iterations=jnp.broadcast_to(solution.iterations, runs),
        )

    return lax.map(run_as_lanes, starts)
