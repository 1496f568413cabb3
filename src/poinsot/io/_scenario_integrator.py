"""The integrator of a scenario file, with its options."""

import dataclasses
from typing import Any

from poinsot.core import InputError
from poinsot.integrators import (
    AbstractAdaptive,
    AbstractIntegrator,
    FixedPoint,
    SimplifiedNewton,
    by_name,
)
from poinsot.io._sections import IntegratorSection

SOLVERS = {"fixed-point": FixedPoint, "newton": SimplifiedNewton}
OPTIONS = {
    "compensated": "compensated",
    "solver": "solver",
    "tolerance": "solver",
    "max_iterations": "solver",
    "first_step": "first_step",
    "max_step": "max_step",
    "projection": "projection",
}
"""Keys of `[integrator]`, and the field of an integrator that each sets."""
TOLERANCES = ("rtol", "atol")
"""Keys of `[integrator]` that are for the run of an adaptive solver, whichever it is."""


def integrator_of(section: IntegratorSection) -> AbstractIntegrator | AbstractAdaptive:
    """The named integrator with the options of the file."""
    integrator = by_name(section.name)
    fields = {field.name: getattr(integrator, field.name) for field in dataclasses.fields(integrator)}
    own = {key: value for key, value in section if key != "name" and value is not None}
    options = {key: value for key, value in own.items() if key not in TOLERANCES}
    for key, value in options.items():
        if OPTIONS[key] not in fields:
            offered = [option for option, field in OPTIONS.items() if field in fields]
            remedy = f"it may have {', '.join(offered)}" if offered else "it has no options"
            raise InputError(f"[integrator] {key} = {value!r} does not apply to {section.name}; {remedy}")
    plain = ("compensated", "first_step", "max_step", "projection")
    changes: dict[str, Any] = {key: options[key] for key in plain if key in options}
    limits = {key: options[key] for key in ("tolerance", "max_iterations") if key in options}
    if "solver" in options or limits:
        solver = SOLVERS[options["solver"]] if "solver" in options else type(fields["solver"])
        changes["solver"] = solver(**limits)
    try:
        return dataclasses.replace(integrator, **changes) if changes else integrator
    except ValueError as error:
        raise InputError(f"[integrator] {error}") from None
