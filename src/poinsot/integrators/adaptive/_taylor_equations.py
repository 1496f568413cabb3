"""The right-hand side of a problem in the expressions of heyoka."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core as jex

from poinsot.core import AbstractProblem, InputError, hold_p, optional
from poinsot.integrators.adaptive._taylor_domain import Definedness
from poinsot.kernels import Components, evaluate, is_number, objects

SOLVER = "Taylor"


class Expressions:
    """Arithmetic in which a component is an expression of heyoka.

    Args:
        number: makes a constant of a number, in the precision of the run.
    """

    def __init__(self, number: Callable[[float], Any]):
        hy: Any = optional("heyoka", "taylor", SOLVER)
        self.defined = Definedness()
        self.count = 0
        self._number = number
        self.functions = {"poinsot_sincos": lambda x: (hy.sin(x), hy.cos(x))}
        self._operations: dict[str, Callable] = _operations(hy)

    def apply(self, primitive: jex.Primitive, params: dict, operands: Sequence[Any]) -> Sequence[Any]:
        """The operation in expressions."""
        operation = self._operations.get(primitive.name)
        if operation is None:
            raise InputError(_refused(primitive.name))
        self.count += 1
        result = operation(*map(self._lifted, operands), **_exponent(params))
        self.defined.operation(primitive.name, operands, params.get("y"), result)
        return [result]

    def number(self, value: Any) -> Any:
        """A number as an expression."""
        self.defined.constant(float(value))
        return self._number(float(value))

    def whole(self, equation: Any, operands: Sequence[Components]) -> Sequence[Components]:
        """`hold` means nothing to expressions; everything else is refused."""
        if equation.primitive is hold_p:
            return operands
        raise InputError(_refused(equation.primitive.name))

    def _lifted(self, operand: Any) -> Any:
        return self.number(operand) if is_number(operand) else operand


def _refused(operation: str) -> str:
    return (
        f"{SOLVER}: the right-hand side contains the operation {operation!r}, which has no Taylor series "
        "here; write the problem with arithmetic, powers, roots, trigonometric and exponential functions, or "
        "take another solver such as DormandPrince853"
    )


def _exponent(params: dict) -> dict:
    return {"y": params["y"]} if "y" in params else {}


def _operations(hy: Any) -> dict[str, Callable]:
    """What heyoka has for the operations of a trace."""
    return {
        "add": lambda a, b: a + b,
        "add_any": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "neg": lambda a: -a,
        "square": lambda a: a * a,
        "integer_pow": lambda a, y: a**y,
        "pow": lambda a, b: a**b,
        "rsqrt": lambda a: a**-0.5,
        "max": lambda a, b: hy.select(hy.gt(a, b), a, b),
        "min": lambda a, b: hy.select(hy.lt(a, b), a, b),
        "select_n": lambda which, no, yes: hy.select(which, yes, no),
        "convert_element_type": lambda a: a,
        "and": lambda a, b: hy.logical_and([a, b]),
        "or": lambda a, b: hy.logical_or([a, b]),
        "lt": hy.lt,
        "le": hy.lte,
        "gt": hy.gt,
        "ge": hy.gte,
        "eq": hy.eq,
        "ne": hy.neq,
        **{name: getattr(hy, name) for name in ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan")},
        **{name: getattr(hy, name) for name in ("atan2", "sinh", "cosh", "tanh", "exp", "log", "erf")},
        **{name: getattr(hy, name) for name in ("asinh", "acosh", "atanh", "expm1", "log1p")},
    }


class Equations(NamedTuple):
    """A right-hand side in expressions."""

    pairs: list[tuple[Any, Any]]
    """Each variable with its rate."""
    defined_everywhere: bool
    """Whether the rates are finite at all finite states, but for poles."""
    operations: int
    """How many they take, those with constants included."""


def equations(problem: AbstractProblem, size: int, number: Callable[[float], Any]) -> Equations:
    """The right-hand side for a packed state of a size.

    The problem's own numbers go in as constants of the run's precision, so that what is worked out from them
    is worked out in it.
    """
    hy: Any = optional("heyoka", "taylor", SOLVER)
    arrays, rest = eqx.partition(problem, eqx.is_inexact_array)
    leaves, structure = jax.tree.flatten(arrays)

    def field(t, y, *leaves):
        return eqx.combine(jax.tree.unflatten(structure, leaves), rest).vector_field(t, y)

    jaxpr = jax.make_jaxpr(field)(jnp.asarray(0.0), jnp.zeros(size), *leaves)
    variables = [hy.expression(f"y{k:04d}") for k in range(size)]
    expressions = Expressions(number)
    constants = [
        objects(leaf.shape, [expressions.number(value) for value in leaf.flat])
        for leaf in map(np.asarray, leaves)
    ]
    time, state = objects((), [hy.time]), objects((size,), variables)
    (rates,) = evaluate(jaxpr, expressions, time, state, *constants)
    rates = [expressions.number(rate) if is_number(rate) else rate for rate in rates]
    pairs = list(zip(variables, rates, strict=True))
    return Equations(pairs, expressions.defined.everywhere, expressions.count)
