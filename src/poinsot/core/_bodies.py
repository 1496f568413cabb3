"""From one body to many: functions written for one body act on arrays with bodies along the last axis."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax


def each_body(function: Callable) -> Callable:
    """Apply a function of one body's small arrays to arrays with the body axis last, body by body.

    A single body goes through without `vmap`, whose batch axis of length one costs XLA half its speed.
    """

    def apply(*arrays):
        if arrays[0].shape[-1] == 1:
            result = function(*(array[..., 0] for array in arrays))
            return jax.tree.map(lambda part: part[..., None], result)
        return jax.vmap(function, in_axes=-1, out_axes=-1)(*arrays)

    return apply


def body_after_body(function: Callable) -> Callable:
    """The same as `each_body`, in a loop: for many bodies whose joints are gone through in loops as well."""

    def apply(*arrays):
        rows = tuple(jnp.moveaxis(array, -1, 0) for array in arrays)
        results = lax.map(lambda row: function(*row), rows)
        return jax.tree.map(lambda part: jnp.moveaxis(part, 0, -1), results)

    return apply
