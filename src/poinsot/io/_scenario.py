"""Scenario files: a run written down in TOML, checked before anything is computed."""

import dataclasses
import re
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from poinsot.core import AbstractProblem, InputError, State, UserFunction
from poinsot.integrators import AbstractIntegrator, FixedPoint, SimplifiedNewton, by_name
from poinsot.io._scenario_errors import explain
from poinsot.io._toml import read_toml
from poinsot.simulation import Event, Interrupted, SimulationError, Trajectory, simulate

DIRECTIONS: dict[str, Literal[-1, 0, 1]] = {"up": 1, "down": -1, "both": 0}
SOLVERS = {"fixed-point": FixedPoint, "newton": SimplifiedNewton}
OPTIONS = {
    "compensated": "compensated",
    "solver": "solver",
    "tolerance": "solver",
    "max_iterations": "solver",
}
"""Keys of `[integrator]`, and the field of an integrator that each sets."""


class Section(BaseModel):
    """A table of the file: unknown keys are errors, and no text is taken for a number."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SystemSection(Section):
    """Which system of the library, and its parameters."""

    name: str
    parameters: dict[str, Any] = Field(default_factory=dict)


class StartSection(Section):
    """The initial state, if not the system's own."""

    q: list[float] | None = None
    p: list[float] | None = None
    y: list[float] | None = None


class IntegratorSection(Section):
    """Which integrator, and how it solves its equations."""

    name: str
    compensated: bool | None = None
    solver: Literal["fixed-point", "newton"] | None = None
    tolerance: float | None = Field(default=None, ge=0.0)
    max_iterations: int | None = Field(default=None, ge=1)


class StopSection(Section):
    """Ends the run where a component of the state passes a value."""

    component: str = Field(pattern=r"^[a-z]+\[[0-9]+\]$")
    value: float = Field(default=0.0, allow_inf_nan=False)
    direction: Literal["up", "down", "both"] = "both"


class RunSection(Section):
    """From when to when, in which steps, and what is kept."""

    t1: float
    dt: float
    t0: float = 0.0
    save_every: int | None = Field(default=None, ge=1)
    save_at: list[float] | None = None
    last_step: Literal["refuse", "shorten"] = "refuse"
    stop: StopSection | None = None

    @model_validator(mode="after")
    def _one_way_to_save(self) -> "RunSection":
        if self.save_every is not None and self.save_at is not None:
            raise ValueError("has both save_every and save_at; keep one of them")
        return self


class OutputSection(Section):
    """What `poinsot run` writes, and where."""

    folder: str | None = Field(default=None, min_length=1)
    store: bool = True
    pictures: bool = True


class Scenario(Section):
    """A run written down: a system, its start, an integrator, the times, the outputs.

    ```toml
    [system]
    name = "kepler"             # `poinsot systems` lists them
    parameters = { eccentricity = 0.6 }     # the system's own defaults for those left out

    [start]                     # optional: the system's own start if left out
    q = [0.4, 0.0]              # positions and momenta of a Hamiltonian system,
    p = [0.0, 2.0]              # or y = [...] for an ordinary differential equation

    [integrator]
    name = "gauss6"             # `poinsot methods` lists them
    compensated = true          # optional: compensated summation, where the integrator offers it
    solver = "fixed-point"      # optional: or "newton", where the integrator solves stage equations
    tolerance = 0.0             # optional: error at which it stops, in units of round-off
    max_iterations = 50         # optional: after how many iterations it gives up

    [run]
    t1 = 1000.0                 # end
    dt = 0.05                   # step; negative for a backward run
    t0 = 0.0                    # optional: start
    save_every = 10             # optional: keep each tenth state; all are kept if left out
    save_at = [10.0, 20.5]      # optional, instead of save_every: keep the states at these times
    last_step = "refuse"        # optional: or "shorten", when t1 - t0 is not a whole number of steps

    [run.stop]                  # optional: end where a component passes a value, located to round-off
    component = "q[1]"
    value = 0.0                 # optional
    direction = "up"            # optional: or "down"; both if left out

    [output]                    # optional: read by `poinsot run`
    folder = "runs/kepler"      # optional: relative to where the command runs; --out goes before it
    store = true                # optional: write trajectory.zarr
    pictures = true             # optional: write pictures
    ```
    """

    system: SystemSection
    start: StartSection | None = None
    integrator: IntegratorSection
    times: RunSection = Field(alias="run")
    output: OutputSection = Field(default_factory=OutputSection)

    def run(self, progress: bool | None = None) -> Trajectory:
        """Carry it out; the trajectory keeps the scenario in its attributes.

        Args:
            progress: show a progress bar; by default on a terminal.

        Raises:
            InputError: on values that do not fit the system, before anything is computed.
            SimulationError: when a step fails; its `trajectory` holds what was computed.
            Interrupted: on Ctrl-C; likewise.
        """
        from poinsot import library

        system = library.by_name(self.system.name, **self.system.parameters)
        start = system.start if self.start is None else _start(self.start, system.start, self.system.name)
        times = self.times
        values = ", ".join(f"{key} = {value}" for key, value in self.system.parameters.items())
        record = {
            "problem": f"{system.name}{' with ' if values else ''}{values}",
            "scenario": self.model_dump(mode="json", by_alias=True, exclude_none=True),
        }
        try:
            trajectory = simulate(
                system.problem,
                start,
                t0=times.t0,
                t1=times.t1,
                dt=times.dt,
                integrator=_integrator(self.integrator),
                save_every=times.save_every or 1,
                save_at=times.save_at,
                stop=None if times.stop is None else _event(times.stop, system.problem, start),
                last_step=times.last_step,
                progress=progress,
            )
        except (SimulationError, Interrupted) as failure:
            failure.trajectory.attributes.update(record)
            raise
        trajectory.attributes.update(record)
        return trajectory


def load_scenario(path: str | Path) -> Scenario:
    """Read and check a scenario file; `Scenario` explains its keys.

    Raises:
        InputError: if it cannot be read, is not TOML, or has wrong keys or values; names the place.
    """
    text, content = read_toml(path)
    try:
        return Scenario.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{path}{explain(error, Scenario, text)}") from None


def _start(given: StartSection, default: State, system: str) -> State:
    """The given state, of the labels and sizes of the system."""
    values = {label: value for label, value in given if value is not None}
    if set(values) != set(default.names):
        wanted = " and ".join(default.names)
        raise InputError(f"[start] has {', '.join(values) or 'nothing'}; {system} needs {wanted}")
    for label, value in values.items():
        size = default[label].size
        if len(value) != size:
            raise InputError(f"[start] {label} = {value}: {len(value)} numbers; {system} has {size}")
    return State(**values)


def _integrator(section: IntegratorSection) -> AbstractIntegrator:
    """The named integrator with the options of the file."""
    integrator = by_name(section.name)
    fields = {field.name: getattr(integrator, field.name) for field in dataclasses.fields(integrator)}
    options = {key: value for key, value in section if key != "name" and value is not None}
    for key, value in options.items():
        if OPTIONS[key] not in fields:
            offered = [option for option, field in OPTIONS.items() if field in fields]
            remedy = f"it may have {', '.join(offered)}" if offered else "it has no options"
            raise InputError(f"[integrator] {key} = {value!r} does not apply to {section.name}; {remedy}")
    changes: dict[str, Any] = {"compensated": options["compensated"]} if "compensated" in options else {}
    limits = {key: options[key] for key in ("tolerance", "max_iterations") if key in options}
    if "solver" in options or limits:
        solver = SOLVERS[options["solver"]] if "solver" in options else type(fields["solver"])
        changes["solver"] = solver(**limits)
    try:
        return dataclasses.replace(integrator, **changes) if changes else integrator
    except ValueError as error:
        raise InputError(f"[integrator] {error}") from None


def _event(section: StopSection, problem: AbstractProblem, start: State) -> Event:
    """The zero of `component - value`."""
    label, index = re.split(r"[\[\]]", section.component)[:2]
    if label not in start.names or int(index) >= start[label].size:
        known = [f"{name}[{i}]" for name, value in start.items() for i in range(value.size)]
        raise InputError(f"[run.stop] component = {section.component!r}; this system has {', '.join(known)}")
    place, row, value = problem.labels.index(label), int(index), section.value
    difference = UserFunction(lambda *state: state[place][row] - value, False, False)
    return Event(difference, DIRECTIONS[section.direction])
