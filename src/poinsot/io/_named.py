"""Things of a scenario file that are named, with their fields: made by the registry of their kind."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from poinsot.core import InputError, Registry, check_parameters, parameters_of, quoted
from poinsot.io._body_sections import Named, RotationSection
from poinsot.io._joint_sections import JointSection
from poinsot.io._scenario_errors import first_fault
from poinsot.model import joints, potentials


def make(section: Named, known: Registry, place: str, bodies: Sequence[str] = (), **given: Any) -> Any:
    """The thing that a table names, with the fields of the table.

    Args:
        section: the table.
        known: makers by name.
        place: the table's name in the file, for error messages; empty where that is said by the caller.
        bodies: names of the bodies, which fields may refer to.
        given: fields that do not come from the table.

    Raises:
        InputError: for an unknown name or field, a missing one, or a value that makes no sense.
    """
    name = known.name_of(section.name, f"{place} name = {quoted(section.name)}".lstrip())
    return _call(known[name], section.fields, f"{place} {name}".lstrip(), bodies, given)


def make_joint(section: JointSection, place: str) -> joints.AbstractJoint:
    """The joint of a table of `[[joints]]`; its bodies are looked for when the system is built."""
    name = joints.REGISTRY.name_of(section.kind, f"{place} kind = {quoted(section.kind)}")
    return _call(joints.REGISTRY[name], section.fields, f"{place} {name}", (), {})


def make_potential(section: Named, place: str, bodies: Sequence[str]) -> Any:
    """The term that a table of `[[potentials]]` names; a pair potential between those in `bodies`, or all.

    Args:
        section: the table.
        place: its name in the file, for error messages.
        bodies: names of the bodies.
    """
    fields, known = dict(section.fields), potentials.REGISTRY
    name = known.name_of(section.name, f"{place} name = {quoted(section.name)}")
    between = {} if "bodies" in parameters_of(known[name]) else _taken(fields, "bodies")
    made = _call(known[name], fields, f"{place} {name}", bodies, {})
    if isinstance(made, (potentials.AbstractPair, potentials.AbstractPosePair)):
        return _call(potentials.Between, between, f"{place} {name}", bodies, {"pair": made})
    check_parameters(known[name], fields | between, f"{place} {name}", "key")
    return made


def _taken(fields: dict[str, Any], key: str) -> dict[str, Any]:
    """What the fields have under a key, which they have no more."""
    return {key: fields.pop(key)} if key in fields else {}


def _call(maker: Callable, values: dict, title: str, bodies: Sequence[str], given: Mapping[str, Any]) -> Any:
    """Call a maker with the values of a table, each checked against its parameters."""
    check_parameters(maker, values, title, "key", given)
    fields = {key: _field(key, value, title, bodies) for key, value in values.items()}
    try:
        return maker(**fields, **given)
    except ValueError as error:
        raise InputError(f"{title}: {error}") from None


def _field(key: str, value: Any, title: str, bodies: Sequence[str]) -> Any:
    """A value of the file as the maker takes it."""
    if key == "rotation":
        return _rotation(value, title)
    if key in ("first", "second") and isinstance(value, dict):
        return _call(potentials.Marker, {"body": None} | value, f"{title} {key}", bodies, {})
    if key == "pair" and isinstance(value, dict):
        return make(Named.model_validate({"name": ""} | value), potentials.REGISTRY, f"{title} pair")
    if key == "body" and value is not None:
        return _place_of(value, title, bodies)
    if key == "bodies" and isinstance(value, list):
        return [_place_of(body, title, bodies) for body in value]
    return value


def _rotation(value: Any, title: str) -> Any:
    try:
        return RotationSection.model_validate(value).value()
    except ValidationError as error:
        raise InputError(f"{title}: {first_fault(error, RotationSection, ('rotation',))}") from None


def _place_of(body: Any, title: str, bodies: Sequence[str]) -> int:
    """Place of a body in the list of bodies, from its name."""
    if body not in bodies:
        raise InputError(f"{title} body = {quoted(body)} is not known; the bodies are {', '.join(bodies)}")
    return bodies.index(body)
