"""Chains of a scenario: what `[system.parameters]` and `[start]` say of them."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from poinsot.core import InputError, Registry, State, quoted
from poinsot.io._body_sections import BodyStart, Named, StartSection
from poinsot.io._named import make
from poinsot.io._scenario_errors import located
from poinsot.model import Chain, RigidBody
from poinsot.model.ends import NAMED
from poinsot.model.ends import REGISTRY as ENDS
from poinsot.model.potentials import REGISTRY as POTENTIALS
from poinsot.model.shapes import REGISTRY as SHAPES

CHAIN = "particle-chain"
"""Name of chains in the library."""


def is_chain(name: str) -> bool:
    """Whether that is the name of a chain."""
    return name.replace("_", "-") == CHAIN


def chain_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Make what the tables of a chain name: arguments of `pt.library.particle_chain`."""
    made = {}
    for key, value in parameters.items():
        with located("system", "parameters", key):
            made[key] = _MAKERS[key](value) if key in _MAKERS else value
    return made


def chain_start(chain: Chain, start: StartSection | None) -> State:
    """Where a chain starts: straight, with random velocities if they have a scale, or as the file says."""
    if start is None:
        return chain.straight_state()
    labels = start.given(("q", "p", "y"))
    if labels:
        raise InputError(
            f"[start] has {', '.join(labels)}; a chain starts with velocity_scale and seed, or with "
            "position, rotation, velocity and angular_velocity of each body"
        )
    drawn, listed = start.given(("velocity_scale", "seed")), start.given(BodyStart.model_fields)
    if drawn and listed:
        raise InputError(
            f"[start] has {', '.join(drawn)} beside {', '.join(listed)}; keep one of the two ways"
        )
    if "seed" in drawn and "velocity_scale" not in drawn:
        raise InputError("[start] has a seed of random velocities; it needs velocity_scale too")
    if not listed:
        return chain.straight_state(**drawn)
    for key, rows in listed.items():
        if not isinstance(rows, list) or len(rows) != chain.count or not isinstance(rows[0], list):
            raise InputError(
                f"[start] {key} must be a list of {chain.count} rows, one for each body of the chain"
            )
    try:
        return chain.state(**{key: jnp.array(rows) for key, rows in listed.items()})
    except ValueError as error:
        raise InputError(f"[start] {error}") from None


def _body(value: Any) -> RigidBody:
    """`{ shape = "tetrahedron", a = 1.0 }`, or `{ masses = [...], points = [...] }`."""
    table = _table(value)
    if "shape" in table:
        return _named(table, "shape", SHAPES)
    if set(table) != {"masses", "points"}:
        raise InputError(
            f"has {', '.join(table) or 'no keys'}; it needs shape, one of {', '.join(SHAPES)}, with "
            "its sizes, or masses and points of its particles"
        )
    return RigidBody.from_particles(**table)


def _potential(value: Any) -> Any:
    """`{ name = "lennard-jones", epsilon = 5.0, sigma = 1.0 }`, or a list of such."""
    if isinstance(value, list):
        return [_potential(term) for term in value]
    return _named(_table(value), "name", POTENTIALS)


WORDS = (*NAMED, "ring", "periodic")
"""What ends can be without numbers."""


def _ends(value: Any) -> Any:
    """A text, `{ kind = "force", force = [3.0, 0.0, 0.0] }`, or a list of two of these."""
    if isinstance(value, list):
        return tuple(_ends(end) for end in value)
    if isinstance(value, dict):
        return _named(value, "kind", ENDS)
    if value not in WORDS:
        raise InputError(
            f"= {quoted(value)} is not known; an end is 'clamped', 'free' or a table such as "
            "{ kind = \"force\", force = [3.0, 0.0, 0.0] }; a chain without ends is 'ring' or 'periodic'"
        )
    return value


_MAKERS: dict[str, Callable[[Any], Any]] = {"body": _body, "potential": _potential, "ends": _ends}
"""How the parameters that are no numbers are read."""


def _table(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"is {quoted(value)}; it must be a table of keys")
    return value


def _named(table: dict[str, Any], key: str, known: Registry) -> Any:
    """What a table names under this key, with the rest of the table."""
    if not isinstance(table.get(key), str):
        raise InputError(f"needs {key}, one of {', '.join(known)}")
    rest = {other: value for other, value in table.items() if other != key}
    return make(Named.model_validate(rest | {"name": table[key]}), known, "")
