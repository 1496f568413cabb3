"""Factorisations and solutions of matrices: what LAPACK does for XLA.

Small ones are written out, larger ones go in loops over memory, whose code does not grow with them.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from poinsot.kernels._components import evaluate, is_number
from poinsot.kernels.native._emitter import SHORTCUTS, Emitter, whole
from poinsot.kernels.native._ir import NotNative

WRITTEN = 15
"""Rows up to which the code of elimination is written out: beyond, loops are as fast and compile at once."""
LARGEST = 24
"""Rows of a matrix beyond which what is always written out grows too long."""
LARGEST_LOOPED = 64
"""Rows beyond which LAPACK is faster than loops."""


def factorised(a):
    """LU factors of a matrix with partial pivoting, in one matrix, the pivots and the permutation."""
    return factorised_written(a) if a.shape[0] <= WRITTEN else factorised_in_loops(a)


def factorised_written(a):
    """The same, written out."""
    n = a.shape[0]
    pivots, order, places = [], jnp.arange(n, dtype=jnp.int32), jnp.arange(n)
    for k in range(n):
        row = k + jnp.argmax(jnp.abs(a[k:, k]))
        pivots.append(row.astype(jnp.int32))
        here, there = a[k], a[row]
        a = jnp.where((places == row)[:, None], here[None], a).at[k].set(there)
        first, other = order[k], order[row]
        order = jnp.where(places == row, first, order).at[k].set(other)
        below = a[k + 1 :, k] / _divisor(a[k, k])
        a = a.at[k + 1 :, k].set(below)
        a = a.at[k + 1 :, k + 1 :].add(-below[:, None] * a[k, k + 1 :][None])
    return a, jnp.stack(pivots), order


def factorised_in_loops(a):
    """The same with the same bits, row by row in loops."""
    n = a.shape[0]
    places = jnp.arange(n)

    def eliminated(k, given):
        a, pivots, order = given
        row = jnp.argmax(jnp.where(places >= k, jnp.abs(a[:, k]), -1.0))
        here, pivot, first, other = a[k], a[row], order[k], order[row]
        a, order = a.at[row].set(here).at[k].set(pivot), order.at[row].set(first).at[k].set(other)
        right, divisor = jnp.where(places > k, pivot, 0.0), _divisor(pivot[k])

        def below(i, a):
            factor = a[i, k] / divisor
            return a.at[i].set((a[i] - factor * right).at[k].set(factor))

        return lax.fori_loop(k + 1, n, below, a), pivots.at[k].set(row.astype(jnp.int32)), order

    start = a, jnp.zeros(n, dtype=jnp.int32), jnp.arange(n, dtype=jnp.int32)
    return lax.fori_loop(0, n, eliminated, start)


def _divisor(pivot):
    """What a column is divided by: one of zeros stays as it is, as LAPACK has it."""
    return jnp.where(pivot == 0.0, 1.0, pivot)


def solved(a, b, turned: bool, left: bool, lower: bool, unit: bool):
    """Solution of a triangular system with several right-hand sides.

    Args:
        a: the matrix.
        b: right-hand sides.
        turned: whether the matrix is transposed to begin with.
        left: whether the matrix stands on the left, as in $a x = b$; else $x a = b$, or $a^T x^T = b^T$.
        lower: whether the matrix is a lower triangle then.
        unit: whether its diagonal is one.
    """
    a, b = a.T if turned else a, b if left else b.T
    substitute = substituted if a.shape[0] <= WRITTEN else substituted_in_loops
    x = substitute(a, b, lower, unit)
    return x if left else x.T


def substituted(a, b, lower: bool, unit: bool):
    """Solution of a triangular system, written out."""
    n = a.shape[0]
    x: list[Any] = [None] * n
    for k in range(n) if lower else reversed(range(n)):
        known = range(k) if lower else range(k + 1, n)
        rest = b[k]
        for j in known:
            rest = rest - a[k, j] * x[j]
        x[k] = rest if unit else rest / a[k, k]
    return jnp.stack(x)


def substituted_in_loops(a, b, lower: bool, unit: bool):
    """The same in loops, each unknown taken out of all later equations as soon as it is known."""
    n = a.shape[0]
    places, columns = jnp.arange(n), a.T

    def known(step, x):
        k = step if lower else n - 1 - step
        column = columns[k]
        own = x[k] if unit else x[k] / column[k]
        later = jnp.where(places > k if lower else places < k, column, 0.0)
        return x.at[k].set(own) - later[:, None] * own[None]

    return lax.fori_loop(0, n, known, b)


def root(a):
    """The lower triangular Cholesky factor, NaN for a matrix that is not positive definite."""
    n, definite = a.shape[0], jnp.bool_(True)
    rows: list[list[Any]] = [[jnp.zeros(())] * n for _ in range(n)]
    for j in range(n):
        rest = a[j, j]
        for k in range(j):
            rest = rest - rows[j][k] * rows[j][k]
        definite &= rest > 0.0
        rows[j][j] = jnp.sqrt(rest)
        for i in range(j + 1, n):
            rest = a[i, j]
            for k in range(j):
                rest = rest - rows[i][k] * rows[j][k]
            rows[i][j] = rest / rows[j][j]
    return jnp.where(definite | ~np.tri(n, dtype=bool), jnp.stack([jnp.stack(row) for row in rows]), jnp.nan)


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


def _evaluated(
    emitter: Emitter, function: Callable, operands: Sequence[Any], *static: bool, most: int = LARGEST
) -> list[Any]:
    if any(len(part.shape) != 2 or max(part.shape) > most for part in operands):
        sizes = " and ".join(str(part.shape) for part in operands)
        raise NotNative(f"the trace factorises or solves matrices of size {sizes}; {most} is the most")
    jaxpr = _traced(function, tuple(part.shape for part in operands), *static)
    return evaluate(jaxpr, emitter, *operands)


def _inverse(emitter: Emitter, jaxpr: Any, given: Sequence[Any]) -> Sequence[Any]:
    """An inverse, whose loop over memory would take many times as long."""
    (a,) = map(emitter.apart, given)
    return evaluate(jaxpr, emitter, a) if a.shape[0] > LARGEST else _evaluated(emitter, inverted, [a])


SHORTCUTS["poinsot_inverse"] = _inverse


@whole("lu")
def _lu(emitter: Emitter, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    a = operands[0]
    if a.shape[0] != a.shape[-1]:
        raise NotNative("the trace factorises a matrix that is not square")
    return _evaluated(emitter, factorised, [a], most=LARGEST_LOOPED)


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
    params = equation.params
    turned = params["transpose_a"] == params["left_side"]
    static = turned, params["left_side"], params["lower"] != turned, params["unit_diagonal"]
    return _evaluated(emitter, solved, operands, *static, most=LARGEST_LOOPED)
