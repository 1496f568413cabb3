"""Error against cost: methods, and formulations of the equations, side by side."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from poinsot.analysis._work_points import WorkPrecision
from poinsot.analysis._work_reference import yardstick
from poinsot.analysis._work_runs import Choice, Contest, Method
from poinsot.coordinates import (
    AbstractOrientation,
    Directors,
    EulerAngles,
    Group,
    Quaternions,
    as_coordinates,
)
from poinsot.core import AbstractProblem, InputError, State, checked, quoted
from poinsot.equations import FORMS
from poinsot.integrators import AbstractAdaptive, as_integrator
from poinsot.model import AbstractSystem
from poinsot.simulation._progress import Progress

Item = TypeVar("Item")

TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
"""Ladder of adaptive solvers, relative and absolute."""
COORDINATES = (Quaternions(), Directors(), EulerAngles("zxz"), Group())
"""Coordinates in which bodies are compared when none are named."""


class InterruptedComparison(KeyboardInterrupt):
    """A comparison that was interrupted. What was measured is in `work_precision`."""

    def __init__(self, measured: WorkPrecision):
        super().__init__(f"interrupted after {len(measured.points)} points")
        self.work_precision = measured


@checked
def work_precision(
    problem: AbstractProblem | AbstractSystem,
    state: State,
    t1: float,
    methods: Mapping[str, Method | str] | Sequence[Method | str],
    *,
    formulations: Mapping[str, Choice] | Sequence[Choice] | None = None,
    tolerances: Sequence[float] = TOLERANCES,
    steps: Sequence[int] | Mapping[str, Sequence[int]] | None = None,
    t0: float = 0.0,
    reference: State | str | None = None,
    repeats: int = 3,
    patience: float | None = None,
    progress: bool | None = False,
) -> WorkPrecision:
    r"""Measure what an error costs each method, in each formulation, on the machine at hand.

    The error at `t1` of a plain problem is the largest of any component. Of bodies it is

    $$ e = \Big( \sum_b \|R_b - R_b^*\|_F^2 + |\Omega_b - \Omega_b^*|^2 \Big)^{1/2} $$

    whatever the coordinates; bodies that move from their place add the errors of position and velocity. Wall
    time is the least of some runs, compilation apart.

    Args:
        problem: what is solved: a problem, or a `pt.System` of bodies.
        state: start.
        t1: end time.
        methods: integrators and adaptive solvers, or their short names; as a list, or by titles.
        formulations: of a system: coordinates and form, by name or as a list of pairs; by default all
            coordinates with all forms.
        tolerances: ladder of the adaptive solvers, from coarse to fine; each is `rtol` and `atol`.
        steps: ladder of methods with fixed steps: numbers of steps from `t0` to `t1`, for all of them or for
            each by name.
        t0: start time.
        reference: the state at `t1`; or `"taylor"`, by Taylor series in quadruple precision; or `"gauss"`, by
            Gauss of order 16 with steps halved until nothing changes. By default `"taylor"` for a system and
            `"gauss"` else. Where heyoka is missing or cannot take the problem, Gauss stands in, with a
            warning.
        repeats: runs of which the fastest counts; none is repeated once they took two seconds together.
        patience: seconds that a run may be expected to take; a ladder ends before a longer one.
        progress: show a progress bar; None shows it on a terminal.

    Returns:
        The points of all runs. What refuses to go together, or was cut by `patience`, stands in `refused`
        with its reason; a run that fails is a point of infinite error.

    Raises:
        InputError: on wrong input, before anything is run.
        InterruptedComparison: on Ctrl-C; what was measured is in its `work_precision`.

    Example:
        >>> import poinsot as pt
        >>> top, solver = pt.library.gyro_top(), pt.integrators.DormandPrince8()
        >>> forms = [(pt.coordinates.Quaternions(), "null_space"), (pt.coordinates.Quaternions(), "index0")]
        >>> wp = pt.analysis.work_precision(top, top.start, 10.0, [solver], formulations=forms)
    """
    named = _named(methods, "methods", _method_name)
    chosen = {name: as_integrator(method) for name, method in named.items()}
    if repeats < 1:
        raise InputError(f"repeats = {quoted(repeats)}; it must be at least 1")
    ladders = {name: _ladder(name, method, tolerances, steps) for name, method in chosen.items()}
    places = _places(problem, formulations)
    span = (t0, t1)
    contest = Contest(problem, state, span, yardstick(problem, state, span, reference), repeats, patience)
    turns = list(itertools.product(places, chosen))
    with Progress(progress, len(turns), "methods and formulations") as bar:
        try:
            for turn, (place, name) in enumerate(turns, start=1):
                contest.enter(name, place, chosen[name], places[place], ladders[name])
                bar.update(turn, sum(point.steps for point in contest.points))
        except KeyboardInterrupt:
            raise InterruptedComparison(contest.result) from None
    return contest.result


def _method_name(method: Method | str) -> str:
    """A short name: that it is given by, of an adaptive solver its class, of others what it is called."""
    if isinstance(method, str):
        return method
    method = as_integrator(method)
    return type(method).__name__ if isinstance(method, AbstractAdaptive) else method.name


def _ladder(
    name: str,
    method: Method,
    tolerances: Sequence[float],
    steps: Sequence[int] | Mapping[str, Sequence[int]] | None,
) -> Sequence[float]:
    """Accuracies of one method: tolerances, or numbers of steps."""
    if isinstance(method, AbstractAdaptive) and method.control == "tolerance":
        return tolerances
    own = steps.get(name) if isinstance(steps, Mapping) else steps
    if not own:
        raise InputError(f"steps: {name} does not choose its steps; give numbers of them, such as [100, 200]")
    return own


def _places(
    problem: AbstractProblem | AbstractSystem, formulations: Mapping[str, Choice] | Sequence[Choice] | None
) -> dict[str, Choice]:
    """Coordinates and form by name; nothing of both for a problem that has no choice."""
    if not isinstance(problem, AbstractSystem):
        if formulations is not None:
            raise InputError("formulations: only a pt.System has a choice of coordinates and form")
        return {"": (None, None)}
    if formulations is None:
        formulations = [(coordinates, form) for form in reversed(tuple(FORMS)) for coordinates in COORDINATES]
    named = _named(formulations, "formulations", _choice_name)
    return {name: (_as_coordinates(one[0]), one[1]) for name, one in named.items()}


def _choice_name(choice: Choice) -> str:
    return f"{type(_as_coordinates(choice[0])).__name__} {choice[1]}"


def _as_coordinates(coordinates: AbstractOrientation | str | None) -> AbstractOrientation | None:
    return None if coordinates is None else as_coordinates(coordinates)


def _named(
    items: Mapping[str, Item] | Sequence[Item], field: str, short: Callable[[Any], str]
) -> dict[str, Item]:
    """Things by name: their own, or a short one that is numbered where it comes again."""
    if not items:
        raise InputError(f"{field} is empty; give some, by name or as a list")
    if isinstance(items, Mapping):
        return dict(items)
    named: dict[str, Item] = {}
    for item in items:
        name, number = short(item), 2
        while name in named:
            name, number = f"{short(item)} ({number})", number + 1
        named[name] = item
    return named
