"""`poinsot systems`: the library of ready-made systems."""

from typing import Any

from poinsot import library
from poinsot.cli._tables import show_json, show_table
from poinsot.core import REQUIRED, Hamiltonian, State
from poinsot.model import AbstractSystem


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
    """What a scenario needs to know of a system."""
    parameters = library.parameters(name)
    entry = {"name": name, "kind": "bodies", "state": {"body": 1}, "parameters": parameters, "dt": None}
    if REQUIRED in parameters.values():
        # It cannot be built without data, and is one body: only these come without.
        return entry
    built = library.by_name(name)
    entry["dt"] = getattr(built, "dt", None)
    if isinstance(built, AbstractSystem):
        return entry | {"state": {"body": built.count}}
    separable = isinstance(built, Hamiltonian) and built.separable
    start = getattr(built, "start", State())
    state = {label: value.size for label, value in start.items()}
    return entry | {"kind": "separable" if separable else built.kind, "state": state}


def _shown(value: object) -> str:
    if value is None:
        return "optional"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
