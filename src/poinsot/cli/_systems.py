"""`poinsot systems`: the library of ready-made systems."""

from typing import Any

from poinsot import library
from poinsot.cli._tables import show_json, show_table
from poinsot.core import Hamiltonian


def show_systems(as_json: bool) -> None:
    """Print every system with its parameters and their defaults."""
    systems = [
        *map(describe, library.names()),
        *map(describe_body, library.body_names()),
        *map(describe_model, library.model_names()),
    ]
    if as_json:
        show_json(systems)
        return
    show_table(
        ("name", "kind", "state", "parameters and defaults", ">dt"),
        (
            (
                system["name"],
                system["kind"],
                ", ".join(f"{label}[{size}]" for label, size in system["state"].items()),
                ", ".join(f"{key} = {_shown(value)}" for key, value in system["parameters"].items()),
                system["dt"] or "",
            )
            for system in systems
        ),
        flexible="parameters and defaults",
    )
    print(
        "A body starts with position, rotation, velocity and angular_velocity, a chain straight with\n"
        "velocity_scale and seed, or with a row of these for each body. Bodies of your own are written into\n"
        "the scenario."
    )


def describe(name: str) -> dict[str, Any]:
    """What a scenario needs to know of a system given by its equations."""
    system = library.by_name(name)
    problem = system.problem
    separable = isinstance(problem, Hamiltonian) and problem.separable
    state = {label: value.size for label, value in system.start.items()}
    return _entry(name, "separable" if separable else problem.kind, state, system.dt)


def describe_body(name: str) -> dict[str, Any]:
    """What a scenario needs to know of an example of rigid bodies."""
    example = library.body_by_name(name)
    return _entry(name, "bodies", {"body": example.system.count}, example.dt)


def describe_model(name: str) -> dict[str, Any]:
    """What a scenario needs to know of bodies whose data are to be given."""
    return _entry(name, "bodies", {"body": library.parameters(name).get("count", 1)}, None)


def _entry(name: str, kind: str, state: dict[str, int], dt: float | None) -> dict[str, Any]:
    parameters = library.parameters(name)
    return {"name": name, "kind": kind, "state": state, "parameters": parameters, "dt": dt}


def _shown(value: object) -> str:
    if value is None:
        return "optional"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
