"""Many runs of one problem at once, laid out for the machine."""

import dataclasses
import math
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from poinsot.control import Sampled
from poinsot.coordinates import AbstractOrientation
from poinsot.core import AbstractProblem, Count, InputError, State, checked, quoted
from poinsot.equations import Formulation
from poinsot.integrators import AbstractIntegrator, as_fixed
from poinsot.kernels import Choice, Kernel, cores, jitted, settled
from poinsot.model import AbstractSystem
from poinsot.simulation._controlled import Control, controlled
from poinsot.simulation._ensemble_native import ensemble_native
from poinsot.simulation._jumps import check_drives_smooth
from poinsot.simulation._lane_loop import comes_apart, solve_lanes
from poinsot.simulation._loop import Marcher
from poinsot.simulation._memory import check_memory
from poinsot.simulation._progress import Progress
from poinsot.simulation._solve import Solution, check_saves, seen, solve
from poinsot.simulation._subject import choose
from poinsot.simulation._validate import (
    check_grid,
    check_integrator,
    check_labels,
    check_starts,
    try_functions,
)

BLOCK = 128
"""Runs that step together on a CPU: enough to fill its vectors, few enough for XLA to make one piece of
machine code of the loop over them (above about 250 it does not, and Gauss 6 takes three times as long)."""
BATCH = 4096
"""Runs that go through in one call, at most: between calls the progress is shown."""


@checked
def ensemble(
    problem: AbstractProblem | AbstractSystem,
    integrator: AbstractIntegrator | str,
    states: State,
    *,
    dt: float,
    steps: Count,
    coordinates: AbstractOrientation | str | None = None,
    form: str | None = None,
    control: Control | None = None,
    t0: float = 0.0,
    save_every: Count = 1,
    progress: bool | None = None,
    kernel: Choice = "auto",
    fast: bool = False,
) -> Solution:
    """Run one problem from many starts: what `vmap` of `solve` does, faster and on all cores.

    On a CPU the runs stand along the lanes of vectors in native machine code, tiles of them on every core;
    each has the bits that it has alone. On a GPU, and where the native kernel cannot take a problem, the
    plain kernel steps arrays with the runs along their last axis: where a problem is `vectorised`, as the
    Hamiltonians of the library are, its own functions act on all of them; any other goes by `vmap`, but on a
    GPU an explicit step is taken apart into operations on rows of runs.

    Args:
        problem: what to solve: a problem, or a system of bodies.
        integrator: how; or its name.
        states: the starts, run first: `q` of shape `(runs, n)`; of a system, for instance
            `jax.vmap(lambda w: system.state(angular_velocity=w))(spins)`.
        dt: step size.
        steps: number of steps.
        coordinates: for a system, as in `simulate`.
        form: for a system, likewise.
        control: for a system, likewise, one for all runs; not a sampled one.
        t0: start time.
        save_every: save every `save_every`-th state; must divide `steps`.
        progress: show a progress bar; by default on a terminal.
        kernel: as in `simulate`; `kernel` of the result says what ran.
        fast: as in `simulate`.

    Returns:
        A `Solution` with the runs along the first axis of every array, on the host. A failed run has NaN
        after its failure, and its reason in `result`. Of a system the states are those of its `Motion`.
    """
    integrator = as_fixed("ensemble", integrator)
    grid = {"dt": dt, "steps": steps, "t0": t0, "save_every": save_every, "progress": progress}
    grid |= {"kernel": kernel, "fast": fast}
    if isinstance(control, Sampled):
        raise InputError(
            "control is sampled, and each run would hold forces of its own, which ensemble does not keep; "
            "map pt.solve over the starts with jax.vmap, or leave out Sampled"
        )
    check_grid(t0, dt, check_saves(steps, save_every))
    problem = settled(controlled(problem, control))
    if isinstance(problem, AbstractSystem):
        formulation = choose(problem, integrator, coordinates, form)
        problem.check_state(t0, states, runs=True)
        check_drives_smooth(problem, t0, t0 + steps * dt, dt)
        starts = _started(formulation, states, t0)
        return _all_seen(formulation, ensemble(formulation.problem, integrator, starts, **grid))
    check_integrator(problem, integrator)
    if not isinstance(states, State):
        raise InputError(f"states = {quoted(states)}; they must be a pt.State with the runs first")
    lengths = {label: value.shape[0] if value.ndim > 1 else 0 for label, value in states.items()}
    count = lengths[next(iter(lengths))]
    if count == 0 or set(lengths.values()) != {count}:
        raise InputError(f"ensemble: states must have the runs along their first axis; runs found: {lengths}")
    first = check_labels(problem, jax.tree.map(lambda x: jnp.asarray(x[0]), states))
    check_memory(count * (steps // save_every + 1), first.size, save_every)
    try_functions(problem, jnp.asarray(t0, dtype=float), first)
    check_starts(problem, integrator, t0, states)
    chosen = Kernel(kernel, fast)
    h, begin = jnp.asarray(dt, dtype=float), jnp.asarray(t0, dtype=float)
    marcher = Marcher(problem, integrator, begin, h)
    if chosen.native:
        solution = ensemble_native(marcher, states, count, steps // save_every, save_every, chosen, progress)
        if solution is not None:
            return solution
    on_cpu = jax.default_backend() == "cpu"
    threads = cores() if on_cpu else 1
    first = jax.tree.map(lambda x: jnp.asarray(x[0]), states)
    apart = not on_cpu and not problem.vectorised and comes_apart(marcher, first)
    block = min(BLOCK, count) if on_cpu else count
    # As many calls for each core, or one would wait for the other.
    rounds = threads * math.ceil(count / (threads * BATCH))
    batch = math.ceil(count / (block * rounds))
    size = batch * block
    padded = jax.tree.map(lambda x: np.concatenate([x, np.repeat(x[-1:], -count % size, axis=0)]), states)
    rounds = math.ceil(count / size)
    calls = jax.tree.map(lambda x: x.reshape(rounds, batch, block, *x.shape[1:]), padded)

    def run(index: int) -> Solution:
        starts = jax.tree.map(lambda x: jnp.asarray(x[index]), calls)
        solution = _solve_blocks(problem, integrator, starts, h, begin, steps, save_every, apart)
        return jax.tree.map(lambda x: np.asarray(x).reshape(size, *x.shape[2:]), solution)

    pieces = []
    with Progress(progress, steps * count, integrator.name) as bar, ThreadPoolExecutor(threads) as pool:
        for piece in pool.map(run, range(rounds)):
            pieces.append(piece)
            bar.update(min(len(pieces) * size, count) * steps)
    solution = jax.tree.map(lambda *parts: np.concatenate(parts)[:count], *pieces)
    return dataclasses.replace(solution, kernel=chosen.description)


@jitted
def _started(formulation: Formulation, states: State, t0) -> State:
    """Starts in the coordinates of a formulation."""
    return jax.vmap(lambda state: formulation.start(state, t0))(states)


def _all_seen(formulation: Formulation, solution: Solution) -> Solution:
    """Solutions with what can be seen of the bodies in place of their coordinates."""
    return jax.tree.map(np.asarray, jax.vmap(lambda one: seen(formulation, one))(solution))


@jitted
def _solve_blocks(problem, integrator, starts: State, dt, t0, steps: int, save_every: int, apart: bool):
    """One block after the other, with the runs first in every array that comes back."""

    def run(block: State) -> Solution:
        states = jax.tree.map(lambda x: jnp.moveaxis(x, 0, -1), block)
        if problem.vectorised:
            solution = solve(problem, integrator, states, dt=dt, steps=steps, t0=t0, save_every=save_every)
        else:
            marcher = Marcher(problem, integrator, t0, dt)
            solution = solve_lanes(marcher, states, steps // save_every, save_every, apart)
        runs = solution.result.shape
        return Solution(
            t=jnp.broadcast_to(solution.t, (*runs, *solution.t.shape)),
            state=jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), solution.state),
            result=solution.result,
            steps=solution.steps,
            iterations=jnp.broadcast_to(solution.iterations, runs),
        )

    return lax.map(run, starts)
