"""Rotations about given axes, as matrices and as quaternions."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float

from poinsot.core import InputError, as_array, concrete, quoted, unscaled
from poinsot.core.types import Quat, Rot, Vec3
from poinsot.kernels import alone

from ._checks import as_vector
from ._sincos import sincos
from ._so3 import exp


@alone
def elementary_matrix(axis: int, angle: Float[Array, "*batch"]) -> Rot:
    """Rotation matrix about the coordinate axis 0, 1 or 2."""
    sine, cosine = sincos(angle)
    zero, one = jnp.zeros_like(sine), jnp.ones_like(sine)
    following, preceding = (axis + 1) % 3, (axis + 2) % 3
    rows = [[zero] * 3 for _ in range(3)]
    rows[axis][axis] = one
    rows[following][following] = rows[preceding][preceding] = cosine
    rows[preceding][following], rows[following][preceding] = sine, -sine
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


@alone
def elementary_quaternion(axis: int, angle: Float[Array, "*batch"]) -> Quat:
    """Unit quaternion of a rotation about the coordinate axis 0, 1 or 2."""
    sine, cosine = sincos(0.5 * angle)
    parts = [cosine, *[jnp.zeros_like(sine)] * 3]
    parts[1 + axis] = sine
    return jnp.stack(parts, axis=-1)


def about_x(angle: ArrayLike) -> Rot:
    """Rotation matrix, body to space, of a turn about the x axis.

    Args:
        angle: radians, counted by the right-hand rule.
    """
    return elementary_matrix(0, as_array(angle, "angle"))


def about_y(angle: ArrayLike) -> Rot:
    """Rotation matrix, body to space, of a turn about the y axis.

    Args:
        angle: radians, counted by the right-hand rule.
    """
    return elementary_matrix(1, as_array(angle, "angle"))


def about_z(angle: ArrayLike) -> Rot:
    """Rotation matrix, body to space, of a turn about the z axis.

    Args:
        angle: radians, counted by the right-hand rule.
    """
    return elementary_matrix(2, as_array(angle, "angle"))


def about_axis(axis: Vec3 | Sequence[float], angle: ArrayLike) -> Rot:
    """Rotation matrix, body to space, of a turn about any axis.

    Args:
        axis: direction of the axis, of any length but zero.
        angle: radians, counted by the right-hand rule.

    Raises:
        InputError: the axis is zero or not finite.
    """
    direction = unscaled(as_vector(axis, "axis"))
    if concrete(direction):
        largest = np.max(np.abs(np.asarray(direction)), axis=-1)
        if not np.all((largest > 0.0) & np.isfinite(largest)):
            raise InputError(f"axis = {quoted(axis)} has no direction; give a finite vector that is not zero")
    return _about(direction, as_array(angle, "angle"))


@alone
def _about(direction: Vec3, angle: Float[Array, "*batch"]) -> Rot:
    length = jnp.linalg.norm(direction, axis=-1, keepdims=True)
    return exp(angle[..., None] * direction / length)
