"""The pure solver: arrays in, pytree out; works under `jit`, `vmap` and `grad`, on any device."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Int

from poinsot.control import Sampled
from poinsot.coordinates import AbstractOrientation
from poinsot.core import AbstractProblem, Count, InputError, Result, State, as_count, brief, checked, concrete
from poinsot.core.types import IntScalar
from poinsot.equations import Formulation
from poinsot.integrators import AbstractIntegrator, as_fixed
from poinsot.kernels import SHORT, Choice, Kernel, in_pieces, is_traced, jitted, settled
from poinsot.model import AbstractSystem, may_contradict, off_by
from poinsot.simulation._controlled import Control, controlled
from poinsot.simulation._fixed_run import FixedRun
from poinsot.simulation._loop import Marcher
from poinsot.simulation._memory import check_memory
from poinsot.simulation._sampling import Sampler, sampler_of
from poinsot.simulation._subject import choose
from poinsot.simulation._validate import (
    can_start,
    check_grid,
    check_integrator,
    check_labels,
    check_starts,
    try_functions,
)
from poinsot.simulation._window_march import in_windows


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
    kernel: str = eqx.field(default="plain", static=True)
    """What ran: "native", or "plain" with the reason."""

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.state, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.state.names})

    def __repr__(self) -> str:
        runs = f"{self.result.size} runs, " if self.result.ndim else ""
        shapes = ", ".join(f"{name} {value.shape}" for name, value in self.state.items())
        return f"Solution({runs}{self.t.shape[-1]} states; {shapes}; result {brief(self.result)})"


@checked
def solve(
    problem: AbstractProblem | AbstractSystem,
    integrator: AbstractIntegrator | str,
    state: State,
    *,
    dt,
    steps: Count,
    coordinates: AbstractOrientation | str | None = None,
    form: str | None = None,
    control: Control | None = None,
    t0=0.0,
    save_every: Count = 1,
    kernel: Choice = "auto",
    fast: bool = False,
) -> Solution:
    """Take `steps` steps and return the states, the start included.

    A pure function of arrays: batch it with `jax.vmap` over states, parameters or `dt`, differentiate it
    with `jax.grad` or `jax.jacfwd`, call it inside your own `jit`. It raises nothing at run time: look at
    `result`; states after a failure are NaN, so that a failed lane of a batch leaves the others alone.

    Args:
        problem: what to solve: a problem, or a system of bodies.
        integrator: how; or its name.
        state: start, with the problem's labels; of a system, `system.state(...)`.
        dt: step size, negative to go backward; may be traced.
        steps: number of steps, a Python integer.
        coordinates: for a system, as in `simulate`.
        form: for a system, likewise.
        control: for a system, likewise.
        t0: start time.
        save_every: save every `save_every`-th state; must divide `steps`. `save_every=steps` keeps start and
            end.
        kernel: as in `simulate`. Within a trace, that is under `jit`, `vmap` or `grad`, the plain one runs.
        fast: as in `simulate`.

    Returns:
        The states with the problem's labels; of a system, with those of its `Motion`: `position`, `rotation`,
        `quaternion`, `velocity`, `angular_velocity` and the others.
    """
    integrator = as_fixed("solve", integrator)
    control = settled(control)
    problem = settled(controlled(problem, control))
    if isinstance(problem, AbstractSystem):
        check_grid(t0, dt, check_saves(steps, save_every))
        formulation = choose(problem, integrator, coordinates, form)
        start = formulation.start(state, t0)
        fits = None
        if not concrete(problem, state, t0) and may_contradict(problem):
            fits = off_by(problem, t0, state) <= 1.0
        sampler = sampler_of(formulation, control, dt) if isinstance(control, Sampled) else None
        grid = {"dt": dt, "steps": steps, "t0": t0, "save_every": save_every, "kernel": kernel, "fast": fast}
        return seen(formulation, _solved(formulation.problem, integrator, start, sampler, fits, **grid))
    return _solved(
        problem,
        integrator,
        state,
        None,
        None,
        dt=dt,
        steps=steps,
        t0=t0,
        save_every=save_every,
        kernel=kernel,
        fast=fast,
    )


def _solved(
    problem: AbstractProblem,
    integrator: AbstractIntegrator,
    state: State,
    sampler: Sampler | None,
    fits: Bool[Array, ""] | None,
    *,
    dt,
    steps: int,
    t0,
    save_every: int,
    kernel: Choice,
    fast: bool,
) -> Solution:
    """The solution of a problem, with a sampled controller or without; `fits`: if the start is one."""
    check_grid(t0, dt, check_saves(steps, save_every))
    check_integrator(problem, integrator)
    y = check_labels(problem, state)
    check_memory(steps // save_every, y.size, save_every)
    try_functions(problem, jnp.asarray(t0, dtype=float), y)
    chosen = Kernel(kernel, fast)
    if is_traced(problem, integrator, state, dt, t0):
        chosen.give_up("it is called within a trace")
        begins = can_start(problem, integrator, jnp.asarray(t0, dtype=float), jnp.asarray(dt, dtype=float), y)
        fits = begins if fits is None else begins & fits
    elif not problem.lanes(y):
        check_starts(problem, integrator, t0, jax.tree.map(lambda x: jnp.asarray(x)[None], state))
    if chosen.native:
        plan = FixedRun.of_steps(integrator, (float(t0), float(dt), steps), save_every, chosen)
        solution = _solve_native(problem, state, plan, sampler)
        if solution is not None:
            return solution
    t0, dt = jnp.asarray(t0, dtype=float), jnp.asarray(dt, dtype=float)
    marcher = Marcher(in_windows(problem, integrator), integrator, t0, dt, None, sampler)
    solution = _solve(marcher, state, fits, steps // save_every, save_every)
    return dataclasses.replace(solution, kernel=chosen.description)


def _solve_native(
    problem: AbstractProblem, state: State, plan: FixedRun, sampler: Sampler | None
) -> Solution | None:
    """The steps in native machine code; None where it cannot take them."""
    y = problem.pack(state)
    if problem.lanes(y):
        plan.kernel.give_up("the state holds many runs; pt.ensemble takes those")
    elif y.size > SHORT and not problem.looped and plan.kernel.choice != "native":
        plan.kernel.give_up(f"a state of {y.size} numbers is too long to be written out")
    if not plan.kernel.native:
        return None
    record = plan(problem, y, None, None, sampler)
    if record.result is Result.interrupted:
        raise KeyboardInterrupt
    if not plan.kernel.native:
        return None
    times = np.append(plan.t0, plan.schedule.times)
    rows = np.full((len(times), *y.shape), np.nan)
    reached = min(
        len(record.packed), 1 + int(np.searchsorted(plan.schedule.targets, record.steps, side="right"))
    )
    rows[:reached] = record.packed[:reached]
    return Solution(
        t=jnp.asarray(times),
        state=jax.vmap(problem.unpack)(jnp.asarray(rows)),
        result=jnp.int32(record.result),
        steps=jnp.int64(record.steps),
        iterations=jnp.int64(record.told["iterations"]),
        kernel=plan.kernel.description,
    )


def check_saves(steps: int, save_every: int) -> int:
    """The number of steps, once they end at a saved state."""
    steps, save_every = as_count(steps, "steps"), as_count(save_every, "save_every")
    if steps % save_every:
        raise InputError(
            f"steps = {steps} must be a positive multiple of save_every = {save_every}; "
            "choose a save_every that divides steps"
        )
    return steps


@jitted
def seen(formulation: Formulation, solution: Solution) -> Solution:
    """The solution with what can be seen of the bodies in place of their coordinates."""
    packed = jax.vmap(formulation.problem.pack)(solution.state)
    motion = jax.vmap(formulation.motion)(solution.t, packed)
    state = State(**{entry.name: getattr(motion, entry.name) for entry in dataclasses.fields(motion)})
    return eqx.tree_at(lambda one: one.state, solution, state)


@jitted
def _solve(
    marcher: Marcher, state: State, fits: Bool[Array, "*lanes"] | None, saves: int, save_every: int
) -> Solution:
    """Nested scans, so that reverse-mode derivatives exist."""

    def step(loop, n):
        if marcher.problem.looped:
            loop = eqx.tree_at(lambda one: one.y, loop, in_pieces(loop.y))
        return marcher.step_unless_failed(loop, n), None

    def save(loop, numbers):
        loop, _ = lax.scan(step, loop, numbers)
        return loop, jnp.where(loop.result == Result.successful, loop.y, jnp.nan)

    y = marcher.problem.pack(state)
    numbers = jnp.arange(saves * save_every).reshape(saves, save_every)
    first = marcher.start(y)
    if fits is not None:
        result = jnp.where(fits, first.result, jnp.int32(Result.bad_start))
        first = eqx.tree_at(lambda one: one.result, first, result)
    loop, saved = lax.scan(save, first, numbers)
    states = jax.vmap(marcher.problem.unpack)(jnp.concatenate([y[None], saved]))
    times = marcher.time(save_every * jnp.arange(saves + 1))
    return Solution(times, states, loop.result, loop.n, loop.iterations)
