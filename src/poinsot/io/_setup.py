"""What a scenario says, built: the arguments of `simulate`."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from poinsot import library
from poinsot.control import Sampled
from poinsot.coordinates import REGISTRY as COORDINATES
from poinsot.core import AbstractProblem, InputError, State
from poinsot.equations import FORMS
from poinsot.integrators import AbstractAdaptive, AbstractIntegrator
from poinsot.io._named import make
from poinsot.io._scenario_bodies import (
    acting,
    file_bodies,
    library_start,
    motion_stop,
    robot_of,
    robot_start,
)
from poinsot.io._scenario_chains import chain_parameters, is_chain
from poinsot.io._scenario_control import control_of
from poinsot.io._scenario_equations import component_stop, labelled_start
from poinsot.io._scenario_errors import located
from poinsot.io._scenario_integrator import integrator_of
from poinsot.io._toml import inline
from poinsot.model import AbstractSystem
from poinsot.model.loads import AbstractControl
from poinsot.simulation import Event

if TYPE_CHECKING:
    from poinsot.io._scenario import Scenario


Method = AbstractIntegrator | AbstractAdaptive


@dataclass(frozen=True)
class Setup:
    """What `simulate` is given of a scenario."""

    system: AbstractProblem | AbstractSystem
    start: State
    integrator: Method
    stop: Event | None
    record: dict[str, str]
    """What the trajectory is to say about itself."""
    choices: dict[str, Any] = field(default_factory=dict)
    """Coordinates and form, for bodies."""
    control: AbstractControl | Sampled | None = None


def setup_of(scenario: "Scenario") -> Setup:
    """Build everything that a scenario names, once.

    Raises:
        Fault: where something cannot be built; it says where in the file.
    """
    with located("integrator"):
        integrator = integrator_of(scenario.integrator)
    if scenario.robot is not None:
        with located("robot"):
            system = robot_of(scenario.robot)
        title = scenario.title or system.name
        with located("start"):
            start = robot_start(system, scenario.start)
    elif scenario.system is None:
        system, start = file_bodies(scenario)
        title = system.name
    else:
        name = scenario.system.name
        title = scenario.title or _title(name, scenario.system.parameters)
        system = _from_library(name, scenario.system.parameters)
        if isinstance(system, AbstractProblem):
            return _of_equations(scenario, system, integrator, name, title)
        with located("start"):
            start = library_start(system, name, scenario.start)
    system = acting(system, scenario.potentials or [], scenario.loads or [])
    stop = None if scenario.times.stop is None else motion_stop(scenario.times.stop)
    with located("control"):
        control = None if scenario.control is None else control_of(scenario.control, system, start)
    return Setup(system, start, integrator, stop, {"system": title}, _choices(scenario), control)


def _of_equations(
    scenario: "Scenario", problem: AbstractProblem, integrator: Method, name: str, title: str
) -> Setup:
    """A system of the library that is given by its equations."""
    for section in ("potentials", "loads", "coordinates", "equations", "control"):
        if getattr(scenario, section) is not None:
            with located(section):
                raise InputError(f"is for rigid bodies; {name} is given by its equations")
    with located("start"):
        start = labelled_start(problem, name, scenario.start)
    with located("run", "stop"):
        stop = None if scenario.times.stop is None else component_stop(problem, scenario.times.stop)
    return Setup(problem, start, integrator, stop, {"problem": title})


def _from_library(name: str, parameters: dict[str, Any]) -> AbstractProblem | AbstractSystem:
    with located("system"):
        library.parameters(name)
    made = chain_parameters(parameters) if is_chain(name) else parameters
    with located("system", "parameters"):
        return library.by_name(name, **made)


def _choices(scenario: "Scenario") -> dict[str, Any]:
    """Coordinates and form of the file; None where it leaves them open."""
    coordinates = form = None
    if scenario.coordinates is not None:
        with located("coordinates"):
            coordinates = make(scenario.coordinates, COORDINATES, "[coordinates]")
    if scenario.equations is not None:
        with located("equations"):
            form = FORMS.name_of(scenario.equations.form)
    return {"coordinates": coordinates, "form": form}


def _title(name: str, parameters: dict[str, Any]) -> str:
    """The system as reports name it."""
    values = ", ".join(f"{key} = {inline(value)}" for key, value in parameters.items())
    return f"{name.replace('_', '-')}{' with ' if values else ''}{values}"
