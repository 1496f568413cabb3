"""Many runs of one function as lanes: the layout that fills vector units and GPUs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core as jex

from poinsot.core import barrier, hold_p
from poinsot.kernels._components import Components, apart, evaluate, is_number


class Lanes:
    """Arithmetic in which a component is an array of its values in all runs, or one value for all of them.

    Args:
        count: number of runs.
        functions: compiled functions by name that have a form of their own here; see `Arithmetic`.
    """

    def __init__(self, count: int, functions: Mapping[str, Callable] | None = None):
        self.count, self.functions = count, functions or {}

    def apply(self, primitive: jex.Primitive, params: dict, operands: Sequence[Any]) -> Sequence[jax.Array]:
        """The operation on arrays of one length."""
        arrays = [jnp.asarray(operand) for operand in operands]
        if any(array.ndim for array in arrays):
            arrays = [self.filled(array) for array in arrays]
        result = primitive.bind(*arrays, **params)
        return result if primitive.multiple_results else [result]

    def whole(self, equation: Any, operands: Sequence[Components]) -> list[Components]:
        """`hold` holds the components as one array, computed in one go; the rest is left to `vmap`."""
        primitive, params = equation.primitive, equation.params
        dtypes = [atom.aval.dtype for atom in equation.invars]
        arrays = [self.together(part, dtype) for part, dtype in zip(operands, dtypes, strict=True)]
        if primitive is hold_p:
            rows = [array.reshape(-1, self.count) for array in arrays]
            held = jnp.split(barrier(jnp.concatenate(rows)), np.cumsum([len(row) for row in rows])[:-1])
            results = [piece.reshape(array.shape) for piece, array in zip(held, arrays, strict=True)]
        else:
            bind = jax.vmap(lambda *one: primitive.bind(*one, **params), in_axes=-1, out_axes=-1)
            results = bind(*arrays) if primitive.multiple_results else [bind(*arrays)]
        return [lanes_apart(array) for array in results]

    def filled(self, component: Any) -> jax.Array:
        """A component as an array of all runs."""
        return jnp.broadcast_to(component, (self.count,))

    def together(self, part: Components, dtype) -> jax.Array:
        """Components as one array, the runs along its last axis."""
        shape = (*part.shape, self.count)
        rows = [self.filled(jnp.asarray(component, dtype)) for component in part.flat]
        return jnp.stack(rows).reshape(shape) if rows else jnp.zeros(shape, dtype)


def lanes_apart(array: jax.Array) -> Components:
    """Components of an array whose last axis are the runs."""
    parts = np.empty(array.shape[:-1], dtype=object)
    for place in np.ndindex(*parts.shape):
        parts[place] = array[place]
    return parts


def in_lanes(
    function: Callable, *example: Any, functions: Mapping[str, Callable] | None = None
) -> Callable[..., Any]:
    """A function of one run made a function of many, all its operations between whole rows of runs.

    It does what `jax.vmap` over last axes does, but small arrays of positions or matrices are gone: XLA sees
    rows of numbers, one for each run, and makes few and long loops of them.

    Args:
        function: of pytrees of small arrays.
        example: what the function takes, with the runs along a last axis of every array.
        functions: see `Lanes`.

    Returns:
        The same function of pytrees of components, with components in its result.
    """
    lanes = Lanes(jax.tree.leaves(example)[0].shape[-1], functions)
    single = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[:-1], leaf.dtype), example)
    jaxpr, result = jax.make_jaxpr(function, return_shape=True)(*single)
    constants = [apart(value) for value in jaxpr.consts]
    if jax.default_backend() == "cpu":
        constants = [_in_every_lane(lanes, part) for part in constants]
    inner = jaxpr.jaxpr
    opened = inner.replace(constvars=[], invars=[*inner.constvars, *inner.invars])

    def apply(*trees: Any) -> Any:
        results = evaluate(jex.ClosedJaxpr(opened, ()), lanes, *constants, *jax.tree.leaves(trees))
        return jax.tree.unflatten(jax.tree.structure(result), results)

    return apply


def _in_every_lane(lanes: Lanes, part: Components) -> Components:
    """Parameters of the function repeated for every run.

    LLVM gives up on vectors where a loop reads single numbers from memory that the loop might write to.
    """
    traced = [component for component in part.flat if not is_number(component)]
    if not traced:
        return part
    return lanes_apart(barrier(lanes.together(part, traced[0].dtype)))
