"""Parameters of user functions in a model: given with the function, or once for the whole system."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np

from poinsot.core import (
    InputError,
    Printable,
    Use,
    UserFunction,
    as_params,
    brief,
    time_function,
    user_function,
)

Tree = TypeVar("Tree")


class FromSystem(eqx.Module):
    """Stand for the parameters of the system in a function that was given none of its own."""


def filled(tree: Tree, params: Any) -> Tree:
    """Put the parameters of a system where functions expect them."""
    return jax.tree.map(
        lambda node: params if isinstance(node, FromSystem) else node,
        tree,
        is_leaf=lambda node: isinstance(node, FromSystem),
    )


def check_filled(tree: Any, field: str) -> None:
    """Refuse functions that still expect parameters of a system which has none."""
    nodes = jax.tree.leaves(tree, is_leaf=lambda node: isinstance(node, FromSystem))
    if any(isinstance(node, FromSystem) for node in nodes):
        raise InputError(
            f"{field} takes parameters; give them to the system, params=..., or to the term, "
            "Function(f, params=...)"
        )


class Parametrised(Printable):
    """A user's function together with its parameters, called as `f(t, *state)`.

    Args:
        function: with or without time and parameters; `labels` are what it takes between them.
        labels: names of the state's parts; none for a function of time, `f(t)` or `f(t, params)`.
        field: what it was given as, for error messages.
        params: a pytree of numbers and arrays; those of the system when left out.
        several: whether it returns several arrays.
    """

    function: UserFunction
    params: Any
    several: bool = eqx.field(static=True)

    def __init__(
        self,
        function: Callable,
        labels: tuple[str, ...],
        field: str,
        params: Any = None,
        *,
        several: bool = False,
    ):
        self.several = several
        try:
            self.function = (
                user_function(function, labels, field) if labels else time_function(function, field)
            )
        except TypeError as error:
            raise InputError(str(error)) from None
        self.params = own_params(self.function.takes_params, params, field)

    def __repr__(self) -> str:
        if self.params is None or isinstance(self.params, FromSystem):
            return repr(self.function)
        return f"{self.function!r} of params={brief(self.params)}"

    @property
    def takes_time(self) -> bool:
        """Whether the function takes `t`."""
        return self.function.takes_time

    def use(self, shape: tuple[int, ...], *state: Any, of: str = "") -> Use:
        """A call of the function, to be tried once.

        Args:
            shape: of what it must return.
            state: arrays like those that it is called with.
            of: what it belongs to, for messages.
        """
        own = self.function
        named = replace(own, field=f"{own.field}{of}")
        return Use(named, (np.zeros(()), *state, self.params), shape, "")

    def __call__(self, t, *state: Any) -> Any:
        """The function's value."""
        call = self.function.raw if self.several else self.function
        return call(t, *state, self.params)


def own_params(taken: bool, params: Any, field: str) -> Any:
    """Parameters of a function: arrays if it was given some, else those of the system if it takes any."""
    if params is not None and not taken:
        raise InputError(f"{field} takes no parameters, but params are given; add an argument params to it")
    if params is None and taken:
        return FromSystem()
    return as_params(params)
