"""Rules of derivatives that a function brings along, told apart by what they do."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.extend import core as jex

import poinsot
from poinsot.kernels._canonical import RULES


def rates(program: jex.ClosedJaxpr) -> Any:
    """Traces of the first two derivatives, where a function brings rules of its own for them; else None.

    Rules of JAX and of this package are known by the names of their functions.
    """
    if not _has_own_rules(program.jaxpr):
        return None
    avals = [one.aval for one in program.jaxpr.invars]
    place = [k for k, one in enumerate(avals) if one.dtype == np.float64]
    shapes = [jax.ShapeDtypeStruct(avals[k].shape, avals[k].dtype) for k in place]
    found, function = [], jex.jaxpr_as_fun(program)

    def of_numbers(*numbers):
        given = [np.zeros(one.shape, one.dtype) for one in avals]
        for k, number in zip(place, numbers, strict=True):
            given[k] = number
        return [one for one in function(*given) if one.dtype == np.float64]

    for _ in range(2):
        of_numbers = _pulled_back(of_numbers)
        found.append(jax.make_jaxpr(of_numbers)(*shapes))
    return found


def _pulled_back(function: Any) -> Any:
    """All derivatives of the sum of the results."""

    def total(*numbers):
        return sum((one.sum() for one in function(*numbers)), start=np.zeros(()))

    return lambda *numbers: jax.grad(total, argnums=tuple(range(len(numbers))))(*numbers)


KNOWN_SOURCES = tuple(f"{Path(one.__file__).parent}{os.sep}" for one in (jax, eqx, poinsot) if one.__file__)


def _has_own_rules(jaxpr: Any) -> bool:
    for one in jaxpr.eqns:
        for name in RULES & one.params.keys():
            told = getattr(getattr(one.params[name], "debug_info", None), "func_src_info", "") or ""
            if name != "debug_info" and not told.partition(" at ")[2].startswith(KNOWN_SOURCES):
                return True
        if any(_has_own_rules(inner) for inner in _traces_in(one.params.values())):
            return True
    return False


def _traces_in(values: Iterable[Any]) -> Iterator[Any]:
    """Traces among parameters of an equation."""
    for value in values:
        if isinstance(value, jex.ClosedJaxpr | jex.Jaxpr):
            yield value.jaxpr if isinstance(value, jex.ClosedJaxpr) else value
        elif isinstance(value, tuple | list):
            yield from _traces_in(value)
