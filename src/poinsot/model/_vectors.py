"""Small products as sums, which compile into the loops around them where library calls would not."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, as_array, concrete, unscaled
from poinsot.kernels import at_once

from ._checks import Numbers


@at_once
def turned(R: Float[Array, "*batch 3 3"], vec: Float[Array, "*batch 3"]) -> Float[Array, "*batch 3"]:
    """Space components R v of a vector given in the body frame."""
    return jnp.sum(R * vec[..., None, :], axis=-1)


@at_once
def turned_back(R: Float[Array, "*batch 3 3"], vec: Float[Array, "*batch 3"]) -> Float[Array, "*batch 3"]:
    """Body components R^T v of a vector given in space."""
    return jnp.sum(R * vec[..., :, None], axis=-2)


def as_direction(value: Numbers, field: str) -> Float[Array, "3"]:
    """Unit vector along three numbers that are not all zero."""
    vec = as_array(value, field, (3,))
    if concrete(vec) and not np.any(np.asarray(vec)):
        raise InputError(f"{field} is zero; it must have a direction")
    return _unit(unscaled(vec))


@at_once
def _unit(vec: Float[Array, "3"]) -> Float[Array, "3"]:
    """A vector divided by its length."""
    return vec / jnp.sqrt(jnp.sum(vec * vec))
