"""Runs for people: validation, a readable end whatever happens."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from poinsot._garbage import kept
from poinsot.control import Sampled
from poinsot.coordinates import AbstractOrientation
from poinsot.core import AbstractProblem, Count, Result, State, as_number, checked
from poinsot.integrators import AbstractIntegrator, as_integrator
from poinsot.integrators.adaptive import AbstractAdaptive
from poinsot.kernels import Choice, Kernel, settled
from poinsot.model import AbstractSystem
from poinsot.simulation._accuracy import fixed_step
from poinsot.simulation._adaptive_run import AdaptiveRun
from poinsot.simulation._clock import timed_run
from poinsot.simulation._controlled import Control, controlled
from poinsot.simulation._event import Event
from poinsot.simulation._fixed_run import FixedRun
from poinsot.simulation._jumps import check_drives_smooth
from poinsot.simulation._sampling import sampler_of
from poinsot.simulation._stiffness import check_springs
from poinsot.simulation._subject import subject_of
from poinsot.simulation._trajectory import Trajectory
from poinsot.simulation._validate import check_consistent, check_span


class SimulationError(RuntimeError):
    """A run that did not reach its end. What was computed is in `trajectory`."""

    def __init__(self, message: str, trajectory: Trajectory):
        super().__init__(message)
        self.trajectory = trajectory

    def __reduce__(self):
        return type(self), (str(self), self.trajectory)


class Interrupted(KeyboardInterrupt):
    """A run that was interrupted. What was computed is in `trajectory`."""

    def __init__(self, trajectory: Trajectory):
        super().__init__(trajectory.message)
        self.trajectory = trajectory

    def __reduce__(self):
        return type(self), (self.trajectory,)


@checked
def simulate(
    problem: AbstractProblem | AbstractSystem,
    state: State,
    *,
    t1: float,
    integrator: AbstractIntegrator | AbstractAdaptive | str,
    dt: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    coordinates: AbstractOrientation | str | None = None,
    form: str | None = None,
    control: Control | None = None,
    t0: float = 0.0,
    save_every: Count = 1,
    save_at: Sequence[float] | None = None,
    stop: Event | Callable | None = None,
    last_step: Literal["refuse", "shorten"] = "refuse",
    progress: bool | None = None,
    throw: bool = True,
    kernel: Choice = "auto",
    fast: bool = False,
) -> Trajectory:
    """Run from `t0` to `t1`, in steps of `dt` or in steps that meet a tolerance, and return the trajectory.

    Args:
        problem: what to solve: a problem such as `pt.Hamiltonian`, or a `pt.System` of bodies.
        state: start, with the problem's labels, e.g. `State(q=..., p=...)`; of a system, `system.state(...)`.
        t1: end time; before `t0` for a backward run.
        integrator: how to step: with fixed steps, or one of the adaptive solvers, which choose theirs; or a
            name that `poinsot methods` lists, such as "gauss6".
        dt: fixed step, negative for a backward run. `(t1 - t0) / dt` must be a whole number, see `last_step`.
        rtol: relative tolerance of an adaptive solver, 1e-9 by default: what the error of a step may be,
            in each component, is `atol + rtol |y|`.
        atol: absolute tolerance of it, 1e-9 by default; zero for the relative one alone.
        coordinates: for a system: of its rotations, one of `pt.coordinates`, or its name such as "directors".
            By default quaternions, or the group where the integrator needs it.
        form: for a system: of the equations, "hamiltonian", "index3", "index2", "index1", "index0",
            "null_space" or "group". By default the first that coordinates and integrator both take.
        control: for a system whose joints form a tree: one of `pt.control`, or a law `f(q, v)` or
            `f(t, q, v)` that returns a force for each joint.
        t0: start time.
        save_every: save each so-manieth state; start and end are always saved.
        save_at: save at these times instead (and the start); times between steps are reached by part steps
            that leave the run itself alone, or by the dense output of an adaptive solver.
        stop: an `Event`, or a function of the state whose first zero ends the run; located to round-off. Of a
            system it is a function of the `Motion`: positions, rotations, velocities of all bodies. Between
            the steps of an adaptive solver it is located by the dense output.
        last_step: of fixed steps: `"shorten"` ends on `t1` with a shorter last step.
        progress: show a progress bar; by default on a terminal.
        throw: raise `SimulationError` on failure; else return the trajectory up to there, with its result.
        kernel: what compiles the steps: `"native"` machine code through LLVM, `"plain"` JAX, or `"auto"` for
            native on a CPU where it can. `attributes["kernel"]` of the run says what ran and, if plain, why.
        fast: let native code contract multiplications and additions: faster on some processors, but the bits
            of the result then depend on the processor.

    Returns:
        A `Trajectory`; of a system a `BodyTrajectory`, with positions, rotations, velocities, momenta. Of an
        adaptive solver it also has `steps`, `counts` and `at(t)`.

    Raises:
        InputError: on wrong input, before anything is computed.
        SimulationError: when a step fails; its `trajectory` holds what was computed.
        Interrupted: on Ctrl-C; likewise.
    """
    integrator, saves = as_integrator(integrator), (save_every, save_at)
    choices = {"coordinates": coordinates, "form": form, "control": control, "kernel": kernel, "fast": fast}
    again = partial(simulate, problem, state, integrator=integrator, t0=t0, **choices)
    span = t0, t1 = check_span(t0, t1)
    dt, rtol, atol = (
        None if value is None else as_number(value, name)
        for name, value in (("dt", dt), ("rtol", rtol), ("atol", atol))
    )
    if isinstance(integrator, AbstractAdaptive):
        run = AdaptiveRun.planned(integrator, span, (dt, rtol, atol), saves, progress, Kernel(kernel, fast))
    else:
        step = fixed_step(integrator, dt, rtol=rtol, atol=atol)
        run = FixedRun.planned(integrator, span, step, last_step, saves, progress, Kernel(kernel, fast))
    with timed_run() as seconds:
        with kept():
            control = settled(control)
            problem = settled(controlled(problem, control))
            subject = subject_of(problem, integrator, state, coordinates, form, t0)
            y = subject.checked(t0)
            check_consistent(subject.problem, integrator, t0, y)
            if subject.formulation is not None:
                step = None if isinstance(run, AdaptiveRun) else run.dt
                check_drives_smooth(subject.formulation.bodies.system, t0, t1, step)
                if isinstance(run, FixedRun):
                    check_springs(subject.formulation.bodies.system, run.integrator, t0, state, run.dt)
            event = None if stop is None else settled(subject.event(stop, t0, y))
            event = None if event is None else event.checked(subject.problem, t0, y)
            sampler = sampler_of(subject.formulation, control, dt) if isinstance(control, Sampled) else None
        if isinstance(run, AdaptiveRun):
            record = run.observing(subject.observed)(
                subject.problem, y, event, subject.loaded, subject.formulation
            )
        else:
            record = run(subject.problem, y, event, subject.loaded, sampler)
        trajectory = subject.trajectory(integrator, record)
    trajectory.again = partial(again, progress=False, throw=False)
    trajectory.seconds.update(seconds)
    if trajectory.result is Result.interrupted:
        raise Interrupted(trajectory)
    if throw and not trajectory.result.ok:
        raise SimulationError(trajectory.message, trajectory)
    return trajectory
