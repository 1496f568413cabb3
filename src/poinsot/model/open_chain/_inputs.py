"""Vectors that people give to functions of a chain: named where they are wrong."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jaxtyping import Array

from poinsot.core import InputError, as_floats, check_all_finite, concrete, few, quoted

from ._canonical import normalised
from ._kinematics import Q, quaternion_places
from ._structure import Structure

UNIT = 1e-14
"""How far the length of a quaternion may be from one and stay as it is."""


def as_row(value: Any, field: str, names: Sequence[str]) -> Array:
    """Finite numbers, one for each name.

    Args:
        value: what was given.
        field: what it was given as, for error messages.
        names: of the numbers.

    Raises:
        InputError: these are no numbers, or more or fewer of them.
    """
    wanted = (
        f"{len(names)} numbers: {few(names)}" if len(names) > 1 else f"one number in a list: {few(names)}"
    )
    array = as_floats(value, field, wanted)
    if array.shape != (len(names),):
        raise InputError(f"{field} has shape {array.shape}; it must be {wanted}")
    if concrete(array):
        check_all_finite(np.asarray(array), field)
    return array


def as_coordinates(structure: Structure, value: Any, field: str) -> Q:
    """Coordinates with quaternions of unit length.

    Raises:
        InputError: these are no coordinates of the chain, or a quaternion is zero.
    """
    q = as_row(value, field, structure.labels[0])
    if not structure.balls:
        return q
    if not concrete(q):
        return normalised(structure, q)
    quats = quaternion_places(structure)
    lengths = np.linalg.norm(np.asarray(q)[quats], axis=1)
    for begin, length in zip(quats[:, 0], lengths, strict=True):
        if length == 0.0:
            joint = next(slot.name for slot in structure.slots if slot.q[0] <= begin < sum(slot.q))
            raise InputError(f"{field} has a zero quaternion of {joint!r}; it must be a rotation")
    return normalised(structure, q) if np.max(np.abs(lengths - 1.0)) > UNIT else q


def as_key(key: Any) -> Array:
    """A key of `jax.random`, also from a whole number as its seed.

    Raises:
        InputError: it is neither.
    """
    given: Any = key
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
        given = jax.random.key(int(key))
    try:
        jax.eval_shape(jax.random.split, given)
    except Exception:
        raise InputError(
            f"key = {quoted(key)}; it must be a key, jax.random.key(0), or a whole number as its seed"
        ) from None
    return given
