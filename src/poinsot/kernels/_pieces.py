"""Keeping XLA from compiling a long loop as one function."""

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jaxtyping import Array


def in_pieces(y: Array) -> Array:
    """The same numbers; the body of a loop that they go through is compiled in pieces, on a CPU.

    There XLA writes a loop as one function, with the loops in it, unless the body holds an operation that
    it calls, such as a sort. LLVM takes minutes for a function of many loops: several times as long as for
    these one by one, and the more the longer it is. So a sort decides on these numbers, always alike.
    Derivatives forward and backward go through the same.
    """
    return pieces_p.bind(y) if jax.default_backend() == "cpu" and y.size > 1 else y


pieces_p = Primitive("in_pieces")
pieces_p.def_impl(lambda y: y)
pieces_p.def_abstract_eval(lambda y: y)


def _sorted_first(y: Array) -> Array:
    """What a CPU does of it."""
    low, high = jnp.sort(y.reshape(-1)[:2])
    return jnp.where(low > high, jnp.zeros_like(y), y)


def _of_tangent(tangent):
    return tangent if type(tangent) is ad.Zero else pieces_p.bind(tangent)


mlir.register_lowering(pieces_p, mlir.lower_fun(lambda y: y, multiple_results=False))
mlir.register_lowering(pieces_p, mlir.lower_fun(_sorted_first, multiple_results=False), platform="cpu")
ad.primitive_jvps[pieces_p] = lambda values, tangents: (pieces_p.bind(*values), _of_tangent(*tangents))
ad.primitive_transposes[pieces_p] = lambda cotangent, y: [_of_tangent(cotangent)]
batching.primitive_batchers[pieces_p] = lambda values, axes: (pieces_p.bind(*values), *axes)
