"""Functions of few known numbers, worked out by NumPy: nothing is compiled for one call.

Called as it stands, each operation of such a function would be compiled by itself, for tens of milliseconds.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import jax
import numpy as np
from jax.core import Tracer
from jax.extend import core as jex

from poinsot.core import on_device, within_trace
from poinsot.kernels._compile_time import compilation
from poinsot.kernels._components import Components, apart, evaluate
from poinsot.kernels._once import QUICKLY
from poinsot.kernels._programs import jitted, traced

F = TypeVar("F", bound=Callable)

FEW = 4096
"""Numbers of the arguments up to which they are taken one by one."""


class _Numbers:
    """The arithmetic of plain numbers, all of them known."""

    functions: Mapping[str, Callable] = {}

    def __init__(self):
        self.elementary = {name: _one(function) for name, function in _ELEMENTARY.items()}

    def apply(self, primitive: jex.Primitive, params: dict, operands: Sequence[Any]) -> Sequence[Any]:
        """Never asked for: operations on numbers are worked out."""
        raise AssertionError(primitive)

    def whole(self, equation: Any, operands: Sequence[Any]) -> Sequence[Components]:
        """An operation with programs of its own: the branch that is taken, or a loop, which is compiled."""
        if equation.primitive.name == "cond":
            branches = equation.params["branches"]
            chosen = min(max(int(operands[0][()]), 0), len(branches) - 1)
            return evaluate(branches[chosen], self, *operands[1:])
        numbers = [_numeric(part, atom.aval) for part, atom in zip(operands, equation.invars, strict=True)]
        results = equation.primitive.bind(*numbers, **equation.params)
        return [apart(one) for one in (results if equation.primitive.multiple_results else [results])]


_ELEMENTARY: dict[str, Callable] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "exp": np.exp,
    "log": np.log,
}


def _one(function: Callable) -> Callable:
    return lambda *operands: [function(*operands)]


def _numeric(part: Components, aval: Any) -> np.ndarray:
    """Components as an array of numbers."""
    return np.array(part.tolist(), dtype=aval.dtype).reshape(aval.shape)


NUMBERS = _Numbers()


def at_once(function: F) -> F:
    """The function, worked out by NumPy where it is called on known numbers; of many of them compiled whole.

    It is traced once for each structure of its arguments. Within a trace it is the function as it stands.

    Args:
        function: of trees of arrays and numbers, which gives a tree of arrays.
    """
    compiled = jitted(function, QUICKLY)

    @wraps(function)
    def call(*arguments: Any) -> Any:
        leaves = jax.tree.leaves(arguments)
        if any(isinstance(leaf, Tracer) for leaf in leaves) or within_trace():
            return function(*arguments)
        if sum(map(np.size, leaves)) > FEW:
            return compiled(*arguments)
        given = jax.tree.map(lambda leaf: np.float64(leaf) if isinstance(leaf, float) else leaf, arguments)
        with compilation():
            jaxpr, structure, numbers = traced(function, given)
        results = evaluate(jaxpr, NUMBERS, *map(apart, numbers))
        arrays = [_numeric(part, aval) for part, aval in zip(results, jaxpr.out_avals, strict=True)]
        return jax.tree.unflatten(structure, map(on_device, arrays))

    return cast(F, call)
