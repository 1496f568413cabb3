"""Rotations that people give: a quaternion or a matrix, refused when it is neither."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError
from poinsot.core.types import Quat, Rot
from poinsot.kernels import at_once
from poinsot.rotation import from_matrix, nearest_rotation, to_matrix
from poinsot.rotation import normalise as to_unit_length

from ._checks import as_array, concrete

ROUND_OFF = 1e-12
"""How far a rotation may be from one: length of a quaternion from 1, entries of R^T R from the identity."""


def as_quaternion(value: Any, field: str, *, normalise: bool = False) -> Float[Array, "4"]:
    """Unit quaternion of one rotation, given as a quaternion (4,) or a matrix (3, 3).

    Args:
        value: the rotation, body to space; a quaternion scalar first.
        field: what it was given as, for the error message.
        normalise: take the nearest rotation to what was given.

    Raises:
        InputError: neither shape, or not a rotation.
    """
    numbers = as_array(value, field)
    if numbers.shape == (4,):
        return unit_quaternions(numbers, [field], normalise)
    if numbers.shape == (3, 3):
        return quaternions_of_matrices(numbers, [field], normalise)
    raise InputError(
        f"{field} has shape {numbers.shape}; it must be a quaternion (w, x, y, z) or a 3x3 matrix"
    )


def unit_quaternions(quats: Quat, fields: list[str], normalise: bool) -> Quat:
    """Quaternions of one body or several, checked or brought to unit length."""
    if concrete(quats):
        lengths = np.linalg.norm(np.asarray(quats).reshape(-1, 4), axis=-1)
        for field, length in zip(fields, lengths, strict=True):
            if length == 0.0:
                raise InputError(f"{field} is the quaternion zero; no rotation belongs to it")
            if not normalise and abs(length - 1.0) > ROUND_OFF:
                raise InputError(
                    f"{field} is a quaternion of length {length:.15g}, off by {abs(length - 1.0):.3g}; "
                    "it must have length 1, or pass normalise=True"
                )
    return _to_unit_length(quats) if normalise else quats


def quaternions_of_matrices(matrices: Rot, fields: list[str], normalise: bool) -> Quat:
    """Quaternions of the rotation matrices of one body or several, checked or of the nearest rotations."""
    if concrete(matrices):
        numbers = np.asarray(matrices).reshape(-1, 3, 3)
        determinants = np.linalg.det(numbers)
        defects = np.max(np.abs(np.swapaxes(numbers, -1, -2) @ numbers - np.eye(3)), axis=(-2, -1))
        for field, determinant, defect in zip(fields, determinants, defects, strict=True):
            if determinant <= 0.0:
                raise InputError(
                    f"{field} is a matrix of determinant {determinant:.6g}, a reflection and no rotation; "
                    "it must be 1: turn one of the columns (directors d1, d2, d3) around"
                )
            if not normalise and defect > ROUND_OFF:
                raise InputError(
                    f"{field} is not orthogonal: R^T R differs from the identity by {defect:.3g}; "
                    "give more digits, or pass normalise=True for the nearest rotation"
                )
    nearest = nearest_rotation(matrices) if normalise else matrices
    return _quaternion_of(nearest)


_to_unit_length = at_once(to_unit_length)
_quaternion_of = at_once(from_matrix)


@at_once
def rotation_matrix(quat: Quat) -> Rot:
    """Rotation matrix of a quaternion of any length but zero."""
    square = jnp.sum(quat * quat, axis=-1)[..., None, None]
    return to_matrix(quat) / square
