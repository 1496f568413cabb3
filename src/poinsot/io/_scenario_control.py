"""The controller of a scenario, with what it follows."""

from collections.abc import Callable
from typing import Any

from poinsot.control import LQR, ComputedTorque, PDGravity, Sampled, quintic, trapezoidal
from poinsot.core import InputError, Registry, State, check_parameters, quoted
from poinsot.io._body_sections import Named
from poinsot.model import AbstractSystem, OpenChain, System
from poinsot.model.loads import AbstractControl

CONTROLLERS: Registry[Callable[..., AbstractControl]] = Registry(
    "controller", {"computed-torque": ComputedTorque, "pd-gravity": PDGravity, "lqr": LQR}
)
PATHS: Registry[Callable[..., Any]] = Registry("reference", {"quintic": quintic, "trapezoidal": trapezoidal})
BETWEEN = {"q0": "from", "q1": "to"}
"""Ends of a path, and what the file calls them."""


def control_of(section: Named, system: AbstractSystem, start: State) -> AbstractControl | Sampled:
    """The controller of the table `[control]`.

    Raises:
        InputError: for an unknown name or key, a missing one, or a value that makes no sense.
    """
    if not isinstance(system, System) or system.linkage is None:
        raise InputError(f"is for joints; {system.name} has none")
    name = CONTROLLERS.name_of(section.name, f"name = {quoted(section.name)}")
    fields, chain = dict(section.fields), OpenChain(system)
    period = fields.pop("period", None)
    check_parameters(CONTROLLERS[name], fields, name, "key", given=("chain",))
    if "reference" in fields:
        fields["reference"] = _reference(fields["reference"], chain, start)
    if "target" in fields:
        fields["target"] = _coordinates(fields["target"], chain, "target")
    controller = CONTROLLERS[name](chain=chain, **fields)
    return controller if period is None else Sampled(controller, period)


def _reference(given: Any, chain: OpenChain, start: State) -> Any:
    """Coordinates to hold, or a path between two configurations.

    The path begins where the run starts, unless the table says otherwise.
    """
    if not isinstance(given, dict) or "name" not in given:
        return _coordinates(given, chain, "reference")
    name = PATHS.name_of(given["name"], f"reference name = {quoted(given['name'])}")
    fields = {key: value for key, value in given.items() if key not in ("name", "from")}
    title = f"reference {name}"
    ends = {file: own for own, file in BETWEEN.items()}
    for own in set(fields) & (set(BETWEEN) | {"chain"}):
        raise InputError(f"{title} has no key {quoted(own)}; its ends are {' and '.join(ends)}")
    if "to" not in fields:
        raise InputError(f"{title} needs to; coordinates by name of joint, to = {{ ... }}")
    fields["q1"] = _coordinates(fields.pop("to"), chain, f"to of {title}")
    first, field = given.get("from"), f"from of {title}"
    fields["q0"] = chain.of_state(start)[0] if first is None else _coordinates(first, chain, field)
    check_parameters(PATHS[name], fields, title, "key", given=("q0", "q1", "chain"))
    return PATHS[name](**fields, chain=chain)


def _coordinates(given: Any, chain: OpenChain, field: str) -> Any:
    """Joint coordinates from a table by name; joints that are left out are at zero."""
    if not isinstance(given, dict):
        raise InputError(f"{field} = {quoted(given)}; it must be a table of joints, {{ elbow = 0.5 }}")
    try:
        return chain.coordinates(given)
    except InputError as error:
        raise InputError(f"{field}: {error}") from None
