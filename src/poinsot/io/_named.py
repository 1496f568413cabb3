"""What a scenario file can name and give fields to: solids, freedoms, potentials, loads, ends, and so on."""

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from poinsot.coordinates import Directors, EulerAngles, Group, Quaternions
from poinsot.core import InputError, did_you_mean
from poinsot.io._body_sections import Named, RotationSection
from poinsot.io._scenario_errors import first_fault
from poinsot.model import RigidBody, ends, freedom, loads, potentials, shapes

SHAPES = {
    "box": shapes.box,
    "ellipsoid": shapes.ellipsoid,
    "sphere": shapes.sphere,
    "cylinder": shapes.cylinder,
    "cone": shapes.cone,
    "disc": shapes.disc,
}
FREEDOMS = {
    "free": freedom.Free,
    "fixed-point": freedom.FixedPoint,
    "translation": freedom.Translation,
    "clamped": freedom.Clamped,
}
POTENTIALS = {
    "uniform-gravity": potentials.UniformGravity,
    "heavy-top": potentials.HeavyTop,
    "gravity-gradient": potentials.GravityGradient,
    "constant-force": potentials.ConstantForce,
    "spring": potentials.Spring,
    "linear-bushing": potentials.LinearBushing,
    "torsional-bushing": potentials.TorsionalBushing,
}
PARTICLE_BODIES = {
    "tetrahedron": shapes.tetrahedron,
    "two-rim-disc": shapes.two_rim_disc,
    "particles": RigidBody.from_particles,
}
NEIGHBOUR_POTENTIALS = {
    "lennard-jones": potentials.LennardJones,
    "morse": potentials.Morse,
    "coulomb": potentials.Coulomb,
    "screened-coulomb": potentials.ScreenedCoulomb,
    "harmonic-pair": potentials.HarmonicPair,
    "cutoff": potentials.Cutoff,
    "gay-berne": potentials.GayBerne,
}
ENDS = {"free": ends.free, "clamped": ends.clamped, "force": ends.force, "displaced": ends.displaced}
LOADS = {
    "linear-damping": loads.LinearDamping,
    "force": loads.Force,
    "thrust": loads.thrust,
    "torque": loads.Torque,
}
COORDINATES = {
    "directors": Directors,
    "quaternions": Quaternions,
    "euler-angles": EulerAngles,
    "group": Group,
}


def make(
    section: Named, known: Mapping[str, Callable], place: str, bodies: Sequence[str] = (), **given: Any
) -> Any:
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
    name = section.name.replace("_", "-")
    if name not in known:
        raise InputError(f"{place} name = {section.name!r} is not known; {_nearest(name, known)}".lstrip())
    return _call(known[name], section.fields, f"{place} {name}".lstrip(), bodies, given)


def make_potential(section: Named, place: str, bodies: Sequence[str]) -> Any:
    """The term that a table of `[[potentials]]` names; a pair potential between those in `bodies`, or all.

    Args:
        section: the table.
        place: its name in the file, for error messages.
        bodies: names of the bodies.
    """
    name = section.name.replace("_", "-")
    if name not in NEIGHBOUR_POTENTIALS:
        return make(section, POTENTIALS | NEIGHBOUR_POTENTIALS, place, bodies)
    fields = {key: value for key, value in section.fields.items() if key != "bodies"}
    pair = make(Named.model_validate({"name": name} | fields), NEIGHBOUR_POTENTIALS, place)
    between = section.fields.get("bodies")
    return _call(
        potentials.Between,
        {} if between is None else {"bodies": between},
        f"{place} {name}",
        bodies,
        {"pair": pair},
    )


def _call(maker: Callable, values: dict, title: str, bodies: Sequence[str], given: Mapping[str, Any]) -> Any:
    """Call a maker with the values of a table, each checked against its parameters."""
    parameters = {key: one for key, one in inspect.signature(maker).parameters.items() if key not in given}
    for key in values:
        if key not in parameters:
            raise InputError(f"{title} has no key {key!r}; {_nearest(key, parameters)}")
    missing = [key for key, one in parameters.items() if one.default is one.empty and key not in values]
    if missing:
        raise InputError(f"{title} needs {' and '.join(missing)}")
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
        return make(Named.model_validate({"name": ""} | value), NEIGHBOUR_POTENTIALS, f"{title} pair")
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
        raise InputError(f"{title} body = {body!r} is not known; the bodies are {', '.join(bodies)}")
    return bodies.index(body)


def _nearest(name: str, known: Collection[str]) -> str:
    """A likely meaning, and all that there are."""
    hint = did_you_mean(name, known, "")
    return f"{hint} there is {', '.join(known)}".lstrip() if known else "it has none"
