"""What rotations are given as: shapes are checked always, values of known numbers only."""

from typing import Any

import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, as_batch, check_all_finite, concrete
from poinsot.core.types import Quat, Rot, Vec3

NEAR = 1e-6
"""How far a known matrix may be from a rotation: entries of R^T R from the identity."""


def as_quat(value: Any, field: str = "quat") -> Quat:
    """A quaternion of any length."""
    return _finite(as_batch(value, field, (4,), "a quaternion (w, x, y, z)"), field)


def as_nonzero_quat(value: Any, field: str = "quat") -> Quat:
    """A quaternion that is not zero."""
    quat = as_quat(value, field)
    if concrete(quat) and not np.all(np.any(np.asarray(quat) != 0.0, axis=-1)):
        raise InputError(f"{field} is the quaternion zero; no rotation belongs to it")
    return quat


def as_vector(value: Any, field: str) -> Vec3:
    """Three components."""
    return _finite(as_batch(value, field, (3,), "three numbers"), field)


def as_square(value: Any, field: str) -> Float[Array, "*batch 3 3"]:
    """A matrix of three rows and columns."""
    return _finite(as_batch(value, field, (3, 3), "a 3x3 matrix"), field)


def _finite(array: Array, field: str) -> Array:
    """Itself, once its known numbers are finite."""
    if concrete(array):
        check_all_finite(np.asarray(array), field)
    return array


def as_rotation(value: Any, field: str = "rot") -> Rot:
    """A rotation matrix.

    Raises:
        InputError: it has another shape, or its known numbers are those of no rotation.
    """
    rot = as_square(value, field)
    if concrete(rot):
        numbers = np.asarray(rot)
        defect = np.max(np.abs(np.swapaxes(numbers, -1, -2) @ numbers - np.eye(3)), initial=0.0)
        if defect > NEAR:
            raise InputError(
                f"{field} is not a rotation matrix: R^T R differs from the identity by {defect:.3g}; "
                "take pt.rotation.nearest_rotation of it first"
            )
        if np.any(np.linalg.det(numbers) < 0.0):
            raise InputError(
                f"{field} is a reflection, of determinant -1; turn one of its columns around to make it a "
                "rotation matrix"
            )
    return rot
