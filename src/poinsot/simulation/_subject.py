"""What is run: a problem with its state, or a system of bodies in coordinates and a form."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from poinsot.control import holding
from poinsot.coordinates import AbstractOrientation, Group, Joint, Quaternions, as_coordinates
from poinsot.core import (
    AbstractProblem,
    InputError,
    Packed,
    State,
    UserFunction,
    quoted,
    user_function,
)
from poinsot.equations import FORMS, Formulation, formulate, preferences, refusal
from poinsot.kernels import once
from poinsot.model import AbstractSystem, JointLimits
from poinsot.simulation._body_trajectory import BodyTrajectory
from poinsot.simulation._culprits import culprits, fault_at, faulty_controller
from poinsot.simulation._event import Event
from poinsot.simulation._trajectory import Method, Record, Trajectory
from poinsot.simulation._validate import (
    InfiniteStart,
    check_integrator,
    check_invariants,
    check_problem,
    check_state,
)


@dataclass(frozen=True)
class ProblemSubject:
    """A problem and a state in its own labels."""

    problem: AbstractProblem
    start: State
    loaded: ClassVar[None] = None
    formulation: ClassVar[None] = None

    def checked(self, t0: float) -> Packed:
        """The packed start, once it is right."""
        return check_state(self.problem, self.start, t0)

    def observed(self, function: Callable) -> UserFunction:
        """A user's function of the state."""
        return user_function(function, self.problem.labels, "the monitor")

    def event(self, stop: Event | Callable, t0: float, y: Packed) -> Event:
        """A stop condition of the problem's state."""
        return (stop if isinstance(stop, Event) else Event(stop)).bound(self.problem)

    def trajectory(self, integrator: Method, record: Record) -> Trajectory:
        """The run with its labels."""
        return Trajectory.of(self.problem, integrator, record)


@dataclass(frozen=True)
class BodiesSubject:
    """A system of bodies in a formulation, and a physical state of it."""

    formulation: Formulation
    state: State
    start: State

    @property
    def problem(self) -> AbstractProblem:
        """What the integrator sees."""
        return self.formulation.problem

    @property
    def loaded(self) -> Formulation | None:
        """The bodies, if loads or time do work on them."""
        system = self.formulation.bodies.system
        return None if system.autonomous and system.conservative else self.formulation

    def checked(self, t0: float) -> Packed:
        """The packed start, once it is right; where bodies cannot start, the system says which."""
        try:
            y = check_state(self.problem, self.start, t0)
        except InfiniteStart:
            fault = fault_at(self.formulation, t0, jnp.asarray(self.problem.pack(self.start)))
            if fault is not None:
                raise InputError(f"{fault} at the start; start elsewhere, or mend its law") from None
            self.formulation.bodies.system.check_start(t0, self.state)
            raise
        check_invariants(self.formulation, t0, y)
        return y

    def observed(self, function: Callable) -> UserFunction:
        """A user's function of the motion of the bodies, as one of the problem's state."""
        return self._observed(function, "the monitor")

    def _observed(self, function: Callable, field: str) -> UserFunction:
        if not callable(function):
            raise InputError(f"{field} = {quoted(function)}; it must be a function of the motion")
        if not isinstance(function, JointLimits):
            function = UserFunction(function, False, False, field, users=True)
        return UserFunction(_Observed(self.formulation, function), True, True, field)

    def event(self, stop: Event | Callable, t0: float, y: Packed) -> Event:
        """A stop condition of the motion of the bodies, which must not be beyond limits of joints yet."""
        event = stop if isinstance(stop, Event) else Event(stop)
        if isinstance(event.function, JointLimits) and event.direction != 1:
            beyond = _beyond(self.formulation, event.function, t0, y)
            event = Event(event.function.from_start(beyond), -1)
        return Event(self._observed(event.function, "the event"), event.direction)

    def trajectory(self, integrator: Method, record: Record) -> BodyTrajectory:
        """The run with everything that can be seen of the bodies, and where it has failed."""
        formulation = self.formulation
        if record.samples is not None:
            # What is seen of a state later needs the forces that were held then.
            formulation = holding(formulation, jnp.asarray(record.samples), record.t0)
        run = BodyTrajectory.of_bodies(formulation, self.state, integrator, record)
        fault = faulty_controller(formulation, record)
        if fault is not None:
            run.attributes["fault"] = fault
            return run
        failed_at = culprits(formulation, integrator, record) or run.dead_point
        if failed_at is not None:
            run.attributes["failed_at"] = failed_at
        return run


@once
def _beyond(formulation: Formulation, limits: JointLimits, t, y: Packed) -> Array:
    problem = formulation.problem
    state = problem.unpack(y)
    counted = formulation.counted(t, [state[label] for label in problem.labels])
    return limits.beyond(formulation.motion(t, y), counted)


class _Observed(eqx.Module):
    """A user's function of the motion, as a function of the problem's state."""

    formulation: Formulation
    function: UserFunction | JointLimits

    def __call__(self, t, *state_and_params) -> Array:
        *state, _ = state_and_params
        motion = self.formulation.seen(t, state)
        if isinstance(self.function, JointLimits):
            return self.function(motion, self.formulation.counted(t, state))
        return self.function(t, motion, None)


def subject_of(
    problem: AbstractProblem | AbstractSystem,
    integrator: Method,
    state: State,
    coordinates: AbstractOrientation | str | None,
    form: str | None,
    t0,
) -> ProblemSubject | BodiesSubject:
    """Check that everything goes together, and choose what was left open."""
    if isinstance(problem, AbstractSystem):
        formulation = choose(problem, integrator, coordinates, form)
        problem.check_state(t0, state)
        return BodiesSubject(formulation, state, _started(formulation, state, t0))
    check_problem(problem)
    for name, value in (("coordinates", coordinates), ("form", form)):
        if value is not None:
            raise InputError(f"{name} = {quoted(value)}: only a pt.System has a choice of {name}")
    check_integrator(problem, integrator)
    return ProblemSubject(problem, state)


@once
def _started(formulation: Formulation, state: State, t0) -> State:
    return formulation.start(state, t0)


def choose(
    system: AbstractSystem,
    integrator: Method,
    coordinates: AbstractOrientation | str | None,
    form: str | None,
) -> Formulation:
    """The first coordinates and form, of those left open, that fit system and integrator.

    Raises:
        InputError: when none does; it says why not.
    """
    missing: dict[str, list[str]] = {}
    unfit: dict[str, list[str]] = {}
    form = None if form is None else FORMS.name_of(form)
    usual = (Joint(),) if system.light else (Quaternions(), Group())
    for candidate in usual if coordinates is None else (as_coordinates(coordinates),):
        for name in preferences(candidate, system.linkage is not None) if form is None else (form,):
            where = f"{type(candidate).__name__}, {name!r}"
            reason = refusal(system, candidate, name)
            if reason is not None:
                missing.setdefault(reason, []).append(where)
                continue
            formulation = formulate(system, candidate, name)
            if form is not None and coordinates is not None:
                check_integrator(formulation.problem, integrator)
            reason = integrator.refusal(formulation.problem)
            if reason is None:
                return formulation
            unfit.setdefault(f"integrator {integrator.name} {reason}", []).append(where)
    # What other forms there are not does not matter, unless it was that form that was asked for.
    told = unfit if unfit and form is None else missing | unfit
    if len(told) == 1:
        raise InputError(next(iter(told)))
    subject = f"integrator {integrator.name} "
    listed = [f"{'; '.join(where)}: {reason.removeprefix(subject)}" for reason, where in told.items()]
    raise InputError("\n  ".join([f"{subject}fits none of the forms tried:", *listed]))
