"""Euler angles in any of the twelve sequences.

A sequence "abc" stands for the intrinsic product R = R_a(alpha) R_b(beta) R_c(gamma), body to space: turn
about the body axis a, then about the new axis b, then about the newest axis c.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from poinsot.core import InputError, quoted
from poinsot.core.types import Quat, Rot, Vec3
from poinsot.kernels import alone

from ._checks import as_vector
from ._elementary import elementary_matrix, elementary_quaternion
from ._extraction import from_matrix
from ._quaternion import multiply

EULER_SEQUENCES = ("xyx", "xzx", "yxy", "yzy", "zxz", "zyz", "xyz", "xzy", "yxz", "yzx", "zxy", "zyx")
"""The twelve sequences: six proper ones, whose first and last axes agree, and six of Tait and Bryan."""


class _Axes(NamedTuple):
    first: int
    middle: int
    last: int

    @property
    def proper(self) -> bool:
        return self.first == self.last

    @property
    def third(self) -> int:
        """Axis that is neither the first nor the middle one."""
        return 3 - self.first - self.middle

    @property
    def parity(self) -> float:
        """Plus one when (first, middle, third) is cyclic, minus one otherwise."""
        return 1.0 if (self.middle - self.first) % 3 == 1 else -1.0


def _axes(sequence: str) -> _Axes:
    if not isinstance(sequence, str) or sequence not in EULER_SEQUENCES:
        raise InputError(
            f"sequence {quoted(sequence)} is not known; choose one of {', '.join(EULER_SEQUENCES)}"
        )
    return _Axes(*("xyz".index(letter) for letter in sequence))


def euler(sequence: str, angles: Vec3 | Sequence[float]) -> Rot:
    r"""Rotation matrix of Euler angles, $R = R_a(\alpha)\,R_b(\beta)\,R_c(\gamma)$ for the sequence "abc".

    Args:
        sequence: one of `EULER_SEQUENCES`, for instance "zxz".
        angles: (alpha, beta, gamma) in radians, in the order of the sequence.

    Returns:
        Matrix from body to space.

    Raises:
        InputError: the sequence is not one of the twelve, or the angles are not three.
    """
    return _euler(_axes(sequence), as_vector(angles, "angles"))


@alone
def _euler(axes: _Axes, angles: Vec3) -> Rot:
    first, middle, last = (elementary_matrix(axis, angles[..., i]) for i, axis in enumerate(axes))
    return first @ middle @ last


def euler_quaternion(sequence: str, angles: Vec3 | Sequence[float]) -> Quat:
    r"""Unit quaternion of Euler angles, $p = q_a(\alpha) * q_b(\beta) * q_c(\gamma)$.

    Args:
        sequence: one of `EULER_SEQUENCES`.
        angles: (alpha, beta, gamma) in radians.

    Raises:
        InputError: the sequence is not one of the twelve, or the angles are not three.
    """
    return _euler_quaternion(_axes(sequence), as_vector(angles, "angles"))


@alone
def _euler_quaternion(axes: _Axes, angles: Vec3) -> Quat:
    first, middle, last = (elementary_quaternion(axis, angles[..., i]) for i, axis in enumerate(axes))
    return multiply(multiply(first, middle), last)


def _wrap(angle: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    turn = 2.0 * np.pi
    return angle - turn * jnp.round(angle / turn)


def euler_angles(sequence: str, rot: Rot) -> Vec3:
    r"""Euler angles of a rotation matrix.

    The outer angles lie within $[-\pi, \pi]$; the middle one within $[0, \pi]$ for proper sequences and
    $[-\pi/2, \pi/2]$ for those of Tait and Bryan. For a proper sequence the quaternion gives half sum and
    half difference of the outer angles at once,

    $$ \tfrac{\alpha+\gamma}{2} = \operatorname{atan2}(p_a, p_0), \quad
       \tfrac{\alpha-\gamma}{2} = \operatorname{atan2}(\pm p_k, p_b), \quad
       \tfrac{\beta}{2} = \operatorname{atan2}\!\left(\sqrt{p_b^2+p_k^2}, \sqrt{p_0^2+p_a^2}\right), $$

    and a quarter turn about the middle axis makes any other sequence proper. At a singular middle angle only
    the sum or the difference of the outer angles is determined; the angles returned still belong to the given
    matrix, but have no derivative there.

    Args:
        sequence: one of `EULER_SEQUENCES`.
        rot: rotation matrix, body to space.

    Raises:
        InputError: the sequence is not one of the twelve, or the matrix is no rotation.
    """
    axes = _axes(sequence)
    quat = from_matrix(rot)
    if not axes.proper:
        quarter_turn = elementary_quaternion(axes.middle, jnp.full(quat.shape[:-1], 0.5 * np.pi))
        quat = multiply(quat, quarter_turn)
    scalar, first, middle = quat[..., 0], quat[..., 1 + axes.first], quat[..., 1 + axes.middle]
    third = axes.parity * quat[..., 1 + axes.third]
    half_sum = jnp.arctan2(first, scalar)
    half_difference = jnp.arctan2(third, middle)
    beta = 2.0 * jnp.arctan2(jnp.hypot(middle, third), jnp.hypot(scalar, first))
    gamma = half_sum - half_difference
    if not axes.proper:
        beta = beta - 0.5 * np.pi
        gamma = -axes.parity * gamma
    return jnp.stack([_wrap(half_sum + half_difference), beta, _wrap(gamma)], axis=-1)


def euler_rate_matrix(sequence: str, angles: Vec3 | Sequence[float]) -> Float[Array, "*batch 3 3"]:
    r"""Matrix B from the rates of the angles to the body angular velocity.

    $$ \Omega = B\,(\dot\alpha, \dot\beta, \dot\gamma)^T. $$

    Its columns are the three axes of rotation in body components,

    $$ B = \left[\, (R_b R_c)^T e_a,\; R_c^T e_b,\; e_c \,\right], $$

    and the size of its determinant is `euler_singularity`.

    Args:
        sequence: one of `EULER_SEQUENCES`.
        angles: (alpha, beta, gamma) in radians.

    Raises:
        InputError: the sequence is not one of the twelve, or the angles are not three.
    """
    axes = _axes(sequence)
    angles = as_vector(angles, "angles")
    last = elementary_matrix(axes.last, angles[..., 2])
    both = elementary_matrix(axes.middle, angles[..., 1]) @ last
    spin = jnp.broadcast_to(jnp.eye(3)[axes.last], angles.shape)
    return jnp.stack([both[..., axes.first, :], last[..., axes.middle, :], spin], axis=-1)


def euler_singularity(sequence: str, angles: Vec3 | Sequence[float]) -> Float[Array, "*batch"]:
    r"""Measure of regularity between 0 (singular) and 1.

    $|\sin\beta|$ for proper sequences, $|\cos\beta|$ for those of Tait and Bryan. It is the size of the
    determinant of `euler_rate_matrix`.

    Args:
        sequence: one of `EULER_SEQUENCES`.
        angles: (alpha, beta, gamma) in radians.

    Raises:
        InputError: the sequence is not one of the twelve, or the angles are not three.
    """
    beta = as_vector(angles, "angles")[..., 1]
    return jnp.abs(jnp.sin(beta) if _axes(sequence).proper else jnp.cos(beta))


def near_singularity(sequence: str, angles: Vec3 | Sequence[float], distance: float) -> Bool[Array, "*batch"]:
    """Whether the middle angle is closer than `distance` to a value where the outer axes coincide.

    Args:
        sequence: one of `EULER_SEQUENCES`.
        angles: (alpha, beta, gamma) in radians.
        distance: angle in radians, between 0 and pi/2.

    Raises:
        InputError: the sequence is not one of the twelve, or the angles are not three.
    """
    return jnp.arcsin(euler_singularity(sequence, angles)) < distance
