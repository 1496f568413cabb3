"""A problem's functions, compiled once, for solvers that run on the host."""

import functools
from collections.abc import Callable, Hashable
from typing import Any

import jax
import numpy as np

from poinsot.core import AbstractProblem, Projection

Field = Callable[[float, np.ndarray], np.ndarray]
"""A function of time and packed state: both, and its value, NumPy's."""

REMEMBERED = 64
"""Problems whose compiled functions are kept for the next run."""


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

    Of the ways to call it from the host this is the fastest: `eqx.filter_jit` would look at the whole problem
    in every call.
    """
    return _compiled(key(data), function)


class Key:
    """A problem as the key of a dictionary: the same structure with the same numbers is the same."""

    def __init__(self, problem: Any):
        leaves, structure = jax.tree.flatten(problem)
        self.problem = problem
        self.parts = structure, tuple(map(_frozen, leaves))

    def __hash__(self) -> int:
        return hash(self.parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.parts == other.parts


class Itself:
    """An object as the key of a dictionary: only itself is the same."""

    def __init__(self, thing: Any):
        self.thing = thing

    def __hash__(self) -> int:
        return id(self.thing)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.thing is other.thing


def key(problem: Any) -> Key:
    """The key of a problem, which is not looked through again when it comes again."""
    return _key(Itself(problem))


@functools.lru_cache(maxsize=REMEMBERED)
def _key(itself: Itself) -> Key:
    return Key(itself.thing)


def _frozen(leaf) -> Hashable:
    if not hasattr(leaf, "dtype"):
        return leaf
    array = np.asarray(leaf)
    return array.shape, array.dtype.str, array.tobytes()


@functools.lru_cache(maxsize=REMEMBERED)
def _compiled(key: Key, function: Callable) -> Callable[..., np.ndarray]:
    program = jax.jit(functools.partial(function, key.problem))
    return lambda *arguments: np.asarray(program(*arguments))
