"""Users' functions are tried once before a run, so that a wrong one is named in a line."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax

from poinsot.core._errors import InputError
from poinsot.core._show import shortened
from poinsot.core._signature import UserFunction


class Use(NamedTuple):
    """A call of a user's function, and the shape that its result must have; None for any."""

    function: UserFunction
    arguments: tuple
    shape: tuple[int, ...] | None
    like: str = ", like the state"
    """Where the shape comes from, for messages."""


UNTRACEABLE = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)
"""What JAX raises where a function needs the numbers themselves."""


def failure(error: Exception) -> str:
    """Why a user's function cannot be evaluated, on one line."""
    if isinstance(error, UNTRACEABLE):
        return (
            "it takes numbers out of traced arrays; write it with jax.numpy in place of math and numpy, and "
            "jnp.where in place of if"
        )
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {shortened(lines[0])}" if lines else type(error).__name__


def check_uses(uses: Sequence[Use]) -> None:
    """Refuse functions that cannot be evaluated or return another shape. Nothing is computed or compiled.

    Raises:
        InputError: names the function.
    """
    for function, arguments, shape, like in uses:
        found = _traced(function, arguments)
        if found.dtype.kind == "b":
            raise InputError(f"{function.field} returns truth values; it must return numbers")
        if shape is not None and found.shape != shape:
            wanted = f"an array of shape {shape}{like}" if shape else "one number"
            raise InputError(f"{function.field} returns shape {found.shape}; it must return {wanted}")


def _traced(function: UserFunction, arguments: tuple) -> Any:
    """Shape and type of the result. Parameters are not traced: whole numbers among them may size arrays."""
    *at, params = arguments
    remedy = ""
    if function.takes_params and params is None:
        names = ", ".join(inspect.signature(function.function).parameters)
        remedy = f" (it takes ({names}), the last as params, and none are given; time must be called t)"
    return tried(function.field, lambda *at: function(*at, params), *at, remedy=remedy)


def tried(field: str, function: Callable, *arguments: Any, remedy: str = "") -> Any:
    """Shapes of what a function returns; nothing is computed or compiled.

    Args:
        field: what it was given as, for the error message.
        function: of people.
        arguments: arrays, or their shapes.
        remedy: what a message says behind the reason.

    Raises:
        InputError: what goes wrong inside it, in one line.
    """
    try:
        return jax.eval_shape(function, *arguments)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{field} cannot be evaluated: {failure(error)}{remedy}") from error
