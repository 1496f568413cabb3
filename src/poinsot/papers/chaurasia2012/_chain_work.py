"""How many products a right-hand side of the discs takes, counted on its trace."""

from typing import Any

import jax
import jax.numpy as jnp
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, Jaxpr

from poinsot.equations import formulate
from poinsot.papers.chaurasia2012._chain import HOMOGENEOUS, discs


def products(particles: int, count: int) -> int:
    """Of the right-hand side of a chain of discs with so many particles each."""
    chain, start = discs(particles, count)
    formulation = formulate(chain, HOMOGENEOUS, "hamiltonian")
    problem = formulation.problem
    y = jax.eval_shape(lambda state: problem.pack(formulation.start(state)), start)
    return traced_products(lambda y: problem.vector_field(0.0, y), jnp.zeros(y.shape))


def traced_products(function, *arguments) -> int:
    """Products of single numbers that a function takes; what a loop repeats counts each time."""
    return _of(jax.make_jaxpr(function)(*arguments).jaxpr)


def _of(jaxpr: Jaxpr) -> int:
    total = 0
    for equation in jaxpr.eqns:
        inner = [part for value in equation.params.values() for part in _traces(value)]
        if equation.primitive.name == "scan":
            total += equation.params["length"] * sum(map(_of, inner))
        elif equation.primitive.name == "cond":
            total += max(map(_of, inner))
        elif inner:
            total += sum(map(_of, inner))
        elif equation.primitive.name == "mul":
            (product,) = equation.outvars
            assert isinstance(product.aval, ShapedArray)
            total += product.aval.size
    return total


def _traces(value: Any) -> list[Jaxpr]:
    """Traces among the parameters of an operation, alone or in a sequence as those of branches are."""
    if isinstance(value, (tuple, list)):
        return [trace for one in value for trace in _traces(one)]
    if isinstance(value, ClosedJaxpr):
        return [value.jaxpr]
    return [value] if isinstance(value, Jaxpr) else []
