"""Users' functions: short signatures are accepted and called through one long form."""

import inspect
from collections.abc import Callable

import equinox as eqx

from poinsot.core._show import brief


class UserFunction(eqx.Module):
    """A user's function called as `f(t, *state, params)`, whatever it takes of these itself.

    With the state's labels `q, p`, the accepted signatures are `f(q, p)`, `f(t, q, p)`,
    `f(q, p, params)` and `f(t, q, p, params)`. Of the two with three arguments the first is meant when
    the first argument is called `t`.
    """

    function: Callable
    takes_time: bool = eqx.field(static=True)
    takes_params: bool = eqx.field(static=True)

    def __repr__(self) -> str:
        return brief(self.function)

    def __call__(self, t, *state_and_params):
        *state, params = state_and_params
        head = (t,) if self.takes_time else ()
        tail = (params,) if self.takes_params else ()
        return self.function(*head, *state, *tail)


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
        raise TypeError(
            f"{field} must be a function of ({shown}), got {type(function).__name__} {function!r}"
        )
    required, names, most = _positional(function)
    count, extra = len(labels), most - len(labels)
    wanted = required - count
    if wanted in (0, 1, 2) and extra >= wanted:
        if wanted == 2:
            return UserFunction(function, True, True)
        if wanted == 0:
            return UserFunction(function, False, False)
        takes_time = names[0] == "t"
        return UserFunction(function, takes_time, not takes_time)
    raise TypeError(
        f"{field} takes {required} arguments ({', '.join(names[:required])}); it must take ({shown}), "
        f"(t, {shown}), ({shown}, params) or (t, {shown}, params)"
    )


def optional_function(function: Callable | None, labels: tuple[str, ...], field: str) -> UserFunction | None:
    """`user_function` of something that may be left out."""
    return None if function is None else user_function(function, labels, field)


def _positional(function: Callable) -> tuple[int, list[str], int]:
    """Number of required positional arguments, all positional names, and how many can be passed."""
    parameters = inspect.signature(function).parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = sum(p.default is p.empty for p in positional)
    return required, [p.name for p in positional], len(positional)
