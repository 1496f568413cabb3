"""A user's function traced by itself, at one moment."""

import itertools
from collections.abc import Sequence
from functools import cache
from typing import Any

import jax
import numpy as np
from jax.experimental.xla_metadata import set_xla_metadata
from jax.extend import core as jex

from poinsot.core import Kind, is_array_like
from poinsot.kernels._canonical import NoForm, digest
from poinsot.kernels._lifting import lifted
from poinsot.kernels._rules import rates

_moments = itertools.count()


class Trace:
    """A user's function for arguments of one kind: operations, without the numbers that they take.

    Two traces are equal if they have the same operations, whatever they were traced from.
    """

    __slots__ = ("digest", "kind", "_program", "_result")

    def __init__(self, kind: Kind, program: jex.ClosedJaxpr, result: Any):
        self.kind, self._program, self._result = kind, program, result
        try:
            self.digest = digest(program, result, rates(program))
        except NoForm:
            self.digest = f"of this process, {next(_moments)}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and (self.digest, self.kind) == (other.digest, other.kind)

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def kept(self) -> bool:
        """Whether another process finds it under the same digest."""
        return not self.digest.startswith("of")

    def __call__(self, numbers: Sequence[Any], given: tuple) -> Any:
        """The value of the function."""
        leaves = [leaf for leaf in jax.tree.leaves(given) if is_array_like(leaf)]
        values = jex.jaxpr_as_fun(self._program)(*numbers, *map(_as_array, leaves))
        return jax.tree.unflatten(self._result, values)


def taken(function: Any, kind: Kind) -> tuple[Trace, tuple[Any, ...]]:
    """The function traced now for one kind of arguments: its operations, and the numbers in them."""

    def whole(*arrays):
        left = iter(arrays)
        leaves = [next(left) if _is_array(one) else one[1] for one in kind.leaves]
        return function(*jax.tree.unflatten(kind.structure, leaves))

    shapes = [jax.ShapeDtypeStruct(*one) for one in kind.leaves if _is_array(one)]
    # JAX keeps traces by the functions that were traced, also of loops and calls within this one. None of
    # them may be from another moment, so each moment has a mark of its own, which is taken out again below.
    with set_xla_metadata(poinsot=str(next(_moments))):
        program, result = jax.make_jaxpr(whole, return_shape=True)(*shapes)
    program, numbers = lifted(_Unmarked().closed(program))
    return Trace(kind, program, jax.tree.structure(result)), numbers


def _is_array(one: Any) -> bool:
    return isinstance(one[0], tuple)


def _as_array(leaf: Any) -> Any:
    return np.asarray(leaf, dtype=float) if isinstance(leaf, float) else leaf


@cache
def _unmarked() -> Any:
    """What equations have beside their operation where nothing is said about it."""
    with set_xla_metadata(poinsot=None):
        return jax.make_jaxpr(lambda x: x + x)(1.0).eqns[0].ctx


class _Unmarked:
    """Takes the mark of its moment out of a trace."""

    def closed(self, jaxpr: jex.ClosedJaxpr) -> jex.ClosedJaxpr:
        return jex.ClosedJaxpr(self.open(jaxpr.jaxpr), jaxpr.consts)

    def open(self, jaxpr: Any) -> Any:
        return jaxpr.replace(
            eqns=[
                one.replace(params={k: self.param(v) for k, v in one.params.items()}, ctx=_unmarked())
                for one in jaxpr.eqns
            ]
        )

    def param(self, value: Any) -> Any:
        if isinstance(value, jex.ClosedJaxpr):
            return self.closed(value)
        if isinstance(value, jex.Jaxpr):
            return self.open(value)
        if type(value) in (tuple, list):
            return type(value)(map(self.param, value))
        return value
