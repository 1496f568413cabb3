"""`poinsot systems`: the library of ready-made systems."""

from typing import Any

from poinsot import library
from poinsot.cli._tables import show_json, show_table
from poinsot.core import Hamiltonian


def show_systems(as_json: bool) -> None:
    """Print every system with its parameters and their defaults."""
    systems = [describe(name) for name in library.names()]
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
                system["dt"],
            )
            for system in systems
        ),
        flexible="parameters and defaults",
    )


def describe(name: str) -> dict[str, Any]:
    """What a scenario needs to know of a system."""
    system = library.by_name(name)
    problem = system.problem
    separable = isinstance(problem, Hamiltonian) and problem.separable
    return {
        "name": name,
        "kind": "separable" if separable else problem.kind,
        "state": {label: value.size for label, value in system.start.items()},
        "parameters": library.parameters(name),
        "dt": system.dt,
    }


def _shown(value: object) -> str:
    if value is None:
        return "computed"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
