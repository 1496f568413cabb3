"""Scalar operations of a function of arrays, counted on its trace."""

import operator
from collections import Counter
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

SYMBOLS = {"add": "+", "sub": "−", "neg": "−", "mul": "×", "div": "/", "square": "²"}
"""Rows of a table of counts for arithmetic; other operations stand under their own names."""

_ARITHMETIC: dict[str, Callable[..., float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "neg": lambda x: -x,
    "mul": operator.mul,
    "div": operator.truediv,
    "square": lambda x: x * x,
}
_NAMES = {"add_any": "add"}
_MOVES = frozenset(
    ("slice", "squeeze", "reshape", "broadcast_in_dim", "transpose", "concatenate", "stack", "unstack")
    + ("gather", "select_n", "rev", "copy", "pad", "hold")
)
"""Primitives that only place numbers: they act on the names of scalars as on scalars."""
_WHOLE = {"solve": "LU"}
"""Functions counted as one operation, by the name under which they are compiled."""

_OPERANDS = {"constant": 0, "argument": 0, "part": 1}
"""Nodes that are no operations, with how many of their entries are nodes."""


class Names:
    """An array whose entries depend on the arguments: the number of each in a `Scalars` graph."""

    def __init__(self, array: Any):
        self.array = np.asarray(array, dtype=np.int64)


class Scalars:
    """Every scalar that a function computes, as a graph in which equal ones are one.

    An operation on constants alone is a constant; nothing is left of the addition of zero, the product with
    zero and the product with one. What the results do not need is not counted.
    """

    def __init__(self):
        self.nodes: list[tuple] = []
        self.places: dict[tuple, int] = {}
        self.traced: Counter[str] = Counter()
        """Operations as they stand in the trace, array sizes included, nothing taken out but constants."""

    def node(self, *node: Any) -> int:
        """Number of a node: an operation and the numbers of its operands."""
        if node not in self.places:
            self.places[node] = len(self.nodes)
            self.nodes.append(node)
        return self.places[node]

    def value(self, place: int) -> float | None:
        """Value of a constant, None for anything else."""
        kind, *rest = self.nodes[place]
        return rest[0] if kind == "constant" else None

    def operation(self, name: str, *operands: int) -> int:
        """Number of the result of an operation, simplified where a constant allows it."""
        values = [self.value(operand) for operand in operands]
        if name in _ARITHMETIC and None not in values:
            return self.node("constant", float(_ARITHMETIC[name](*values)))
        match name, values:
            case ("add", [0.0, _]) | ("mul", [1.0, _]):
                return operands[1]
            case ("add" | "sub", [_, 0.0]) | ("mul" | "div", [_, 1.0]):
                return operands[0]
            case ("mul", [0.0, _] | [_, 0.0]) | ("div", [0.0, _]):
                return self.node("constant", 0.0)
            case "sub", [0.0, _]:
                return self.node("neg", operands[1])
            case "mul", _ if operands[0] == operands[1]:
                return self.node("square", operands[0])
            case (("add" | "mul"), _):
                return self.node(name, *sorted(operands))
        return self.node(name, *operands)

    def names(self, value: "Names | np.ndarray") -> np.ndarray:
        """Numbers of the entries of an array, constant or not."""
        if isinstance(value, Names):
            return value.array
        constants = [self.node("constant", float(entry)) for entry in np.ravel(value)]
        return np.array(constants, dtype=np.int64).reshape(np.shape(value))

    def needed(self, results: "list[Names | np.ndarray]") -> Counter[str]:
        """Operations on the way to the results."""
        found, waiting = set(), [int(place) for result in results for place in np.ravel(self.names(result))]
        while waiting:
            place = waiting.pop()
            if place not in found:
                found.add(place)
                kind, *operands = self.nodes[place]
                waiting += operands[: _OPERANDS.get(kind)]
        kinds = [self.nodes[place][0] for place in found]
        return Counter(kind for kind in kinds if kind not in _OPERANDS)


def scalar_graph(function: Callable, *arguments: Any) -> "tuple[Scalars, list[Names | np.ndarray]]":
    """Every scalar that a function computes, and which of them are its results."""
    closed = jax.make_jaxpr(function)(*arguments)
    graph = Scalars()
    names = []
    for argument, variable in enumerate(closed.jaxpr.invars):
        shape = variable.aval.shape
        entries = [graph.node("argument", argument, entry) for entry in range(int(np.prod(shape)))]
        names.append(Names(np.array(entries, dtype=np.int64).reshape(shape)))
    return graph, _evaluate(graph, closed, names)


def count_operations(function: Callable, *arguments: Any) -> tuple[Counter[str], Counter[str]]:
    """Scalar operations of a function, those its results need and all that stand in its trace.

    Args:
        function: of floating-point arrays, without loops and branches.
        arguments: of the shapes wanted; their values do not matter.

    Returns:
        Two counts by symbol (`SYMBOLS`) or name. In the first an operation that occurs twice counts once, and
        operations with zeros and ones do not count; the second leaves out only what depends on no argument.
        The sum of n numbers is n - 1 additions; the solution of a linear system is one "LU".
    """
    graph, results = scalar_graph(function, *arguments)
    return _by_symbol(graph.needed(results)), _by_symbol(graph.traced)


def _by_symbol(counts: Counter[str]) -> Counter[str]:
    total: Counter[str] = Counter()
    for name, count in counts.items():
        total[SYMBOLS.get(name, name)] += count
    return total


def _evaluate(graph: Scalars, closed: ClosedJaxpr, arguments: list) -> list:
    """Results of a traced function at names of scalars in place of numbers."""
    known = dict(zip(closed.jaxpr.constvars, map(np.asarray, closed.consts), strict=True))
    known |= dict(zip(closed.jaxpr.invars, arguments, strict=True))

    def read(variable):
        return np.asarray(variable.val) if isinstance(variable, Literal) else known[variable]

    for equation in closed.jaxpr.eqns:
        results = _apply(graph, equation, [read(variable) for variable in equation.invars])
        known |= dict(zip(equation.outvars, results, strict=True))
    return [read(variable) for variable in closed.jaxpr.outvars]


def _apply(graph: Scalars, equation, operands: list) -> list:
    """Results of one equation."""
    primitive, params = equation.primitive, equation.params
    name = str(_NAMES.get(primitive.name, primitive.name))
    inner = params.get("jaxpr", params.get("call_jaxpr"))
    if not any(isinstance(operand, Names) for operand in operands):
        return _bound(primitive, operands, params)
    if inner is not None:
        title = params.get("name", inner.jaxpr.debug_info.func_name)
        if title == "sincos":
            return [Names(_elementwise(graph, part, operands)) for part in ("sin", "cos")]
        if title in _WHOLE:
            return _opaque(graph, _WHOLE[title], equation, operands)
        return _evaluate(graph, inner, operands)
    if name in _MOVES:
        return [Names(moved) for moved in _bound(primitive, _placed(graph, name, operands), params)]
    if name == "reduce_sum":
        return [Names(_sums(graph, graph.names(operands[0]), params["axes"]))]
    if name == "integer_pow" and params["y"] == 2:
        name = "square"
    return [Names(_elementwise(graph, name, operands))]


def _bound(primitive, operands: list, params: dict) -> list[np.ndarray]:
    results = primitive.bind(*map(jnp.asarray, operands), **params)
    return [np.asarray(result) for result in (results if primitive.multiple_results else [results])]


def _placed(graph: Scalars, name: str, operands: list) -> list[np.ndarray]:
    """Operands of a primitive that moves scalars: names, with the indices or conditions as they are."""
    if name == "gather":
        return [graph.names(operands[0]), operands[1]]
    if name == "select_n":
        return [operands[0], *map(graph.names, operands[1:])]
    return [graph.names(operand) for operand in operands]


def _elementwise(graph: Scalars, name: str, operands: list) -> np.ndarray:
    if name not in _ARITHMETIC and name not in ("sin", "cos", "sqrt"):
        raise NotImplementedError(f"operations of the primitive {name!r} are not counted")
    lanes = np.broadcast_arrays(*map(graph.names, operands))
    graph.traced[name] += lanes[0].size
    results = [
        graph.operation(name, *map(int, entries)) for entries in zip(*map(np.ravel, lanes), strict=True)
    ]
    return np.array(results, dtype=np.int64).reshape(lanes[0].shape)


def _sums(graph: Scalars, names: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Sums along axes, one addition after the other."""
    kept = [axis for axis in range(names.ndim) if axis not in axes]
    rows = np.transpose(names, [*axes, *kept]).reshape(-1, *(names.shape[axis] for axis in kept))
    total = rows[0]
    for row in rows[1:]:
        total = _elementwise(graph, "add", [Names(total), Names(row)])
    return total


def _opaque(graph: Scalars, name: str, equation, operands: list) -> list[Names]:
    """Results of a function that counts as one operation."""
    places = [int(place) for operand in operands for place in np.ravel(graph.names(operand))]
    graph.traced[name] += 1
    whole = graph.node(name, *places)
    shapes = [variable.aval.shape for variable in equation.outvars]
    results, entry = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        parts = [graph.node("part", whole, entry + k) for k in range(size)]
        results.append(Names(np.array(parts, dtype=np.int64).reshape(shape)))
        entry += size
    return results
