"""A traced function evaluated component by component, in any arithmetic.

JAX writes a function of small arrays as a list of operations on whole arrays. Here the list is gone through
with every array taken apart into its components, a NumPy array of objects: what moves data (slices,
transposes, gathers) merely moves objects, sums and products of matrices are written out, and what is left is
arithmetic between single components. What a component is, the `Arithmetic` says: an array that holds many
runs of a problem, an expression of another program.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.extend import core as jex

from poinsot.core import USERS
from poinsot.kernels._indexing import (
    filling,
    gathered,
    padded,
    reads_clamped,
    scattered,
    sliced,
    writes_clamped,
)
from poinsot.kernels._numbers import WORKED_OUT

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

    def whole(self, equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
        """Results of an operation that is not made of such ones: a loop, a barrier, a solution of equations.

        Args:
            equation: the operation with its parameters, a line of the trace.
            operands: taken apart, or arrays of the arithmetic's own that `whole` has returned before.
        """
        ...


class OutsideError(IndexError):
    """An index that is known, and lies outside its array."""


def evaluate(jaxpr: jex.ClosedJaxpr, arithmetic: Arithmetic, *operands: Any) -> list[Any]:
    """Results of a traced function at operands that are taken apart."""
    constants = [apart(value) for value in jaxpr.consts]
    return _evaluate(jaxpr.jaxpr, arithmetic, (*constants, *operands))


def in_components(jaxpr: jex.Jaxpr) -> bool:
    """Whether a traced function is made of operations on components alone, without loops and solvers."""
    others = ("dot_general", "iota", "hold")
    known = ELEMENTWISE.union(MOVES, INDEXED, SCATTERED, REDUCTIONS, CALLS, others)
    return all(
        equation.primitive.name in known and all(map(in_components, jex.jaxprs_in_params(equation.params)))
        for equation in jaxpr.eqns
    )


def apart(array: Any) -> Components:
    """An array as an array of objects: its numbers, or where it is traced its traced components."""
    if isinstance(array, jax.Array) and jnp.issubdtype(array.dtype, jax.dtypes.extended):
        raise TypeError("keys of random numbers are no arrays of numbers")
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


def _evaluate(jaxpr: jex.Jaxpr, arithmetic: Arithmetic, operands: Sequence[Any]) -> list[Any]:
    values: dict[Any, Any] = {}
    last = {atom: k for k, equation in enumerate(jaxpr.eqns) for atom in _variables(equation.invars)}
    last.update(dict.fromkeys(_variables(jaxpr.outvars), len(jaxpr.eqns)))

    places: dict[Any, list[Any]] = {}
    """Variables by the place in memory where they stand: views of an array stand where it does."""

    def given(atoms: Sequence[Any], k: int) -> list[Any]:
        """Operands of an operation; what anybody else still reads must not be overwritten by it."""
        parts = [apart(one.val) if isinstance(one, jex.Literal) else values[one] for one in atoms]
        for j, part in enumerate(parts):
            if not isinstance(part, np.ndarray):
                there = places[part.place]
                readers = sum(one in there for one in _variables(atoms))
                if readers > 1 or any(last.get(one, -1) > k for one in there):
                    parts[j] = part.borrowed()
        return parts

    def known(atoms: Sequence[Any], parts: Sequence[Any]) -> None:
        for atom, part in zip(atoms, parts, strict=True):
            values[atom] = part
            if not isinstance(part, np.ndarray):
                places.setdefault(part.place, []).append(atom)

    known((*jaxpr.constvars, *jaxpr.invars), operands)
    strictly = getattr(arithmetic, "strictly", nullcontext)
    for k, equation in enumerate(jaxpr.eqns):
        with strictly() if of_users(equation) else nullcontext():
            known(equation.outvars, apply_equation(equation, arithmetic, given(equation.invars, k)))
    return given(jaxpr.outvars, len(jaxpr.eqns))


def _variables(atoms) -> list:
    return [atom for atom in atoms if not isinstance(atom, jex.Literal)]


def of_users(equation: Any) -> bool:
    """Whether an operation, or what it was derived from, is part of a user's function."""
    return any(scope.name == USERS for scope in equation.source_info.name_stack.stack)


def apply_equation(equation: Any, arithmetic: Arithmetic, given: list[Any]) -> Sequence[Any]:
    """Results of one operation."""
    name = equation.primitive.name
    if name in CALLS and name not in getattr(arithmetic, "forms", ()):
        return _called(equation, arithmetic, given)
    if not all(isinstance(part, np.ndarray) for part in given):
        return arithmetic.whole(equation, given)
    if not equation.outvars:
        # Nothing taken apart: a stack of no arrays.
        return []
    if name in MOVES:
        return MOVES[name](given, equation.params, equation.outvars[0].aval.shape)
    replaces = name in INDEXED and scattering(equation) is None
    if replaces and _all_numbers(given[k] for k in INDEXED[name](len(given))):
        return [_moved(equation, given)]
    stepped = name in STEPPED and hasattr(arithmetic, "elementary")
    # Sums and products of numbers go the way of those of others: the same bits, and nothing is compiled.
    if stepped or name in REDUCTIONS or name == "dot_general" or not _all_numbers(given):
        return _computed(equation, arithmetic, given)
    return _worked_out(equation, arithmetic, given)


def _called(equation: Any, arithmetic: Arithmetic, given: list[Any]) -> Sequence[Any]:
    """Results of a function that the trace calls."""
    params = equation.params
    known = arithmetic.functions.get(params.get("name", ""))
    if known is not None:
        return _known(known, given, len(equation.outvars))
    outlined = getattr(arithmetic, "call", None)
    inner = next(params[key] for key in CALLS[equation.primitive.name] if key in params)
    if not isinstance(inner, jex.ClosedJaxpr):
        inner = jex.ClosedJaxpr(inner, ())
    if outlined is None:
        return evaluate(inner, arithmetic, *given)
    return outlined(inner, given, params.get("name", ""))


def _computed(equation: Any, arithmetic: Arithmetic, given: list[Components]) -> Sequence[Any]:
    """Results of an operation that is more than a move, at least one of its operands being no number."""
    name = equation.primitive.name
    if name in REDUCTIONS:
        return [_reduced(equation, arithmetic, given[0])]
    if name == "dot_general":
        return [_product(equation, arithmetic, given[0], given[1])]
    if scattering(equation) is not None and _all_numbers(given[1:2]):
        return [_scattered(equation, arithmetic, given)]
    if name in ELEMENTWISE:
        return _each(equation, arithmetic, given)
    return arithmetic.whole(equation, given)


def _all_numbers(parts) -> bool:
    return all(is_number(component) for part in parts for component in distinct(part))


def distinct(part: Components) -> Any:
    """Components to look at: one stands for all of an array that repeats a single one."""
    repeated = part.size > 0 and not any(part.strides)
    return (part[(0,) * part.ndim],) if repeated else part.flat


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
        return [operands[1 + min(max(int(operands[0]), 0), len(operands) - 2)]]
    if all(map(is_number, operands)):
        results = _worked_out(equation, arithmetic, [objects((), [one]) for one in operands])
        return [part[()] for part in results]
    results = arithmetic.apply(equation.primitive, equation.params, operands)
    return [
        atom.aval.dtype.type(one) if is_number(one) else one
        for atom, one in zip(equation.outvars, results, strict=True)
    ]


def _known(function: Callable, given: Sequence[Components], count: int) -> list[Components]:
    """A function of several results, of the components that stand in the same place."""
    rows = [function(*operands) for operands in zip(*(part.flat for part in given), strict=True)]
    return [objects(given[0].shape, [row[k] for row in rows]) for k in range(count)]


def _worked_out(equation: Any, arithmetic: Arithmetic, given: list[Components]) -> list[Components]:
    """An operation on plain numbers, done at once."""
    numbers = [
        np.asarray(part.tolist(), dtype=atom.aval.dtype).reshape(part.shape)
        for part, atom in zip(given, equation.invars, strict=True)
    ]
    known = WORKED_OUT.get(equation.primitive.name)
    if known is not None:
        with np.errstate(all="ignore"):
            return [apart(known(equation.params, *numbers))]
    function = getattr(arithmetic, "elementary", {}).get(equation.primitive.name)
    if function is not None:
        return _known(function, np.broadcast_arrays(*given), len(equation.outvars))
    with jax.ensure_compile_time_eval():
        results = equation.primitive.bind(*numbers, **equation.params)
    return [apart(one) for one in (results if equation.primitive.multiple_results else [results])]


def combine(primitive: jex.Primitive, arithmetic: Arithmetic, a: Any, b: Any) -> Any:
    """An operation on two components."""
    if is_number(a) and is_number(b):
        with np.errstate(all="ignore"):
            return np.asarray(WORKED_OUT[primitive.name]({}, np.asarray(a), np.asarray(b)))[()]
    return arithmetic.apply(primitive, {}, (a, b))[0]


def total(primitive: jex.Primitive, arithmetic: Arithmetic, components: Sequence[Any]) -> Any:
    """A sum, a product, a maximum of at least one component.

    Sums and products go from the first to the last. What does not depend on the order goes by pairs of
    pairs: a processor finds the maximum of eight in the time of three comparisons.
    """
    if primitive not in (lax.add_p, lax.mul_p) and len(components) > 2:
        half = len(components) // 2
        parts = components[:half], components[half:]
        return combine(primitive, arithmetic, *(total(primitive, arithmetic, part) for part in parts))
    result = components[0]
    for component in components[1:]:
        result = combine(primitive, arithmetic, result, component)
    return result


def _reduced(equation: Any, arithmetic: Arithmetic, array: Components) -> Components:
    primitive, axes = REDUCTIONS[equation.primitive.name], equation.params["axes"]
    dtype = equation.outvars[0].aval.dtype
    kept = [axis for axis in range(array.ndim) if axis not in axes]
    shape = tuple(array.shape[axis] for axis in kept)
    count = math.prod(array.shape[axis] for axis in axes)
    rows = array.transpose(*kept, *axes).reshape(*shape, count)
    if count == 0:
        return objects(shape, [dtype.type(NOTHING[primitive](dtype))] * math.prod(shape))
    return objects(shape, [total(primitive, arithmetic, list(rows[place])) for place in np.ndindex(*shape)])


def _range(dtype: np.dtype) -> tuple[Any, Any]:
    """The least and the largest number of a type."""
    if dtype.kind == "b":
        return False, True
    return (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)


def _product(equation: Any, arithmetic: Arithmetic, a: Components, b: Components) -> Components:
    """Products of matrices and tensors, written out."""
    (sum_a, sum_b), (batch_a, batch_b) = equation.params["dimension_numbers"]
    nothing = equation.outvars[0].aval.dtype.type(0)
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
            terms = [combine(lax.mul_p, arithmetic, x, y) for x, y in zip(row, column, strict=True)]
            entries.append(total(lax.add_p, arithmetic, terms) if terms else nothing)
    return objects((*batch, *rows, *columns), entries)


def _moved(equation: Any, given: list[Components]) -> Components:
    """Data moved by indices that are plain numbers."""
    name, params, array = equation.primitive.name, equation.params, given[0]
    shape = equation.outvars[0].aval.shape
    if name == "pad":
        return padded(array, given[1][()], params["padding_config"])
    if name == "gather":
        result, fill = np.empty(shape, dtype=object), filling(params, equation.outvars[0].aval.dtype)
        for window in gathered(array.shape, given[1], params, shape):
            for place, source in window.moves(clamped=reads_clamped(params)):
                result[place] = fill if source is None else array[source]
        return result
    if name == "dynamic_slice":
        sizes, starts = params["slice_sizes"], [int(part[()]) for part in given[1:]]
        lengths = zip(starts, array.shape, sizes, strict=True)
        # A start outside is moved in, as JAX does it.
        inside = [min(max(start, 0), length - size) for start, length, size in lengths]
        return array[tuple(slice(start, start + size) for start, size in zip(inside, sizes, strict=True))]
    result = np.array(array, dtype=object, copy=True)
    for place, target in _targets(equation, given):
        result[target] = given[1 if name == "dynamic_update_slice" else 2][place]
    return result


def _targets(equation: Any, given: list[Components]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Where updates stand and where they go, by indices that are plain numbers; but for those outside."""
    params, array = equation.params, given[0]
    if equation.primitive.name == "dynamic_update_slice":
        windows, clamped = [sliced(array.shape, [part[()] for part in given[2:]], given[1].shape)], True
    else:
        windows = scattered(array.shape, given[1], params, given[2].shape)
        clamped = writes_clamped(params)
    for window in windows:
        for place, target in window.moves(clamped=clamped):
            if target is not None:
                yield place, target


def scattering(equation: Any) -> Callable[[Arithmetic, Any, Any], Any] | None:
    """How an operation combines an element with its update; None where the update takes its place."""
    primitive, written = SCATTERED.get(equation.primitive.name), equation.params.get("update_jaxpr")
    if primitive is not None:
        return lambda arithmetic, old, new: combine(primitive, arithmetic, old, new)
    if equation.primitive.name != "scatter" or written is None:
        return None
    jaxpr = (
        written
        if isinstance(written, jex.ClosedJaxpr)
        else jex.ClosedJaxpr(written, equation.params["update_consts"])
    )
    return lambda arithmetic, *pair: evaluate(jaxpr, arithmetic, *(objects((), [one]) for one in pair))[0][()]


def _scattered(equation: Any, arithmetic: Arithmetic, given: list[Components]) -> Components:
    """Components combined with others by indices that are plain numbers."""
    result = np.array(given[0], dtype=object, copy=True)
    combination = scattering(equation)
    assert combination is not None
    for place, target in _targets(equation, given):
        result[target] = combination(arithmetic, result[target], given[2][place])
    return result


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
    "tile": lambda given, params, shape: [np.tile(given[0], params["reps"])],
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
    "jit": ("jaxpr",),
    "pjit": ("jaxpr",),
    "closed_call": ("call_jaxpr",),
    "core_call": ("call_jaxpr",),
    "remat2": ("jaxpr",),
    "checkpoint": ("jaxpr",),
    "custom_jvp_call": ("call_jaxpr",),
    "custom_vjp_call": ("call_jaxpr", "fun_jaxpr"),
    "abreast": ("jaxpr",),
}
"""Operations that are functions, and where their traces stand, in one version of JAX or another."""

STEPPED = ("scan", "while", "cond", "custom_linear_solve")
"""Operations with programs of their own. An arithmetic with elementary functions of its own goes through them
even where all operands are numbers."""

REDUCTIONS = {
    "reduce_sum": lax.add_p,
    "reduce_prod": lax.mul_p,
    "reduce_max": lax.max_p,
    "reduce_min": lax.min_p,
    "reduce_and": lax.and_p,
    "reduce_or": lax.or_p,
}

NOTHING: dict[jex.Primitive, Callable[[np.dtype], Any]] = {
    lax.add_p: lambda dtype: 0,
    lax.mul_p: lambda dtype: 1,
    lax.max_p: lambda dtype: _range(dtype)[0],
    lax.min_p: lambda dtype: _range(dtype)[1],
    lax.and_p: lambda dtype: True if dtype.kind == "b" else -1,
    lax.or_p: lambda dtype: 0,
}
"""What a reduction of no elements of a type is."""

SCATTERED = {
    "scatter-add": lax.add_p,
    "scatter-mul": lax.mul_p,
    "scatter-min": lax.min_p,
    "scatter-max": lax.max_p,
}
"""Operations that combine updates with elements of an array, by indices."""

ELEMENTWISE = frozenset(
    "abs acos acosh add add_any and asin asinh atan atan2 atanh cbrt ceil clamp convert_element_type cos "
    "cosh div eq erf exp exp2 expm1 floor ge gt integer_pow is_finite le log log1p logistic lt max min mul "
    "ne neg nextafter not or pow rem round rsqrt select_n shift_left shift_right_arithmetic "
    "shift_right_logical sign sin sinh sqrt square sub tan tanh xor bitcast_convert_type".split()
)
"""Operations that act on each component by itself."""
