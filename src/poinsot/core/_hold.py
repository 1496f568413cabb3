"""Keeping XLA from computing one thing many times."""

from collections.abc import Sequence
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jaxtyping import Array

Tree = TypeVar("Tree")

LONG = 8
"""Length of rows, a vector register of doubles, from which on they are worth a place in memory."""


def hold(values: Tree) -> Tree:
    """The same values, computed once before they are used.

    On a CPU, XLA puts the computation of a value into each of its uses, and in a chain of stages these
    multiply. On a GPU it does better without being told: there this does nothing.

    A `barrier` does not always keep it from that, since XLA takes these away before it decides what to
    compute together. A conditional does: what goes into it and what comes out lies in memory. So on a CPU
    rows go through one whose condition always holds, which XLA does not see; few numbers get a barrier.
    """
    if jax.default_backend() != "cpu":
        return values
    leaves, tree = jax.tree.flatten(values)
    return jax.tree.unflatten(tree, hold_p.bind(*leaves))


def barrier(values: Tree) -> Tree:
    """The same values, which XLA does not rewrite together with what is made of them, on a CPU.

    That is often enough to have it compute them once, such as those of an array put together of rows.
    """
    return lax.optimization_barrier(values) if jax.default_backend() == "cpu" else values


def held(components: Sequence[Array]) -> tuple[Array, ...]:
    """`hold` of equal components, such as those of a vector: on a CPU as one array, computed in one go."""
    return tuple(hold(jnp.stack(components))) if jax.default_backend() == "cpu" else tuple(components)


hold_p = Primitive("hold")
hold_p.multiple_results = True
hold_p.def_impl(lambda *values: list(values))
hold_p.def_abstract_eval(lambda *values: list(values))


def _through_memory(*values: Array) -> Sequence[Array]:
    """What a CPU does of it."""
    long = [value for value in values if value.ndim and value.shape[-1] >= LONG and value.size]
    long = [value for value in long if jnp.issubdtype(value.dtype, jnp.floating)]
    if not long:
        return barrier(values)
    one = long[0].reshape(-1)[0]
    never = one < -jnp.abs(one)
    return lax.cond(never, lambda values: [jnp.zeros_like(value) for value in values], list, values)


def _of_tangents(tangents: Sequence) -> Sequence:
    """Held as well, but for those that are known to be zero."""
    held = iter(hold_p.bind(*(tangent for tangent in tangents if type(tangent) is not ad.Zero)))
    return [tangent if type(tangent) is ad.Zero else next(held) for tangent in tangents]


mlir.register_lowering(hold_p, mlir.lower_fun(lambda *values: list(values), multiple_results=True))
mlir.register_lowering(hold_p, mlir.lower_fun(_through_memory, multiple_results=True), platform="cpu")
ad.primitive_jvps[hold_p] = lambda values, tangents: (hold_p.bind(*values), _of_tangents(tangents))
ad.primitive_transposes[hold_p] = lambda cotangents, *values: _of_tangents(cotangents)
batching.primitive_batchers[hold_p] = lambda values, axes: (hold_p.bind(*values), axes)
