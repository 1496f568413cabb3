"""Rigid bodies of a scenario: of the library or of the file, with what acts on them and where they start."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from poinsot.core import InputError, State
from poinsot.equations import Motion
from poinsot.io._body_sections import BodySection, BodyStart, EquationsSection, Named, StartSection
from poinsot.io._named import COORDINATES, FREEDOMS, LOADS, PARTICLE_BODIES, SHAPES, make, make_potential
from poinsot.io._scenario_chains import chain_start
from poinsot.io._sections import StopSection
from poinsot.io._subject import DIRECTIONS, Subject
from poinsot.model import AbstractSystem, Chain, RigidBody, System
from poinsot.simulation import Event

_FREE = Named(name="free")


def bodies_subject(
    system: AbstractSystem,
    start: State,
    potentials: list[Named],
    loads: list[Named],
    coordinates: Named | None,
    equations: EquationsSection | None,
    title: str,
) -> Subject:
    """Bodies with the potentials and loads of the file added, in its coordinates and form."""
    choices = {
        "coordinates": None if coordinates is None else make(coordinates, COORDINATES, "[coordinates]"),
        "form": None if equations is None else equations.form,
    }
    return Subject(_acting(system, potentials, loads), start, _stop, {"system": title}, choices)


def _acting(system: AbstractSystem, potentials: list[Named], loads: list[Named]) -> AbstractSystem:
    """The system with potentials and loads of the file beside its own."""
    names = system.names
    return system.with_terms(
        [make_potential(term, "[[potentials]]", names) for term in potentials],
        [make(term, LOADS, "[[loads]]", names) for term in loads],
    )


def _stop(section: StopSection) -> Event:
    """The zero of `component - value` of the motion."""
    label, indices = section.place
    known = [entry.name for entry in fields(Motion)]
    if label not in known:
        raise InputError(
            f"[run.stop] component = {section.component!r}; bodies have {', '.join(known)}, with the indices "
            "of body, row and column"
        )

    def difference(motion: Motion):
        values = getattr(motion, label)
        shape = values.shape
        if len(indices) != len(shape) or any(i >= n for i, n in zip(indices, shape, strict=True)):
            last = ",".join(str(length - 1) for length in shape)
            raise InputError(
                f"[run.stop] component = {section.component!r}; {label} goes up to {label}[{last}]"
            )
        return values[indices] - section.value

    return Event(difference, DIRECTIONS[section.direction])


def library_bodies(
    system: AbstractSystem, name: str, start: StartSection | None
) -> tuple[AbstractSystem, State]:
    """Bodies of the library and where they start."""
    if isinstance(system, Chain):
        return system, chain_start(system, start)
    if start is not None:
        return system, _body_start(system, [start.of_one_body(name)], "[start]")
    if not hasattr(system, "start"):
        raise InputError(f"{name} has no start of its own; say where it starts in a section [start]")
    return system, system.start


def file_bodies(sections: list[BodySection]) -> tuple[System, State]:
    """Bodies of the file and where they start."""
    try:
        system = System(
            [_body(section) for section in sections],
            freedom=[make(one.freedom or _FREE, FREEDOMS, "[bodies.freedom]") for one in sections],
            name=" and ".join(section.name for section in sections),
        )
    except InputError as error:
        raise InputError(error if str(error).startswith("[") else f"[[bodies]] {error}") from None
    return system, _body_start(system, [section.start for section in sections], "[bodies.start]")


def _body(section: BodySection) -> RigidBody:
    name = section.name
    if section.shape is None:
        assert section.mass is not None
        return RigidBody(section.mass, section.inertia, name=name)
    if section.shape.name.replace("_", "-") in PARTICLE_BODIES:
        for key in ("mass", "density"):
            if getattr(section, key) is not None:
                raise InputError(f"{name!r} has {key}; a body of particles has the mass of its particles")
        return make(section.shape, PARTICLE_BODIES, "[bodies.shape]", name=name)
    mass = {"mass": section.mass, "density": section.density, "name": name}
    return make(section.shape, SHAPES | PARTICLE_BODIES, "[bodies.shape]", **mass)


def _body_start(system: AbstractSystem, sections: Sequence[BodyStart], place: str) -> State:
    """The state of all bodies; those that leave a value out have it from their freedom, or zero."""
    given = [section.values() for section in sections]
    values: dict[str, Any] = {key: [one.get(key) for one in given] for key in BodyStart.model_fields}
    try:
        return system.state(**{key: rows for key, rows in values.items() if any(r is not None for r in rows)})
    except ValueError as error:
        raise InputError(f"{place} {error}") from None
