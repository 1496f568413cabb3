"""Factorisations and solutions of small matrices, written out: what LAPACK does for XLA."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.kernels._components import evaluate, is_number
from poinsot.kernels.native._emitter import SHORTCUTS, Emitter, whole
from poinsot.kernels.native._ir import NotNative

LARGEST = 24
"""Rows of a matrix beyond which the code of its factorisation grows too long."""


def factorised(a):
    """LU factors of a matrix with partial pivoting, in one matrix, the pivots and the permutation."""
    n = a.shape[0]
    pivots, order, places = [], jnp.arange(n, dtype=jnp.int32), jnp.arange(n)
    for k in range(n):
        row = k + jnp.argmax(jnp.abs(a[k:, k]))
        pivots.append(row.astype(jnp.int32))
        here, there = a[k], a[row]
        a = jnp.where((places == row)[:, None], here[None], a).at[k].set(there)
        first, other = order[k], order[row]
        order = jnp.where(places == row, first, order).at[k].set(other)
        below = a[k + 1 :, k] / a[k, k]
        a = a.at[k + 1 :, k].set(below)
        a = a.at[k + 1 :, k + 1 :].add(-below[:, None] * a[k, k + 1 :][None])
    return a, jnp.stack(pivots), order


def substituted(a, b, lower: bool, unit: bool):
    """Solution of a triangular system with several right-hand sides."""
    n = a.shape[0]
    x: list[Any] = [None] * n
    for k in range(n) if lower else reversed(range(n)):
        known = range(k) if lower else range(k + 1, n)
        rest = b[k]
        for j in known:
            rest = rest - a[k, j] * x[j]
        x[k] = rest if unit else rest / a[k, k]
    return jnp.stack(x)


def root(a):
    """The lower triangular Cholesky factor."""
    n = a.shape[0]
    rows: list[list[Any]] = [[jnp.zeros(())] * n for _ in range(n)]
    for j in range(n):
        rest = a[j, j]
        for k in range(j):
            rest = rest - rows[j][k] * rows[j][k]
        rows[j][j] = jnp.sqrt(rest)
        for i in range(j + 1, n):
            rest = a[i, j]
            for k in range(j):
                rest = rest - rows[i][k] * rows[j][k]
            rows[i][j] = rest / rows[j][j]
    return jnp.stack([jnp.stack(row) for row in rows])


def inverted(a):
    """The inverse by Gauss-Jordan elimination with partial pivoting; columns that are done are left out."""
    n = a.shape[0]
    both = jnp.concatenate([a, jnp.eye(n)], axis=1)
    for k in range(n):
        low = both[k:]
        row = jnp.argmax(jnp.abs(low[:, 0]))
        pivot = low[row]
        low = jnp.where((jnp.arange(n - k) == row)[:, None], low[0][None], low)
        both = jnp.concatenate([both[:k], low])
        scaled = pivot[1:] * (1.0 / pivot[0])
        both = (both[:, 1:] - both[:, :1] * scaled[None]).at[k].set(scaled)
    return both


@cache
def _traced(function: Callable, shapes: tuple[tuple[int, ...], ...], *static: bool) -> Any:
    arrays = [jax.ShapeDtypeStruct(shape, np.float64) for shape in shapes]
    return jax.make_jaxpr(lambda *arrays: function(*arrays, *static))(*arrays)


def _evaluated(emitter: Emitter, function: Callable, operands: Sequence[Any], *static: bool) -> list[Any]:
    if any(part.ndim != 2 or max(part.shape) > LARGEST for part in operands):
        sizes = " and ".join(str(part.shape) for part in operands)
        raise NotNative(f"the trace factorises or solves matrices of size {sizes}; {LARGEST} is the most")
    jaxpr = _traced(function, tuple(part.shape for part in operands), *static)
    return evaluate(jaxpr, emitter, *operands)


def _inverse(emitter: Emitter, jaxpr: Any, given: Sequence[Any]) -> Sequence[Any]:
    """An inverse, whose loop over memory would take many times as long."""
    (a,) = map(emitter.apart, given)
    return evaluate(jaxpr, emitter, a) if a.shape[0] > LARGEST else _evaluated(emitter, inverted, [a])


SHORTCUTS["poinsot_inverse"] = _inverse


@whole("lu")
def _lu(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    a = emitter.apart(operands[0])
    if a.shape[0] != a.shape[-1]:
        raise NotNative("the trace factorises a matrix that is not square")
    return _evaluated(emitter, factorised, [a])


@whole("sort")
def _sort(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """Rows of few integers in order, as the inverse of a permutation needs it, by exchanges of neighbours."""
    rows, ops = [np.array(emitter.apart(part), dtype=object) for part in operands], emitter.ops
    integers = np.issubdtype(equation.invars[0].aval.dtype, np.integer)
    if not integers or rows[0].ndim != 1 or rows[0].size > LARGEST or equation.params["num_keys"] != 1:
        raise NotNative("the trace contains 'sort', which has no native form but for a few integers")
    for end in reversed(range(1, rows[0].size)):
        for k in range(end):
            keys = rows[0][k], rows[0][k + 1]
            known = all(map(is_number, keys))
            wrong = np.bool_(keys[0] > keys[1]) if known else ops.compare("", "sgt", *keys)
            for row in rows:
                low, high = row[k], row[k + 1]
                row[k], row[k + 1] = ops.select(wrong, high, low), ops.select(wrong, low, high)
    return rows


@whole("cholesky")
def _cholesky(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    return _evaluated(emitter, root, [emitter.apart(operands[0])])


@whole("triangular_solve")
def _triangular_solve(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    a, b = map(emitter.apart, operands)
    params = equation.params
    lower = params["lower"]
    if params["transpose_a"]:
        a, lower = a.T, not lower
    if not params["left_side"]:
        # x a = b is the same as a^T x^T = b^T.
        (x,) = _evaluated(emitter, substituted, [a.T, b.T], not lower, params["unit_diagonal"])
        return [x.T]
    return _evaluated(emitter, substituted, [a, b], lower, params["unit_diagonal"])
