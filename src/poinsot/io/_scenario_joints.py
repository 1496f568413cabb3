"""Joints, drives and couplings of a scenario."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import jax.numpy as jnp

from poinsot.core import InputError, on_device
from poinsot.io._joint_sections import CouplingSection, DriveSection
from poinsot.io._named import make_joint
from poinsot.io._scenario_errors import located
from poinsot.model.joints import AbstractCondition, Coupling, Drive

if TYPE_CHECKING:
    from poinsot.io._scenario import Scenario

Placed = tuple[AbstractCondition, tuple[str, str]]
"""A condition, and the table of the file that it comes from."""


def file_joints(scenario: "Scenario") -> list[Placed]:
    """Joints, drives and couplings of the file, each with its table."""
    makers = {
        "joints": lambda section: make_joint(section, "[[joints]]"),
        "drives": _drive,
        "couplings": _coupling,
    }
    made: list[Placed] = []
    for table, maker in makers.items():
        for number, section in enumerate(getattr(scenario, table) or []):
            with located(table, str(number)):
                made.append((maker(section), (table, str(number))))
    return made


@contextmanager
def joints_located(conditions: Sequence[Placed]) -> Iterator[None]:
    """Say of wrong input met within which table it is about, where it names a joint, drive or coupling."""
    try:
        yield
    except InputError as error:
        for condition, place in reversed(conditions):
            if condition.label in str(error):
                with located(*place):
                    raise InputError(str(error)) from None
        raise


@contextmanager
def told_to_assemble() -> Iterator[None]:
    """Say of a start with open joints what to do about it in a file."""
    try:
        yield
    except InputError as error:
        fault, *remedy = str(error).split("; take system.assemble")
        raise InputError(f"{fault}; add a table [assembly], which closes it" if remedy else fault) from None


def _drive(section: DriveSection) -> Drive:
    shape = ("offset", "rate", "amplitude", "angular_frequency", "phase")
    params = {key: on_device(getattr(section, key)) for key in shape}
    return Drive(section.joint, _course, section.coordinate, params=params, name=section.name)


def _course(t, params):
    """A value that grows steadily and oscillates."""
    wave = params["amplitude"] * jnp.sin(params["angular_frequency"] * t + params["phase"])
    return params["offset"] + params["rate"] * t + wave


def _coupling(section: CouplingSection) -> Coupling:
    first, second = section.coordinates or (None, None)
    return Coupling(
        section.first,
        section.second,
        section.weights,
        section.offset,
        coordinates=(first, second),
        about=section.about,
        name=section.name,
    )
