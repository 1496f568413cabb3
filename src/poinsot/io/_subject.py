"""What a scenario runs, and how the start and the stop of a system of equations are read."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from poinsot.core import AbstractProblem, InputError, State, UserFunction
from poinsot.io._body_sections import StartSection
from poinsot.io._sections import StopSection
from poinsot.model import AbstractSystem
from poinsot.simulation import Event

DIRECTIONS: dict[str, Literal[-1, 0, 1]] = {"up": 1, "down": -1, "both": 0}


@dataclass(frozen=True)
class Subject:
    """What `simulate` is given of a scenario."""

    problem: AbstractProblem | AbstractSystem
    start: State
    event: Callable[[StopSection], Event]
    """The stop condition of `[run.stop]`."""
    record: dict[str, str]
    """What the trajectory is to say about itself."""
    choices: dict[str, Any] = field(default_factory=dict)
    """Coordinates and form, for bodies."""


def equations_subject(problem: AbstractProblem, start: StartSection | None, title: str) -> Subject:
    """A system of the library that is given by its equations."""
    own = problem.start
    state = own if start is None else _labelled_start(start, own, problem.name)

    def event(stop: StopSection) -> Event:
        label, indices = stop.place
        known = [f"{name}[{i}]" for name, value in own.items() for i in range(value.size)]
        if f"{label}[{','.join(map(str, indices))}]" not in known:
            raise InputError(f"[run.stop] component = {stop.component!r}; this system has {', '.join(known)}")
        place = problem.labels.index(label)
        difference = UserFunction(lambda *state: state[place][indices] - stop.value, False, False)
        return Event(difference, DIRECTIONS[stop.direction])

    return Subject(problem, state, event, {"problem": title})


def _labelled_start(given: StartSection, default: State, system: str) -> State:
    """The given state, of the labels and sizes of the system."""
    values: dict[str, Any] = {label: value for label, value in given if value is not None}
    if set(values) != set(default.names):
        wanted = " and ".join(default.names)
        raise InputError(f"[start] has {', '.join(values) or 'nothing'}; {system} needs {wanted}")
    for label, value in values.items():
        size = default[label].size
        if len(value) != size:
            raise InputError(f"[start] {label} = {value}: {len(value)} numbers; {system} has {size}")
    return State(**values)
