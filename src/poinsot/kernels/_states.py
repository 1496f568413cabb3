"""A plain function of one state as one of many."""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import jax
import jax.numpy as jnp

from poinsot.kernels._components import in_components
from poinsot.kernels._lanes import Lanes, in_lanes, lanes_apart

GPU_STATES = 2**14
"""States from which on a GPU computes them in few kernels, which take long to compile."""


def each_of_states(
    function: Callable, lead: tuple[int, ...], batched: Sequence[bool], module: Any, given: Sequence[Any]
) -> Any:
    """The plain function of many states.

    Args:
        function: of a module and its arguments.
        lead: axes of the states.
        batched: which arguments have these axes in front.
        module: what the function belongs to.
        given: its arguments.
    """
    pairs = list(zip(given, batched, strict=True))
    rows = [jnp.asarray(one).reshape(prod(lead), *one.shape[len(lead) :]) for one, many in pairs if many]

    def single(*own: Any) -> Any:
        left = iter(own)
        return function(module, *(next(left) if many else one for one, many in pairs))

    if _one_kernel(single, rows):
        lanes = [jnp.moveaxis(row, 0, -1) for row in rows]
        parts = in_lanes(single, *lanes)(*map(lanes_apart, lanes))
        shapes = jax.eval_shape(single, *(row[0] for row in rows))
        form = Lanes(len(rows[0]))

        def in_front(part: Any, one: Any) -> jax.Array:
            return jnp.moveaxis(form.together(part, one.dtype), -1, 0)

        results = jax.tree.map(in_front, parts, shapes)
    else:
        results = jax.vmap(single)(*rows)
    return jax.tree.map(lambda leaf: leaf.reshape(*lead, *leaf.shape[1:]), results)


def _one_kernel(single: Callable, rows: Sequence[Any]) -> bool:
    """Whether to write a function of many states as operations on rows of single numbers.

    On a GPU XLA then makes a few kernels of it in place of hundreds, and takes several times as long for it.
    """
    if jax.default_backend() == "cpu" or len(rows[0]) < GPU_STATES:
        return False
    return in_components(jax.make_jaxpr(single)(*(row[0] for row in rows)).jaxpr)
