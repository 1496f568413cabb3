"""One function of many rows, which compiled code may take side by side."""

from collections.abc import Callable
from typing import Any

import jax
from jax.extend import core as jex
from jax.interpreters import ad, batching, mlir


def abreast(function: Callable, *rows: Any) -> Any:
    """Results of a function for each row of some arrays, stacked; `jax.vmap` of it in meaning.

    To XLA it is `jax.vmap`. A trace also holds the function of a single row: native code of one run puts rows
    into the lanes of a vector, where the function costs for all of them about what it does for one.

    Args:
        function: takes a row of each array; it may use other values of the trace, the same for all rows.
        rows: pytrees of arrays with one first axis in common.
    """
    leaves, structure = jax.tree.flatten(rows)
    count = len(leaves[0])
    single = [jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype) for leaf in leaves]

    def flat(*row):
        return function(*jax.tree.unflatten(structure, row))

    traced, shape = jax.make_jaxpr(flat, return_shape=True)(*single)
    row, shared = _without_constants(traced), traced.consts
    axes = (None,) * len(shared) + (0,) * len(leaves)
    all_rows = jax.vmap(jex.jaxpr_as_fun(row), in_axes=axes, axis_size=count)
    together = jax.make_jaxpr(all_rows)(*shared, *leaves)
    # What the rows share is an argument of theirs already.
    results = abreast_p.bind(*shared, *leaves, jaxpr=together, row=row, count=count)
    return jax.tree.unflatten(jax.tree.structure(shape), results)


def _without_constants(traced: jex.ClosedJaxpr) -> jex.ClosedJaxpr:
    """A trace that takes its constants, which may be values of the trace around it, as first arguments."""
    inner = traced.jaxpr
    return jex.ClosedJaxpr(inner.replace(constvars=(), invars=[*inner.constvars, *inner.invars]), ())


abreast_p = jex.Primitive("abreast")
abreast_p.multiple_results = True


def _all_rows(*operands: Any, jaxpr: jex.ClosedJaxpr, row: jex.ClosedJaxpr, count: int) -> list[Any]:
    return jex.jaxpr_as_fun(jaxpr)(*operands)


def _jvp(primals, tangents, **params):
    rates = tuple(map(ad.instantiate_zeros, tangents))
    return jax.jvp(lambda *given: _all_rows(*given, **params), tuple(primals), rates)


def _batched(operands, axes, **params):
    results = jax.vmap(lambda *given: _all_rows(*given, **params), in_axes=tuple(axes))(*operands)
    return results, [0] * len(results)


abreast_p.def_impl(_all_rows)
abreast_p.def_abstract_eval(lambda *operands, jaxpr, row, count: jaxpr.out_avals)
mlir.register_lowering(abreast_p, mlir.lower_fun(_all_rows, multiple_results=True))
ad.primitive_jvps[abreast_p] = _jvp
batching.primitive_batchers[abreast_p] = _batched
