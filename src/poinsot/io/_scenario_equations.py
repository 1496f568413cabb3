"""Problems of a scenario: where they start, and which component stops them."""

from typing import Any

from poinsot.core import AbstractProblem, InputError, State, UserFunction
from poinsot.io._body_sections import StartSection
from poinsot.io._sections import StopSection
from poinsot.simulation import Event


def labelled_start(problem: AbstractProblem, name: str, given: StartSection | None) -> State:
    """The given state, of the labels and sizes of the problem's own; that one if none is given."""
    if not hasattr(problem, "start"):
        raise InputError(f"{name} has no start of its own, which says its size; recommend one")
    default = problem.start
    if given is None:
        return default
    values: dict[str, Any] = {label: value for label, value in given if value is not None}
    if set(values) != set(default.names):
        wanted = " and ".join(default.names)
        raise InputError(f"[start] has {', '.join(values) or 'nothing'}; {name} needs {wanted}")
    for label, value in values.items():
        size = default[label].size
        if len(value) != size:
            raise InputError(f"[start] {label} = {value}: {len(value)} numbers; {name} has {size}")
    return State(**values)


def component_stop(problem: AbstractProblem, stop: StopSection) -> Event:
    """The zero of `component - value` of the state."""
    label, indices = stop.place
    known = [f"{name}[{i}]" for name, value in problem.start.items() for i in range(value.size)]
    if f"{label}[{','.join(map(str, indices))}]" not in known:
        raise InputError(f"[run.stop] component = {stop.component!r}; this system has {', '.join(known)}")
    place = problem.labels.index(label)
    difference = UserFunction(lambda *state: state[place][indices] - stop.value, False, False)
    return Event(difference, stop.sign)
