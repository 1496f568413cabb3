"""Parameters of library systems: float64 arrays, refused with a clear line when they make no sense."""

from collections.abc import Sequence
from typing import Annotated, Any

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array

from poinsot.core import NOT_NEGATIVE, POSITIVE, InputError, as_floats, concrete, plain, quoted, whole

Positive = Annotated[ArrayLike, POSITIVE]
NotNegative = Annotated[ArrayLike, NOT_NEGATIVE]
Count = Annotated[int, whole(1, 2000)]
"""Of bodies or loops of a system: two thousand take ten seconds to build."""
Vector = Sequence[float] | Sequence[ArrayLike] | Array | np.ndarray
"""Three numbers, as people write them."""


def numbers(**values) -> dict[str, Any]:
    """The parameters as float64 arrays: numbers, or arrays of them for a batch; all finite.

    Known ones are arrays of NumPy, so that nothing is compiled for what is made of them.
    """
    known = {name: _number(name, value) for name, value in values.items()}
    shapes = {name: array.shape for name, array in known.items()}
    if len(set(shapes.values())) <= 1:
        return known
    try:
        common = np.broadcast_shapes(*shapes.values())
    except ValueError:
        raise InputError(f"the parameters have shapes {shapes}; they do not go together") from None
    broadcast = np.broadcast_to if concrete(known) else jnp.broadcast_to
    return {name: broadcast(array, common) for name, array in known.items()}


def _number(name: str, value) -> Any:
    if isinstance(value, (bool, str, list, tuple)):
        raise InputError(f"{name} = {quoted(value)}; it must be a number")
    array = as_floats(value, name, "a number")
    if concrete(array):
        require(np.isfinite(array), f"{name} = {quoted(value)}; it must be finite")
        if array.size == 0:
            raise InputError(f"{name} = {quoted(value)}; it must be a number, or an array of them")
    return plain(array)


def single(**values) -> dict[str, Array]:
    """The parameters of a system of bodies as float64 arrays: one number each."""
    known = {name: _number(name, value) for name, value in values.items()}
    for name, array in known.items():
        if array.ndim:
            raise InputError(f"{name} has shape {array.shape}; it must be one number, mapped by jax.vmap")
    return known


def require(holds: Any, message: str) -> None:
    """Raise `InputError` unless the condition holds; a traced one is let through, it has no value yet."""
    if concrete(holds) and not np.all(np.asarray(holds)):
        raise InputError(message)


def positive(**values: Any) -> None:
    """Require each parameter to be greater than zero."""
    for name, value in values.items():
        require(value > 0.0, f"{name} = {quoted(value)}; it must be positive")


def moments(inertia) -> Any:
    """Three principal moments of inertia that a rigid body can have."""
    J = as_floats(inertia, "inertia", "three numbers")
    if J.shape != (3,):
        raise InputError(f"inertia = {quoted(inertia)}; it must be three principal moments")
    J = plain(J)
    positive(inertia=J)
    require(
        J.sum() - 2.0 * J >= -1e-10 * J.max(),
        f"inertia = {quoted(inertia)}; no moment may exceed the sum of the other two (triangle inequality)",
    )
    return J
