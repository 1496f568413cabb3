"""Parameters of library systems: float64 arrays, refused with a clear line when they make no sense."""

from collections.abc import Sequence

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array

from poinsot.core import InputError, as_floats, quoted

Vector = Sequence[float] | Sequence[ArrayLike] | Array | np.ndarray
"""Three numbers, as people write them."""


def numbers(**values) -> dict[str, Array]:
    """The parameters as float64 arrays: numbers, or arrays of them for a batch; all finite."""
    return {name: _number(name, value) for name, value in values.items()}


def _number(name: str, value) -> Array:
    if isinstance(value, (bool, str, list, tuple)):
        raise InputError(f"{name} = {quoted(value)}; it must be a number")
    array = as_floats(value, name, "a number")
    require(jnp.isfinite(array), f"{name} = {quoted(value)}; it must be finite")
    return array


def require(holds: Array, message: str) -> None:
    """Raise `InputError` unless the condition holds; a traced one is let through, it has no value yet."""
    if not isinstance(holds, jax.core.Tracer) and not bool(jnp.all(holds)):
        raise InputError(message)


def positive(**values: Array) -> None:
    """Require each parameter to be greater than zero."""
    for name, value in values.items():
        require(value > 0.0, f"{name} = {value}; it must be positive")


def moments(inertia) -> Array:
    """Three principal moments of inertia that a rigid body can have."""
    J = as_floats(inertia, "inertia", "three numbers")
    if J.shape != (3,):
        raise InputError(f"inertia = {quoted(inertia)}; it must be three principal moments")
    positive(inertia=J)
    rest = jnp.sum(J) - 2.0 * J
    require(
        rest >= -1e-10 * jnp.max(J),
        f"inertia = {quoted(inertia)}; no moment may exceed the sum of the other two (triangle inequality)",
    )
    return J
