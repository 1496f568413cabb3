"""What arguments may be: the annotation of a parameter declares it, and one place checks it.

`@checked` reads the annotations of a function, `Checked` those of the `__init__` or the fields of a module.
Truth values, texts, `Literal`s, whole numbers, functions and classes of the package are checked as they are
annotated; bounds stand beside the type, as in `stages: Annotated[int, whole(1, 32)]`. Other annotations say
nothing here, such as those of arrays: what converts these checks them.
"""

import dataclasses
import inspect
import math
import os
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, wraps
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, is_typeddict

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer

from poinsot.core._errors import InputError
from poinsot.core._registry import check_called, did_you_mean
from poinsot.core._show import quoted

Function = TypeVar("Function", bound=Callable[..., Any])

FEW = 5
"""Classes that a message lists."""


@dataclasses.dataclass(frozen=True)
class Accepted:
    """Which values are accepted, and how messages say so."""

    accepts: Callable[[Any], bool]
    wanted: str
    made: bool = False
    """Whether it is made by calling a class, which may be given in its place."""
    choices: tuple[Any, ...] = ()
    """All that is accepted, where that is a few words."""


def whole(least: int | None = None, most: int | None = None) -> Accepted:
    """A whole number within bounds, not a truth value."""

    def accepts(value: Any) -> bool:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
            return False
        return bool((least is None or value >= least) and (most is None or value <= most))

    bounds = {(True, False): f" of at least {least}", (False, True): f" of at most {most}"}
    both = f" from {least} to {most}"
    given = (least is not None, most is not None)
    return Accepted(accepts, f"a whole number{both if all(given) else bounds.get(given, '')}")


Count = Annotated[int, whole(1, 2**63 - 1)]
"""How many of something, at least one."""


def real(above: float = -math.inf, least: float = -math.inf, *, single: bool = False) -> Accepted:
    """Finite numbers, one or an array of them, within bounds; traced ones have no value yet."""

    def accepts(value: Any) -> bool:
        if isinstance(value, Tracer):
            return not single or value.ndim == 0
        if isinstance(value, (bool, np.bool_, str, bytes)):
            return False
        try:
            numbers = np.asarray(value)
            numbers = numbers.astype(float) if numbers.dtype.kind in "iufO" else np.array(math.nan)
        except (TypeError, ValueError, OverflowError):
            return False
        if numbers.size == 0 or (single and numbers.ndim):
            return False
        return bool(np.all(np.isfinite(numbers) & (numbers > above) & (numbers >= least)))

    if above == 0.0:
        return Accepted(accepts, "a positive number")
    if least == 0.0:
        return Accepted(accepts, "a number of at least 0")
    bound = f" above {above:g}" if above > -math.inf else f" of at least {least:g}"
    return Accepted(accepts, f"a finite number{bound if max(above, least) > -math.inf else ''}")


POSITIVE = real(above=0.0)
NOT_NEGATIVE = real(least=0.0)
NUMBER = real(single=True)
FUNCTION = Accepted(callable, "a function")
NAME = Accepted(lambda value: isinstance(value, str) and value.strip() != "", "a text that is not empty")

_PLAIN: dict[Any, Accepted] = {
    bool: Accepted(lambda value: isinstance(value, (bool, np.bool_)), "True or False"),
    str: Accepted(lambda value: isinstance(value, str), "a text"),
    int: Accepted(whole(-(2**63), 2**63 - 1).accepts, "a whole number"),
    float: real(single=True),
    Path: Accepted(lambda value: isinstance(value, os.PathLike), "a path"),
    type(None): Accepted(lambda value: value is None, "None"),
}


@cache
def kind_of(annotation: Any) -> Accepted | None:
    """What an annotation accepts; None where it says nothing that is checked here."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        marks = [mark for mark in annotation.__metadata__ if isinstance(mark, Accepted)]
        return marks[0] if marks else kind_of(inner[0])
    if origin in (Union, types.UnionType):
        # A thing or its name: where it is looked up, more can be said.
        named = str in inner and any(_ours(one) for one in inner)
        return None if named else _any_of([kind_of(one) for one in inner])
    if origin is Literal:
        return _choice(inner)
    if origin is Sequence:
        return _list_of(kind_of(inner[0]))
    if origin is Mapping:
        return Accepted(lambda value: isinstance(value, Mapping), "a dictionary")
    if origin is tuple and Ellipsis not in inner:
        return _tuple_of([kind_of(one) for one in inner])
    # What takes problems says more, since systems are taken for them.
    if _ours(annotation) and not getattr(annotation, "told_apart", False):
        return Accepted(lambda value: isinstance(value, annotation), _class_in_words(annotation), made=True)
    return None


def _ours(annotation: Any) -> bool:
    """Whether it is a class of the package, of which something can be an instance."""
    if not isinstance(annotation, type) or is_typeddict(annotation):
        return False
    if getattr(annotation, "_is_protocol", False):
        return False
    return annotation.__module__.split(".")[0] == __name__.split(".")[0]


def _any_of(kinds: list[Accepted | None]) -> Accepted | None:
    known = [one for one in kinds if one is not None]
    if len(known) < len(kinds):
        return None
    wanted = sorted({one.wanted: None for one in known}, key="None".__eq__)
    made = any(one.made for one in known)
    return Accepted(lambda value: any(one.accepts(value) for one in known), _either(wanted), made)


def _choice(values: tuple[Any, ...]) -> Accepted:
    def accepts(value: Any) -> bool:
        return any(type(value) is type(one) and value == one for one in values)

    words = values if all(isinstance(one, str) for one in values) else ()
    return Accepted(accepts, _either([repr(one) for one in values]), choices=words)


def _either(texts: Sequence[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)} or {last}" if first else last


def _list_of(inner: Accepted | None) -> Accepted | None:
    """A list, of texts or whole numbers; which other entry is wrong is said where they are looked at."""
    words = {"a text": " of texts", "a whole number": " of whole numbers"}
    each = inner if inner is not None and inner.wanted in words else None

    def accepts(value: Any) -> bool:
        listed = isinstance(value, (Sequence, np.ndarray, jax.Array)) and not isinstance(value, (str, bytes))
        return listed and getattr(value, "ndim", 1) > 0 and (each is None or all(map(each.accepts, value)))

    return Accepted(accepts, f"a list{words[each.wanted] if each else ''}")


def _tuple_of(kinds: list[Accepted | None]) -> Accepted | None:
    """So many entries, each of its kind."""

    def accepts(value: Any) -> bool:
        if not isinstance(value, (list, tuple, np.ndarray, jax.Array)):
            return False
        if isinstance(value, (np.ndarray, jax.Array)) and value.ndim == 0:
            return False
        pairs = zip(kinds, value, strict=False)
        return len(value) == len(kinds) and all(one is None or one.accepts(entry) for one, entry in pairs)

    return Accepted(accepts, f"({', '.join('...' if one is None else one.wanted for one in kinds)})")


def _class_in_words(cls: type) -> str:
    """What an instance is called: the class by name, an abstract one by its words and examples of it."""
    if hasattr(cls, "in_words"):
        return cls.in_words
    if not cls.__name__.startswith("Abstract"):
        known = cls.__name__ in sys.modules[__name__.split(".")[0]].__all__
        return f"a {'pt.' * known}{cls.__name__}"
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", cls.__name__.removeprefix("Abstract")).lower()
    examples = [one.__name__ for one in _concrete(cls)]
    few = ", ".join(examples[:FEW]) + ", ..." * (len(examples) > FEW)
    article = "an" if words[0] in "aeio" else "a"
    return f"{article} {words}" + (f" such as {few}" if few else "")


def _concrete(cls: type) -> Iterator[type]:
    for one in cls.__subclasses__():
        if not inspect.isabstract(one) and not one.__name__.startswith(("Abstract", "_")):
            yield one
        yield from _concrete(one)


def check_argument(value: Any, field: str, kind: Accepted | None) -> None:
    """Refuse a value that is not of a kind, in one line."""
    if kind is None or kind.accepts(value):
        return
    if kind.made and getattr(value, "__module__", None) != "builtins":
        check_called(field.partition(" of ")[0], value)
    near = did_you_mean(value, kind.choices, "") if isinstance(value, str) and kind.choices else ""
    raise InputError(f"{field} = {quoted(value)}; it must be {kind.wanted}{near and '; ' + near}")


def check_keywords(declared: type, given: Mapping[str, Any], of: str) -> None:
    """Refuse values of keywords that the annotations of a `TypedDict` do not accept."""
    for name, value in given.items():
        check_argument(value, f"{name} of {of}", kind_of(declared.__annotations__.get(name, Any)))


def checked(function: Function) -> Function:
    """A function that refuses arguments which its annotations do not accept."""
    # Of what makes something, messages name it: they are read far from the call.
    of = function.__name__ if function.__name__[0].isupper() else None

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        _check_call(function, of, args, kwargs)
        return function(*args, **kwargs)

    call_any: Any = call
    return call_any


class Checked(eqx.Module):
    """A module whose arguments are checked before it is made, those of its own `__init__` or its fields."""

    def __new__(cls, *args: Any, **kwargs: Any):
        """Check the arguments as they are given."""
        _check_call(cls.__init__, cls.__name__, (None, *args), kwargs)
        return super().__new__(cls)


def _check_call(function: Callable, of: str | None, args: tuple, kwargs: Mapping[str, Any]) -> None:
    names, own, kinds = _parameters(function)
    named = ((name, value) for name, value in kwargs.items() if name not in own)
    for name, value in (*zip(names, args, strict=False), *named):
        kind = kinds.get(name)
        if kind is not None and not kind.accepts(value):
            check_argument(value, name if of is None else f"{name} of {of}", kind)


@cache
def _parameters(function: Callable) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, Accepted | None]]:
    """Names of parameters given by place, of those that have no other way, and what is accepted of all."""
    function = inspect.unwrap(function)
    code = function.__code__
    kinds = {name: kind_of(one) for name, one in function.__annotations__.items() if name != "return"}
    names = code.co_varnames[: code.co_argcount]
    return names, names[: code.co_posonlyargcount], kinds
