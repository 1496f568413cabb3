"""How much code a trace makes."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

from jax.extend import core as jex

from poinsot.kernels._components import MOVES

LOOP = 40
"""What a loop or a branch counts in itself."""


LONGER = 1024
"""Elements from which an array counts as one in memory."""


class Weights:
    """Operations on components in traces, each trace counted once."""

    def __init__(self):
        self._known: dict[int, tuple[Any, int]] = {}

    def of(self, jaxpr: Any) -> int:
        """About as many instructions as the code of a trace has."""
        inner = _inner(jaxpr)
        if id(inner) not in self._known:
            # The trace is kept with its weight: the id of one that is gone may be given again.
            self._known[id(inner)] = inner, sum(self._of_equation(one) for one in inner.eqns)
        return self._known[id(inner)][1]

    def of_code(self, jaxpr: Any, is_function: Callable[[Any], bool]) -> int:
        """The same with traces that become functions counted once, however often they are called."""
        written: set[int] = set()

        def weight(jaxpr: Any) -> int:
            inner = _inner(jaxpr)
            if is_function(inner):
                if id(inner) in written:
                    return LOOP
                written.add(id(inner))
            programs = [(one, _programs(one)) for one in inner.eqns]
            return sum(
                sum(map(weight, called)) + LOOP * _is_control(one) if called else self._of_equation(one)
                for one, called in programs
            )

        return weight(jaxpr)

    def _of_equation(self, equation: Any) -> int:
        programs = _programs(equation)
        if programs:
            return sum(map(self.of, programs)) + LOOP * _is_control(equation)
        if equation.primitive.name in MOVES:
            return 0
        sizes = [math.prod(atom.aval.shape) for atom in equation.outvars]
        # Long arrays are in memory, where an operation is a loop.
        size = sum(size if size <= LONGER else LOOP for size in sizes)
        if equation.primitive.name == "dot_general":
            (summed, _), _ = equation.params["dimension_numbers"]
            shape = equation.invars[0].aval.shape
            size *= 2 * math.prod(shape[axis] for axis in summed)
        return size


def _inner(jaxpr: Any) -> Any:
    return jaxpr.jaxpr if isinstance(jaxpr, jex.ClosedJaxpr) else jaxpr


def _programs(equation: Any) -> list[Any]:
    """Traces within an operation that are written out."""
    if equation.primitive.name == "custom_linear_solve":
        return [equation.params["jaxprs"].solve]
    if equation.primitive.name == "abreast":
        # Row by row, as many runs take them; in lanes it is less.
        return [equation.params["jaxpr"]]
    return list(jex.jaxprs_in_params(equation.params))


def _is_control(equation: Any) -> bool:
    return equation.primitive.name in ("while", "scan", "cond")


def uses(jaxpr: Any) -> Counter[int]:
    """How often each trace is called within another, by the identity of the trace."""
    counts: Counter[int] = Counter()
    pending, seen = [jaxpr.jaxpr], set()
    while pending:
        inner = pending.pop()
        if id(inner) in seen:
            continue
        seen.add(id(inner))
        for equation in inner.eqns:
            for program in jex.jaxprs_in_params(equation.params):
                one = _inner(program)
                counts[id(one)] += 1
                pending.append(one)
    return counts
