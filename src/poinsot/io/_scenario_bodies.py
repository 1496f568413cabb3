"""Rigid bodies of a scenario: of the library or of the file, with what acts on them and where they start."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from poinsot.core import InputError, State, parameters_of, quoted
from poinsot.equations import Motion
from poinsot.io._body_sections import BodySection, BodyStart, Named, StartSection
from poinsot.io._named import make, make_potential
from poinsot.io._read_robot import read_robot
from poinsot.io._scenario_chains import chain_start
from poinsot.io._scenario_errors import located
from poinsot.io._scenario_joints import file_joints, joints_located, told_to_assemble
from poinsot.io._sections import RobotSection, StopSection
from poinsot.model import AbstractSystem, Chain, RigidBody, System
from poinsot.model.freedom import REGISTRY as FREEDOMS
from poinsot.model.loads import REGISTRY as LOADS
from poinsot.model.shapes import REGISTRY as SHAPES
from poinsot.simulation import Event

if TYPE_CHECKING:
    from poinsot.io._scenario import Scenario

_FREE = Named(name="free")


def acting(system: AbstractSystem, potentials: list[Named], loads: list[Named]) -> AbstractSystem:
    """The system with potentials and loads of the file beside its own."""
    if not potentials and not loads:
        return system
    names = system.names
    terms = _terms(potentials, "potentials", lambda one: make_potential(one, "[[potentials]]", names))
    return system.with_terms(terms, _terms(loads, "loads", lambda one: make(one, LOADS, "[[loads]]", names)))


def _terms(sections: list[Named], table: str, maker: Callable[[Named], Any]) -> list[Any]:
    """What an array of tables names."""
    made = []
    for number, section in enumerate(sections):
        with located(table, str(number)):
            made.append(maker(section))
    return made


def motion_stop(section: StopSection) -> Event:
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
                f"[run.stop] component = {quoted(section.component)}; {label} goes up to {label}[{last}]"
            )
        return values[indices] - section.value

    return Event(difference, section.sign)


def library_start(system: AbstractSystem, name: str, start: StartSection | None) -> State:
    """Where bodies of the library start."""
    if isinstance(system, Chain):
        return chain_start(system, start)
    if start is not None and start.given(("coordinates", "rates")):
        return _joint_start(system, name, start)
    if start is not None:
        return _body_start(system, [start.of_one_body(name)], "[start]")
    if not hasattr(system, "start"):
        raise InputError(f"{name} has no start of its own; say where it starts in a section [start]")
    return system.start


def _joint_start(system: AbstractSystem, name: str, start: StartSection) -> State:
    """The state at coordinates and rates of the joints."""
    others = start.given(set(StartSection.model_fields) - {"coordinates", "rates"})
    if others:
        raise InputError(f"[start] has {', '.join(others)} beside coordinates of joints; keep one of them")
    if not isinstance(system, System) or system.linkage is None:
        raise InputError(f"[start] coordinates and rates are for joints; {name} has none")
    return system.joint_state(start.coordinates, start.rates)


def robot_of(section: RobotSection) -> System:
    """The robot of a file."""
    return read_robot(section.file, **{key: one for key, one in section if key != "file" and one is not None})


def robot_start(system: System, start: StartSection | None) -> State:
    """Where a robot starts: at coordinates of zero and at rest where nothing is said."""
    return system.joint_state() if start is None else library_start(system, system.name, start)


def file_bodies(scenario: "Scenario") -> tuple[System, State]:
    """Bodies of the file with their joints, and where they start."""
    bodies, freedom, sections = [], [], scenario.bodies or []
    for number, section in enumerate(sections):
        with located("bodies", str(number)):
            bodies.append(_body(section))
            freedom.append(make(section.freedom or _FREE, FREEDOMS, "[bodies.freedom]"))
    title = scenario.title or " and ".join(section.name for section in sections)
    reference = {one.name: one.reference.value() for one in sections if one.reference is not None}
    with located("bodies", "0"), joints_located(conditions := file_joints(scenario)):
        made = [one for one, _ in conditions]
        system = System(bodies, freedom=freedom, joints=made, reference=reference, name=title)
    if scenario.assembly is None:
        with located("bodies", "0"):
            start = _body_start(system, [section.start for section in sections], "[bodies.start]")
        with joints_located(conditions), told_to_assemble():
            system.check_state(scenario.times.t0, start)
        return system, start
    given = {section.name: section.start.values() for section in sections}
    near = {name: values for name, values in given.items() if values}
    with located("assembly"):
        return system, system.assemble(near, scenario.times.t0, **scenario.assembly.model_dump())


def _body(section: BodySection) -> RigidBody:
    name = section.name
    if section.shape is None:
        assert section.mass is not None
        return RigidBody(section.mass, section.inertia, name=name)
    shape = f"[bodies.shape] name = {quoted(section.shape.name)}"
    weight = {"mass": section.mass, "density": section.density}
    given: dict[str, Any] = {key: value for key, value in weight.items() if value is not None}
    for key in set(given) - set(parameters_of(SHAPES.find(section.shape.name, shape))):
        raise InputError(f"{quoted(name)} has {key}; a body of particles has the mass of its particles")
    return make(section.shape, SHAPES, "[bodies.shape]", **given, name=name)


def _body_start(system: AbstractSystem, sections: Sequence[BodyStart], place: str) -> State:
    """The state of all bodies; those that leave a value out have it from their freedom, or zero."""
    given = [section.values() for section in sections]
    values: dict[str, Any] = {key: [one.get(key) for one in given] for key in BodyStart.model_fields}
    try:
        return system.state(**{key: rows for key, rows in values.items() if any(r is not None for r in rows)})
    except ValueError as error:
        raise InputError(f"{place} {error}") from None
