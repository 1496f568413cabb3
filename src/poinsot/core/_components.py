"""A traced function evaluated component by component, in any arithmetic.

JAX writes a function of small arrays as a list of operations on whole arrays. Here the list is gone through
with every array taken apart into its components, a NumPy array of objects: what moves data (slices,
transposes, gathers) merely moves objects, sums and products of matrices are written out, and what is left is
arithmetic between single components. What a component is, the `Arithmetic` says: an array that holds many
runs of a problem, an expression of another program.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import jax
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.extend import core as jex

Components = np.ndarray
"""An array of objects, one for each component."""


class Arithmetic(Protocol):
    """What can be done with components that are not plain numbers."""

    @property
    def functions(self) -> Mapping[str, Callable]:
        """Compiled functions known by name, of single components: their traces are not gone through."""
        ...

    def apply(self, primitive: jex.Primitive, params: dict, operands: Sequence[Any]) -> Sequence[Any]:
        """An operation on single components, and its results."""
        ...

    def whole(
        self, primitive: jex.Primitive, params: dict, operands: Sequence[Components], dtypes: Sequence
    ) -> Sequence[Components]:
        """An operation that is not made of such ones: a loop, a barrier, the solution of equations.

        Args:
            primitive: the operation.
            params: what JAX gives it beside operands.
            operands: taken apart.
            dtypes: of the operands, which plain numbers do not show.
        """
        ...


def evaluate(jaxpr: jex.ClosedJaxpr, arithmetic: Arithmetic, *operands: Components) -> list[Components]:
    """Results of a traced function at operands that are taken apart."""
    constants = [apart(value) for value in jaxpr.consts]
    return _evaluate(jaxpr.jaxpr, arithmetic, (*constants, *operands))


def in_components(jaxpr: jex.Jaxpr) -> bool:
    """Whether a traced function is made of operations on components alone, without loops and solvers."""
    others = ("dot_general", "iota", "hold", "scatter-add")
    known = ELEMENTWISE.union(MOVES, INDEXED, REDUCTIONS, CALLS, others)
    return all(
        equation.primitive.name in known and all(map(in_components, jex.jaxprs_in_params(equation.params)))
        for equation in jaxpr.eqns
    )


def apart(array: Any) -> Components:
    """An array as an array of objects: its numbers, or where it is traced its traced components."""
    if not isinstance(array, Tracer):
        array = np.asarray(array)
    shape = np.shape(array)
    return objects(shape, [array[place] for place in np.ndindex(*shape)])


def is_number(component: Any) -> bool:
    """Whether a component is a plain number, known while the function is gone through."""
    return isinstance(component, (np.generic, np.ndarray, int, float))


def objects(shape: tuple[int, ...], components: Sequence[Any]) -> Components:
    """An array of objects of a shape."""
    flat = np.empty(len(components), dtype=object)
    for place, component in enumerate(components):
        flat[place] = component
    return flat.reshape(shape)


def _evaluate(jaxpr: jex.Jaxpr, arithmetic: Arithmetic, operands: Sequence[Components]) -> list[Components]:
    values = dict(zip((*jaxpr.constvars, *jaxpr.invars), operands, strict=True))

    def read(atom) -> Components:
        return apart(atom.val) if isinstance(atom, jex.Literal) else values[atom]

    for equation in jaxpr.eqns:
        results = _apply(equation, arithmetic, [read(atom) for atom in equation.invars])
        values.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _apply(equation: Any, arithmetic: Arithmetic, given: list[Components]) -> Sequence[Components]:
    """Results of one operation."""
    primitive, params = equation.primitive, equation.params
    name = primitive.name
    if name in CALLS:
        known = arithmetic.functions.get(params.get("name", ""))
        if known is not None:
            return _known(known, given, len(equation.outvars))
        inner = params[CALLS[name]]
        if isinstance(inner, jex.ClosedJaxpr):
            return evaluate(inner, arithmetic, *given)
        return _evaluate(inner, arithmetic, given)
    if _all_numbers(given):
        return _worked_out(equation, given)
    if name in MOVES:
        return MOVES[name](given, params, equation.outvars[0].aval.shape)
    if name in REDUCTIONS:
        return [_reduced(REDUCTIONS[name], arithmetic, given[0], params["axes"])]
    if name == "dot_general":
        return [_product(arithmetic, given[0], given[1], params["dimension_numbers"])]
    if name in INDEXED and _all_numbers(given[k] for k in INDEXED[name](len(given))):
        return [_moved(equation, given)]
    if name == "scatter-add" and _all_numbers(given[1:2]):
        return [_scattered_sum(equation, arithmetic, given)]
    if name in ELEMENTWISE:
        return _each(equation, arithmetic, given)
    return arithmetic.whole(primitive, params, given, [atom.aval.dtype for atom in equation.invars])


def _all_numbers(parts) -> bool:
    return all(is_number(component) for part in parts for component in part.flat)


def _each(equation: Any, arithmetic: Arithmetic, given: list[Components]) -> list[Components]:
    """One operation on every set of components that stand in the same place."""
    shape = equation.outvars[0].aval.shape
    # A condition or a bound of `clamp` may be a single one for all places.
    spread = [np.broadcast_to(part, shape).reshape(-1) for part in given]
    rows = [_single(equation, arithmetic, operands) for operands in zip(*spread, strict=True)]
    columns = zip(*rows, strict=True) if rows else [() for _ in equation.outvars]
    return [objects(shape, column) for column in columns]


def _single(equation: Any, arithmetic: Arithmetic, operands: Sequence[Any]) -> Sequence[Any]:
    if equation.primitive is lax.select_n_p and is_number(operands[0]):
        return [operands[1 + int(operands[0])]]
    if all(map(is_number, operands)):
        return [part[()] for part in _worked_out(equation, [objects((), [one]) for one in operands])]
    return arithmetic.apply(equation.primitive, equation.params, operands)


def _known(function: Callable, given: list[Components], count: int) -> list[Components]:
    """A function of several results, of the components that stand in the same place."""
    rows = [function(*operands) for operands in zip(*(part.flat for part in given), strict=True)]
    return [objects(given[0].shape, [row[k] for row in rows]) for k in range(count)]


def _worked_out(equation: Any, given: list[Components]) -> list[Components]:
    """An operation on plain numbers, done at once."""
    numbers = [
        np.asarray(part.tolist(), dtype=atom.aval.dtype).reshape(part.shape)
        for part, atom in zip(given, equation.invars, strict=True)
    ]
    with jax.ensure_compile_time_eval():
        results = equation.primitive.bind(*numbers, **equation.params)
    return [apart(one) for one in (results if equation.primitive.multiple_results else [results])]


def _combine(primitive: jex.Primitive, arithmetic: Arithmetic, a: Any, b: Any) -> Any:
    """An operation on two components."""
    if is_number(a) and is_number(b):
        with jax.ensure_compile_time_eval():
            return np.asarray(primitive.bind(np.asarray(a), np.asarray(b)))[()]
    return arithmetic.apply(primitive, {}, (a, b))[0]


def _total(primitive: jex.Primitive, arithmetic: Arithmetic, components: Sequence[Any]) -> Any:
    """A sum, a product, a maximum of at least one component, from the first to the last."""
    total = components[0]
    for component in components[1:]:
        total = _combine(primitive, arithmetic, total, component)
    return total


def _reduced(primitive: jex.Primitive, arithmetic: Arithmetic, array: Components, axes) -> Components:
    kept = [axis for axis in range(array.ndim) if axis not in axes]
    shape = tuple(array.shape[axis] for axis in kept)
    count = math.prod(array.shape[axis] for axis in axes)
    rows = array.transpose(*kept, *axes).reshape(*shape, count)
    if count == 0:
        return objects(shape, [np.float64(EMPTY[primitive])] * math.prod(shape))
    return objects(shape, [_total(primitive, arithmetic, list(rows[place])) for place in np.ndindex(*shape)])


def _product(arithmetic: Arithmetic, a: Components, b: Components, dimension_numbers) -> Components:
    """Products of matrices and tensors, written out."""
    (sum_a, sum_b), (batch_a, batch_b) = dimension_numbers
    free_a = [axis for axis in range(a.ndim) if axis not in (*sum_a, *batch_a)]
    free_b = [axis for axis in range(b.ndim) if axis not in (*sum_b, *batch_b)]
    batch = tuple(a.shape[axis] for axis in batch_a)
    rows, columns = tuple(a.shape[axis] for axis in free_a), tuple(b.shape[axis] for axis in free_b)
    summed = math.prod(a.shape[axis] for axis in sum_a)
    left = a.transpose(*batch_a, *free_a, *sum_a).reshape(*batch, math.prod(rows), summed)
    right = b.transpose(*batch_b, *free_b, *sum_b).reshape(*batch, math.prod(columns), summed)
    entries = []
    for place in np.ndindex(*batch):
        for row, column in itertools.product(left[place], right[place]):
            terms = [_combine(lax.mul_p, arithmetic, x, y) for x, y in zip(row, column, strict=True)]
            entries.append(_total(lax.add_p, arithmetic, terms) if terms else np.float64(0.0))
    return objects((*batch, *rows, *columns), entries)


def _moved(equation: Any, given: list[Components]) -> Components:
    """Data moved by indices that are plain numbers: the operation itself moves their places."""
    indices = INDEXED[equation.primitive.name](len(given))
    pool: list[Any] = []
    places = []
    for k, (part, atom) in enumerate(zip(given, equation.invars, strict=True)):
        if k in indices:
            places.append(np.asarray(part.tolist(), dtype=atom.aval.dtype).reshape(part.shape))
        else:
            places.append(np.arange(len(pool), len(pool) + part.size).reshape(part.shape))
            pool += list(part.flat)
    with jax.ensure_compile_time_eval():
        result = np.asarray(equation.primitive.bind(*places, **equation.params))
    if np.any((result < 0) | (result >= len(pool))):
        raise IndexError(f"{equation.primitive.name}: an index outside the array")
    return objects(result.shape, [pool[place] for place in result.flat])


def _scattered_sum(equation: Any, arithmetic: Arithmetic, given: list[Components]) -> Components:
    """Components added to others by indices that are plain numbers: the operation itself says where."""
    array, indices, updates = given
    places = np.asarray(indices.tolist(), dtype=equation.invars[1].aval.dtype).reshape(indices.shape)
    units = np.eye(updates.size).reshape(updates.size, *updates.shape)
    with jax.ensure_compile_time_eval():
        targets = [
            np.flatnonzero(equation.primitive.bind(np.zeros(array.shape), places, unit, **equation.params))
            for unit in units
        ]
    sums = list(array.flat)
    for update, (target,) in zip(updates.flat, targets, strict=True):
        sums[target] = _combine(lax.add_p, arithmetic, sums[target], update)
    return objects(array.shape, sums)


def _broadcast(given, params, shape) -> list[Components]:
    (array,) = given[:1]
    inserted = [1] * len(shape)
    for axis, place in enumerate(params["broadcast_dimensions"]):
        inserted[place] = array.shape[axis]
    return [np.broadcast_to(array.reshape(inserted), shape)]


def _sliced(given, params, shape) -> list[Components]:
    strides = params["strides"] or (None,) * given[0].ndim
    cuts = zip(params["start_indices"], params["limit_indices"], strides, strict=True)
    return [given[0][tuple(slice(*cut) for cut in cuts)]]


def _unstacked(given, params, shape) -> list[Components]:
    axis = params["axis"]
    return [part.reshape(shape) for part in np.split(given[0], given[0].shape[axis], axis=axis)]


def _split(given, params, shape) -> list[Components]:
    return np.split(given[0], np.cumsum(params["sizes"])[:-1], axis=params["axis"])


Move = Callable[[list[Components], dict, tuple[int, ...]], list[Components]]

MOVES: dict[str, Move] = {
    "broadcast_in_dim": _broadcast,
    "slice": _sliced,
    "split": _split,
    "reshape": lambda given, params, shape: [given[0].reshape(shape)],
    "squeeze": lambda given, params, shape: [given[0].reshape(shape)],
    "expand_dims": lambda given, params, shape: [given[0].reshape(shape)],
    "transpose": lambda given, params, shape: [given[0].transpose(params["permutation"])],
    "rev": lambda given, params, shape: [np.flip(given[0], params["dimensions"])],
    "concatenate": lambda given, params, shape: [np.concatenate(given, axis=params["dimension"])],
    "stack": lambda given, params, shape: [np.stack(given, axis=params["axis"])],
    "unstack": _unstacked,
    "copy": lambda given, params, shape: given,
    "copy_p": lambda given, params, shape: given,
    "stop_gradient": lambda given, params, shape: given,
}
"""Operations that only move data."""

INDEXED: dict[str, Callable[[int], range]] = {
    "pad": lambda count: range(0),
    "gather": lambda count: range(1, 2),
    "scatter": lambda count: range(1, 2),
    "dynamic_slice": lambda count: range(1, count),
    "dynamic_update_slice": lambda count: range(2, count),
}
"""Operations that move data by indices, and which of their operands are the indices."""

CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
}
"""Operations that are functions, and where their traces stand."""

REDUCTIONS = {
    "reduce_sum": lax.add_p,
    "reduce_prod": lax.mul_p,
    "reduce_max": lax.max_p,
    "reduce_min": lax.min_p,
    "reduce_and": lax.and_p,
    "reduce_or": lax.or_p,
}

EMPTY = {lax.add_p: 0.0, lax.mul_p: 1.0, lax.max_p: -np.inf, lax.min_p: np.inf, lax.and_p: 1, lax.or_p: 0}
"""What a reduction of nothing is."""

ELEMENTWISE = frozenset(
    "abs acos acosh add add_any and asin asinh atan atan2 atanh cbrt ceil clamp convert_element_type cos "
    "cosh div eq erf exp exp2 expm1 floor ge gt integer_pow is_finite le log log1p logistic lt max min mul "
    "ne neg nextafter not or pow rem round rsqrt select_n sign sin sinh sqrt square sub tan tanh xor".split()
)
"""Operations that act on each component by itself."""
