"""A problem's functions, compiled once, for solvers that run on the host."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from poinsot.core import AbstractProblem, Projection
from poinsot.kernels import with_numbers

Field = Callable[[float, np.ndarray], np.ndarray]
"""A function of time and packed state: both, and its value, NumPy's."""


def field(problem: AbstractProblem) -> Field:
    """The right-hand side."""
    return compiled(problem, _vector_field)


def jacobian(problem: AbstractProblem) -> Field:
    """Its derivative in the state, by automatic differentiation."""
    return compiled(problem, _jacobian)


def projection(problem: AbstractProblem, what: Projection) -> Field:
    """The projection of a state onto its constraints."""
    return compiled(problem, _PROJECTIONS[what])


def _vector_field(problem: AbstractProblem, t, y):
    return problem.vector_field(t, y)


def _jacobian(problem: AbstractProblem, t, y):
    return jax.jacfwd(problem.vector_field, argnums=1)(t, y)


_PROJECTIONS: dict[Projection, Callable] = {
    what: lambda problem, t, y, what=what: problem.project(t, y, what)
    for what in ("position", "velocity", "both")
}


def compiled(data: Any, function: Callable) -> Callable[..., np.ndarray]:
    """A function of `data` and further arguments, compiled with `data`, such as a problem, inside.

    Of the ways to call it from the host this is the fastest: others hand over the arrays of the problem
    in every call.
    """
    return with_numbers(_Within(function), data)


@dataclass(frozen=True)
class _Within:
    """Compiles a function with its first argument inside."""

    function: Callable

    def __call__(self, data: Any) -> Callable[..., np.ndarray]:
        program = jax.jit(functools.partial(self.function, data))
        return lambda *arguments: np.asarray(program(*arguments))


class Itself:
    """An object as the key of a dictionary: only itself is the same."""

    def __init__(self, thing: Any):
        self.thing = thing

    def __hash__(self) -> int:
        return id(self.thing)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.thing is other.thing
