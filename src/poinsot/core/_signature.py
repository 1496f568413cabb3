"""Users' functions: short signatures are accepted and called through one long form."""

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from types import FunctionType
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from poinsot.core._errors import InputError
from poinsot.core._numbers import as_floats
from poinsot.core._show import brief, quoted

USERS = "users_function"
"""Scope in traces of what users' functions compute. Native code simplifies nothing there that IEEE 754 does
not allow; derivatives carry the scope along."""


class Kind(NamedTuple):
    """What the arguments of a call are beside their numbers."""

    structure: Any
    leaves: tuple[Any, ...]
    """Shape and type of each array, or the value of what is none, such as a whole number."""

    @classmethod
    def of(cls, given: tuple) -> "Kind":
        """The kind of some arguments."""
        leaves, structure = jax.tree.flatten(given)
        return cls(structure, tuple(map(_kind, leaves)))


def is_array_like(leaf: Any) -> bool:
    """Whether a leaf of arguments is an array or a number, whose value is no part of their kind."""
    return isinstance(leaf, (jax.Array, np.ndarray, np.generic, float))


def _kind(leaf: Any) -> Any:
    if not is_array_like(leaf):
        return type(leaf), leaf
    return np.shape(leaf), np.dtype(getattr(leaf, "dtype", float)).str


class Calls:
    """The kinds of arguments that a user's function is traced with. All are equal: they are a memory."""

    __slots__ = ("kinds",)

    def __init__(self):
        self.kinds: dict[Kind, None] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Calls)

    def __hash__(self) -> int:
        return 0

    def note(self, given: tuple) -> None:
        """Remember the kind of the arguments of a call within a trace."""
        if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(given)):
            self.kinds.setdefault(Kind.of(given))


class UserFunction(eqx.Module):
    """A user's function called as `f(t, *state, params)`, whatever it takes of these itself.

    With the state's labels `q, p`, the accepted signatures are `f(q, p)`, `f(t, q, p)`,
    `f(q, p, params)` and `f(t, q, p, params)`. Of the two with three arguments the first is meant when
    the first argument is called `t`.

    What it returns becomes an array: lists are stacked, whole numbers and single precision become float64.
    """

    function: Callable
    takes_time: bool = eqx.field(static=True)
    takes_params: bool = eqx.field(static=True)
    field: str = eqx.field(default="the function", static=True)
    """What it was given as, for error messages."""
    users: bool = eqx.field(static=True, default=False)
    """Whether it came from outside, so that what it computes is marked in traces by `USERS`."""
    calls: Calls = eqx.field(default_factory=Calls, static=True, repr=False)
    """How it is called, so that it can be traced by itself before a program is looked up."""

    def __repr__(self) -> str:
        return brief(self.function)

    def __call__(self, t, *state_and_params):
        return returned(self.raw(t, *state_and_params), self.field)

    def raw(self, t, *state_and_params) -> Any:
        """What the function returns as it is, for those that return several arrays."""
        *state, params = state_and_params
        head = (t,) if self.takes_time else ()
        tail = (params,) if self.takes_params else ()
        given = (*head, *state, *tail)
        if self.theirs:
            self.calls.note(given)
        with jax.named_scope(USERS) if self.users else nullcontext():
            return self.function(*given)

    @property
    def theirs(self) -> bool:
        """Whether the function is the user's own, which may change, and not one of this package."""
        kind = type(self.function)
        code = self.function if kind in (FunctionType, type) else kind
        if code.__module__.partition(".")[0] != PACKAGE:
            return True
        # A function within another one, such as a lambda, holds what it closes over.
        return kind is FunctionType and "<" in code.__qualname__


PACKAGE = __name__.partition(".")[0]


def returned(value: Any, field: str) -> Array:
    """What a user's function returned as an array of float64, or of truth values.

    Args:
        value: numbers or arrays, also traced ones, or lists of these.
        field: what the function was given as.

    Raises:
        InputError: it is neither.
    """
    if isinstance(value, jax.Array) and value.dtype in (jnp.float64, jnp.bool_):
        return value
    try:
        return _stacked(value)
    except (TypeError, ValueError):
        remedy = " (is a `return` missing?)" if value is None else ""
        raise InputError(f"{field} returns {quoted(value)}; it must return numbers{remedy}") from None


def _stacked(value: Any) -> Array:
    """One array of nested lists of numbers."""
    if isinstance(value, (list, tuple)):
        return jnp.stack([_stacked(one) for one in value])
    if getattr(value, "dtype", np.dtype(float)).kind not in "biuf":
        raise TypeError("not real numbers")
    return as_floats(value, "value")


def user_function(function: Callable, labels: tuple[str, ...], field: str) -> UserFunction:
    """Wrap `function`, reading from its signature which of time and parameters it takes.

    Args:
        function: what the user gave.
        labels: the state's labels it must take, in order.
        field: the argument it was given as, for error messages.
    """
    if isinstance(function, UserFunction):
        return function
    shown = ", ".join(labels)
    if not callable(function):
        raise InputError(
            f"{field} must be a function of ({shown}), got {type(function).__name__} {quoted(function)}"
        )
    required, names, most = _positional(function, field)
    count, extra = len(labels), most - len(labels)
    wanted = required - count
    if wanted in (0, 1, 2) and extra >= wanted:
        if wanted and "t" in names[1:required]:
            raise InputError(f"{field} takes ({', '.join(names[:required])}); time comes first: (t, {shown})")
        takes_time = wanted == 2 or (wanted == 1 and names[0] == "t")
        takes_params = wanted == 2 or (wanted == 1 and not takes_time)
        return UserFunction(function, takes_time, takes_params, field, users=True)
    raise InputError(
        f"{field} takes {required} arguments ({', '.join(names[:required])}); it must take ({shown}), "
        f"(t, {shown}), ({shown}, params) or (t, {shown}, params)"
    )


def optional_function(function: Callable | None, labels: tuple[str, ...], field: str) -> UserFunction | None:
    """`user_function` of something that may be left out."""
    return None if function is None else user_function(function, labels, field)


def time_function(function: Callable, field: str) -> UserFunction:
    """Wrap a function of time, `f(t)` or `f(t, params)`, to be called as `f(t, params)`.

    Args:
        function: what the user gave.
        field: the argument it was given as, for error messages.
    """
    if not callable(function):
        raise InputError(f"{field} must be a function of t, got {type(function).__name__} {quoted(function)}")
    required, names, most = _positional(function, field)
    if most < 1 or required > 2:
        raise InputError(
            f"{field} takes {required} arguments ({', '.join(names)}); it must take (t) or (t, params)"
        )
    return UserFunction(function, True, required == 2, field, users=True)


def _positional(function: Callable, field: str) -> tuple[int, list[str], int]:
    """Number of required positional arguments, all positional names, and how many can be passed."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        raise InputError(f"{field} = {quoted(function)} has no signature; wrap it in a lambda") from None
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = sum(p.default is p.empty for p in positional)
    return required, [p.name for p in positional], len(positional)
