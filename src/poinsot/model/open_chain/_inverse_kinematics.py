"""Coordinates at which a frame has a given pose, by damped least squares."""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from poinsot.core import InputError, as_array, shown
from poinsot.rotation import from_matrix, normalise, quat_log, to_matrix
from poinsot.rotation._checks import as_nonzero_quat, as_rotation

if TYPE_CHECKING:
    from ._open_chain import OpenChain


class Reached(NamedTuple):
    """What an inverse kinematics has found."""

    q: Float[Array, " nq"]
    error: Float[Array, "6"]
    """What is left: the vector to the target, and the rotation vector to it, along space axes."""
    converged: Bool[Array, ""]
    iterations: Int[Array, ""]

    def __repr__(self) -> str:
        """On one line."""
        return shown(self, self._asdict())


Pose = tuple[Float[Array, "3"], Float[Array, "3 3"] | None]
"""A place, and a rotation where it matters."""


class _Trial(NamedTuple):
    q: Array
    error: Array
    damping: Array
    taken: Array


def as_target(target: Any) -> Pose:
    """A place in space, or a place and a rotation.

    Raises:
        InputError: it is neither.
    """
    if isinstance(target, (tuple, list)) and len(target) == 2:
        return as_array(target[0], "place of the target", (3,)), _as_rotation(target[1])
    return as_array(target, "target", (3,)), None


def _as_rotation(value: Any) -> Float[Array, "3 3"]:
    field = "rotation of the target"
    numbers = as_array(value, field)
    if numbers.shape == (4,):
        return to_matrix(normalise(as_nonzero_quat(numbers, field)))
    if numbers.shape == (3, 3):
        return as_rotation(numbers, field)
    raise InputError(
        f"{field} has shape {numbers.shape}; it must be a quaternion (w, x, y, z) or a 3x3 matrix"
    )


def pose_error(place: Array, rotation: Array, target: Pose) -> Float[Array, "6"]:
    r"""The way to a target, and the turn $\log(R_{\rm target} R^T)$ by the quaternion of the difference."""
    way, wanted = target[0] - place, target[1]
    if wanted is None:
        return jnp.concatenate([way, jnp.zeros(3)])
    return jnp.concatenate([way, quat_log(from_matrix(wanted @ rotation.T))])


def reached(
    chain: "OpenChain",
    target: Pose,
    frame: str,
    start: Array,
    tolerance: Array,
    steps: int,
) -> Reached:
    r"""Levenberg's iteration.

    $$ \delta = J^T (J J^T + \lambda^2 I)^{-1} e $$

    with $\lambda$ smaller after a step that brings the frame nearer and larger after one that does not, which
    is then not taken. A target out of reach is approached as far as possible.
    """

    def error_at(q):
        return pose_error(*chain.pose(q, frame), target)

    def going(trial: _Trial):
        return (jnp.max(jnp.abs(trial.error)) > tolerance) & (trial.taken < steps)

    def improve(trial: _Trial) -> _Trial:
        J = chain.jacobian(trial.q, frame)
        J = J if target[1] is not None else J.at[3:].set(0.0)
        gram = J @ J.T + trial.damping * jnp.eye(6)
        q = chain.moved(trial.q, J.T @ jnp.linalg.solve(gram, trial.error))
        error = error_at(q)
        better = jnp.sum(error * error) < jnp.sum(trial.error * trial.error)
        return _Trial(
            jnp.where(better, q, trial.q),
            jnp.where(better, error, trial.error),
            jnp.where(better, 0.1 * trial.damping, 10.0 * trial.damping),
            trial.taken + 1,
        )

    first = _Trial(start, error_at(start), jnp.asarray(1e-3), jnp.asarray(0))
    last = jax.lax.while_loop(going, improve, first)
    return Reached(last.q, last.error, jnp.max(jnp.abs(last.error)) <= tolerance, last.taken)
