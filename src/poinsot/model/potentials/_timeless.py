"""Users' functions that are potentials of two neighbours: without time, one number."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from poinsot.core import InputError, UserFunction, tried, user_function


def timeless_function(
    function: Callable, labels: tuple[str, ...], field: str, *, params: Any
) -> UserFunction:
    """Wrap `f(*labels)` or `f(*labels, params)`.

    Args:
        function: what the user gave.
        labels: what it must take, in order.
        field: what it was given as, for error messages.
        params: what was given with it.
    """
    shown = ", ".join(labels)
    try:
        wrapped = user_function(function, labels, field)
    except TypeError:
        wrapped = None
    if wrapped is None or wrapped.takes_time:
        raise InputError(f"{field} = {function!r}; it must be a function of ({shown}) or ({shown}, params)")
    if wrapped.takes_params and params is None:
        raise InputError(f"{field} takes parameters; give them as params=..., or write it as f({shown})")
    if params is not None and not wrapped.takes_params:
        raise InputError(f"{field} takes no parameters, but params are given; write it as f({shown}, params)")
    return wrapped


def check_number(function: Callable, shapes: tuple[tuple[int, ...], ...], field: str) -> None:
    """Refuse a function that does not return one number for arguments of these shapes."""
    arguments = [jax.ShapeDtypeStruct(shape, jnp.zeros(()).dtype) for shape in shapes]
    result = tried(field, function, *arguments)
    shape = getattr(result, "shape", None)
    if shape != () or not jnp.issubdtype(result.dtype, jnp.floating):
        said = "nothing that is a number" if shape is None else f"{result.dtype} of shape {shape}"
        raise InputError(f"{field} returns {said}; an energy must be one floating-point number")
