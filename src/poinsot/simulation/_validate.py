"""What is checked before a run starts, so that wrong input is one clear line and not a traceback."""

import math
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jaxtyping import Array, Bool

from poinsot.core import (
    AbstractProblem,
    InputError,
    Packed,
    PhaseSpace,
    Result,
    State,
    Use,
    as_number,
    check_all_finite,
    check_called,
    check_uses,
    concrete,
    on_device,
    quoted,
)
from poinsot.equations import Formulation
from poinsot.integrators import AbstractIntegrator, as_fixed, fitting
from poinsot.integrators.adaptive import AbstractAdaptive
from poinsot.kernels import jitted, once, remembered
from poinsot.model import AbstractSystem

WHOLE = 1e-9
"""How far from a whole number `(t1 - t0) / dt` may be, relative to its size, to count as one."""


CONSISTENT = 1e-9
"""How far a start may be from the constraints, relative to one plus its size."""
ACROSS = 0.1
"""The same for momenta, under methods that do not hold these: a run goes on from where such a one ended."""


MOST_STEPS = 1e11
"""Steps of a run at most: nobody has waited for more. A longer run goes on from the end of one."""
FASTEST = 1e7
"""Steps of a small problem in a second, in machine code."""


class InfiniteStart(InputError):
    """The right-hand side is not finite at the start."""


def check_problem(problem: Any) -> None:
    """Refuse what is not a problem."""
    if isinstance(problem, AbstractSystem):
        raise InputError(
            "a system of bodies is given where a problem is needed; give pt.formulate(system, coordinates, "
            "form).problem"
        )
    if not isinstance(problem, AbstractProblem):
        check_called("problem", problem)
        raise InputError(
            "problem must be a problem such as pt.Hamiltonian, or a system of bodies such as pt.System, "
            f"got {type(problem).__name__}"
        )


def check_integrator(problem: AbstractProblem, integrator: AbstractIntegrator | AbstractAdaptive) -> None:
    """Refuse an integrator that does not fit the problem, naming those that do."""
    check_problem(problem)
    refusal = integrator.refusal(problem)
    if refusal is not None:
        raise InputError(f"integrator {integrator.name} {refusal}. These fit: {', '.join(fitting(problem))}")


def fixed_for(
    problem: AbstractProblem, integrator: AbstractIntegrator | str, caller: str
) -> AbstractIntegrator:
    """The integrator with fixed steps, from itself or its name, once it fits the problem."""
    method = as_fixed(caller, integrator)
    check_integrator(problem, method)
    return method


def check_labels(problem: AbstractProblem, state: State) -> Packed:
    """The packed start, once it has the right labels and shapes."""
    if not isinstance(state, State):
        raise InputError(f"the start must be a pt.State, got {type(state).__name__}")
    if set(state.names) != set(problem.labels):
        wanted = ", ".join(f"{label}=..." for label in problem.labels)
        raise InputError(
            f"the start has {', '.join(state.names) or 'nothing'}; this problem needs State({wanted})"
        )
    shapes = {label: state[label].shape for label in problem.labels}
    if any(len(shape) == 0 for shape in shapes.values()):
        raise InputError(
            f"the start has shapes {_shown(shapes)}; each must be a list, of one number at least"
        )
    if len(set(shapes.values())) > 1 and isinstance(problem, PhaseSpace):
        raise InputError(f"the start has shapes {_shown(shapes)}; they must be equal")
    return problem.pack(state)


def check_state(problem: AbstractProblem, state: State, t0: float) -> Packed:
    """The packed start, once it has the right labels, shapes and finite numbers."""
    y = check_labels(problem, state)
    clearance = problem.clearance(y)
    # Before the numbers are looked at: at a singularity itself, momenta or rates are infinite.
    if clearance is not None and float(clearance) < 0.0:
        raise InputError(f"at the start {Result.near_singularity.message}")
    for label in problem.labels:
        values = np.asarray(state[label])
        if not np.all(np.isfinite(values)):
            place = tuple(map(int, np.argwhere(~np.isfinite(values))[0]))
            raise InputError(
                f"the start has {label}{list(place)} = {values[place]}; all components must be finite"
            )
    if problem.lanes(y):
        raise InputError(f"the start holds {problem.lanes(y)} runs of a vectorised problem; use pt.ensemble")
    _check_functions(problem, t0, y)
    return y


def try_functions(problem: AbstractProblem, t, y: Packed) -> None:
    """Try the user's functions by shapes: once for problems that differ in numbers only.

    Raises:
        InputError: names the function that cannot be evaluated, or returns something else.
    """
    remembered(_tried, problem, t, y)


def _tried(problem: AbstractProblem, t, y: Packed) -> bool:
    check_uses(problem.uses(t, y))
    return True


def _check_functions(problem: AbstractProblem, t0: float, y: Packed) -> None:
    """The user's functions, called once at the start: right shapes and finite values."""
    t = on_device(t0, float)
    try_functions(problem, t, y)
    try:
        slope, invariants = _evaluated(problem, t, y)
    except InputError:
        raise
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise InputError(
            f"the problem cannot be evaluated at the start (state of shape {y.shape}): "
            f"{type(error).__name__}: {reason}"
        ) from error
    if slope.shape != y.shape:
        raise InputError(
            f"the right-hand side has shape {slope.shape}, the state {y.shape}; they must be equal"
        )
    if not np.all(np.isfinite(np.asarray(slope))):
        place = int(np.argmin(np.isfinite(np.asarray(slope))))
        raise InfiniteStart(
            f"the right-hand side is not finite at the start: component {place} of {slope.size} is "
            f"{float(slope.reshape(-1)[place])}; start elsewhere"
        )
    for name, value in invariants.items():
        if not np.all(np.isfinite(np.asarray(value))):
            raise InputError(f"invariant {quoted(name)} is {value} at the start; it must be finite there")


def check_consistent(
    problem: AbstractProblem, integrator: AbstractIntegrator | AbstractAdaptive, t0: float, y: Packed
) -> None:
    """Refuse a start off the constraints of the problem: the first step would move it onto them."""
    if problem.ordinary:
        return
    for part, off in _inconsistency(problem, on_device(t0, float), y).items():
        _check_off(part, float(off), _allowed(integrator, part))


def _allowed(integrator: AbstractIntegrator | AbstractAdaptive, part: str) -> float:
    """How far a part of a start may be off the constraints."""
    holds = isinstance(integrator, AbstractAdaptive) or integrator.holds_velocity
    return CONSISTENT if holds or part == "position" else ACROSS


def _check_off(part: str, off: float, allowed: float, run: str = "") -> None:
    if not off <= allowed:
        wrong = "is off the constraints" if part == "position" else "is not along the constraints"
        raise InputError(
            f"the {part} of the start{run} {wrong}, by {off:.3g} relative to its size; start from "
            "problem.consistent(state), the nearest one that satisfies them"
        )


def check_starts(problem: AbstractProblem, integrator: AbstractIntegrator, t0: float, states: State) -> None:
    """Refuse starts of many runs, the runs first, that are not finite or off the constraints."""
    for label, values in states.items():
        check_all_finite(np.asarray(values), f"{label} of the starts")
    if problem.ordinary:
        return
    for part, off in _all_inconsistency(problem, on_device(t0, float), states).items():
        worst = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
        _check_off(part, float(off[worst]), _allowed(integrator, part), f" of run {worst}")


@jitted
def _all_inconsistency(problem: AbstractProblem, t, states: State):
    return jax.vmap(lambda state: problem.inconsistency(t, problem.pack(state)))(states)


def can_start(
    problem: AbstractProblem, integrator: AbstractIntegrator, t0, dt, y: Packed
) -> Bool[Array, "*lanes"]:
    """Whether a run can start, of traced numbers that nobody can look at: see `Result.bad_start`."""
    lanes = problem.lanes(y)
    finite = jnp.all(jnp.isfinite(y), axis=tuple(range(y.ndim - len(lanes))))
    start = finite & jnp.isfinite(t0) & jnp.isfinite(dt) & (dt != 0.0)
    if problem.ordinary or lanes:
        return start
    still = jax.tree.map(lambda x: lax.stop_gradient(x) if eqx.is_array(x) else x, (problem, t0, y))
    for part, off in still[0].inconsistency(*still[1:]).items():
        start &= off <= _allowed(integrator, part)
    return start


@once
def _inconsistency(problem: AbstractProblem, t, y: Packed):
    return problem.inconsistency(t, y)


@once
def _evaluated(problem: AbstractProblem, t, y: Packed):
    return problem.vector_field(t, y), problem.conserved(t, y)


def check_invariants(formulation: Formulation, t0: float, y: Packed) -> None:
    """Evaluate the user's functions of the motion once at the start: numbers, and finite ones."""
    system = formulation.bodies.system
    if not system.invariants:
        return
    t = on_device(t0, float)
    arguments = (t, jax.eval_shape(formulation.motion, t, y), system.params)
    check_uses([Use(function, arguments, None) for function in system.invariants.values()])
    for name, value in _users_invariants(formulation, t, y).items():
        if not np.all(np.isfinite(np.asarray(value))):
            raise InputError(f"invariant {quoted(name)} is {value} at the start; it must be finite there")


@once
def _users_invariants(formulation: Formulation, t, y: Packed):
    return formulation.users_invariants(t, y)


def check_span(t0: Any, t1: Any) -> tuple[float, float]:
    """The times as numbers, once they are a span."""
    t0, t1 = as_number(t0, "t0"), as_number(t1, "t1")
    if t1 == t0:
        raise InputError(f"t1 = {quoted(t1)} equals t0; there is nothing to do")
    if not math.isfinite(t1 - t0):
        raise InputError(f"t1 = {t1!r} is too far from t0 = {t0!r}: their difference is not a finite number")
    return t0, t1


def check_grid(t0: Any, dt: Any, steps: int) -> None:
    """Refuse a start time or a step that is none, of `steps` steps; of traced ones the shapes."""
    for name, value in (("t0", t0), ("dt", dt)):
        if not isinstance(value, Tracer):
            as_number(value, name)
        elif value.ndim:
            raise InputError(f"{name} has shape {value.shape}; it must be one number, mapped by jax.vmap")
    if concrete(t0, dt):
        t0, dt = as_number(t0, "t0"), as_number(dt, "dt")
        check_step(*check_span(t0, t0 + steps * dt if dt else math.nextafter(t0, math.inf)), dt)


def check_step(t0: float, t1: float, dt: Any) -> float:
    """The step as a number, once it leads from one time to the other in steps that the time resolves."""
    dt = as_number(dt, "dt")
    if dt == 0:
        raise InputError("dt = 0; the step must be positive, or negative for a backward run")
    if (t1 - t0) * math.copysign(1.0, dt) < 0:
        raise InputError(
            f"dt = {quoted(dt)} leads away from t1 = {t1!r} (t0 = {t0!r}); take dt = {-dt!r} or another t1"
        )
    spacing = math.ulp(max(abs(t0), abs(t1)))
    if abs(dt) < 2.0 * spacing:
        raise InputError(
            f"dt = {quoted(dt)} is too short for times from t0 = {t0!r} to t1 = {t1!r}, where numbers are "
            f"{spacing:.2g} apart; count the time from t0 = 0, or take a larger dt"
        )
    return dt


def count_steps(
    t0: float, t1: float, dt: float, last_step: Literal["refuse", "shorten"]
) -> tuple[int, float]:
    """Whole steps from `t0` to `t1`, and the fraction of a step that is left over."""
    t0, t1 = check_span(t0, t1)
    if last_step not in ("refuse", "shorten"):
        raise InputError(f"last_step = {quoted(last_step)}; it must be 'refuse' or 'shorten'")
    dt = check_step(t0, t1, dt)
    ratio = (t1 - t0) / dt
    if ratio > MOST_STEPS:
        hours = ratio / FASTEST / 3600.0
        raise InputError(
            f"t1 = {quoted(t1)} is {ratio:.3g} steps of dt = {dt!r} away: {hours:.2g} hours at best; "
            f"take a larger dt, or a t1 within {MOST_STEPS:.0e} steps"
        )
    steps = round(ratio)
    if steps >= 1 and abs(ratio - steps) <= WHOLE * max(1.0, ratio):
        return steps, 0.0
    if last_step == "shorten":
        return math.floor(ratio), ratio - math.floor(ratio)
    nearest = max(1, steps)
    raise InputError(
        f"t1 = {quoted(t1)} is {ratio:.9g} steps of dt = {quoted(dt)} from t0 = {t0!r}, not a whole number; "
        f"take t1 = {t0 + nearest * dt:.12g}, or dt = {(t1 - t0) / nearest:.12g}, or last_step='shorten'"
    )


def _shown(shapes: dict[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{label} {shape}" for label, shape in shapes.items())
