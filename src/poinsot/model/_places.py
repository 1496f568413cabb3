"""How terms name bodies: by place or by name, until a system says which places these are."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import equinox as eqx
import numpy as np

from poinsot.core import InputError, quoted

_MARK = "names_bodies"


def body_field() -> Any:
    """Declare a static field that holds a body, several bodies or None: places, or names before binding."""
    return eqx.field(static=True, metadata={_MARK: True})


def as_body(value: Any, field: str) -> Any:
    """Check a reference to one body: its place in the list of bodies, or its name."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise InputError(
            f"{field} = {quoted(value)}; it must be the name of a body or its place in the list, 0, 1, ..."
        )
    return int(value)


def as_bodies(values: Any, field: str) -> Any:
    """Check references to several bodies; None stands for all."""
    if values is None:
        return None
    if not isinstance(values, (list, tuple)) or not values:
        raise InputError(f"{field} = {quoted(values)}; it must be a list of names or places, [0, 1, ...]")
    return tuple(as_body(value, field) for value in values)


def relocated(tree: Any, place_of: Callable[[Any], int]) -> Any:
    """Replace every reference to a body in the fields of modules by another place.

    Args:
        tree: a term, or anything with terms in it.
        place_of: maps a reference to its place. References that share a place become one.
    """
    if isinstance(tree, tuple) and type(tree) is tuple:
        parts = tuple(relocated(part, place_of) for part in tree)
        return tree if all(new is old for new, old in zip(parts, tree, strict=True)) else parts
    if not isinstance(tree, eqx.Module):
        return tree
    entries = [entry for entry in fields(tree) if hasattr(tree, entry.name)]
    values = {entry.name: getattr(tree, entry.name) for entry in entries}
    moved = {
        entry.name: _placed(values[entry.name], place_of)
        if entry.metadata.get(_MARK)
        else relocated(values[entry.name], place_of)
        for entry in entries
    }
    if all(moved[name] is value for name, value in values.items()):
        return tree
    # Static fields are no leaves, so `eqx.tree_at` cannot reach them.
    copy = object.__new__(type(tree))
    for name, value in moved.items():
        object.__setattr__(copy, name, value)
    return copy


def _placed(reference: Any, place_of: Callable[[Any], int]) -> Any:
    """The place, or the distinct places, of one reference or of several."""
    if reference is None:
        return None
    if isinstance(reference, tuple):
        places = tuple(dict.fromkeys(place_of(one) for one in reference))
        return reference if places == reference else places
    place = place_of(reference)
    return reference if place == reference else place
