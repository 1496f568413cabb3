"""Values as text: cut short in messages, on one line with their numbers in reprs."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer

LONGEST = 200
"""Characters of a value that a message quotes."""
NUMBERS = 9
"""Numbers of an array that are written out: a matrix of three rows."""
ENTRIES = 6
"""Entries of a list that are written out."""
LINE = 400
"""Characters of the text of an object."""


def quoted(value: Any, longest: int = LONGEST) -> str:
    """The repr of a value for an error message: one line, cut in the middle where it is long.

    Args:
        value: what a user gave.
        longest: most characters of the result.
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:
        # An integer of many thousand digits has no repr, nor has an object whose own fails.
        text = f"<{type(value).__name__}>"
    return shortened(text, longest)


def brief(value: Any) -> str:
    """A value on one line: numbers of small arrays, the shape of large ones, the fields of an object."""
    if isinstance(value, (np.ndarray, np.generic, jax.Array)):
        return _array_text(value)
    if isinstance(value, float):
        return repr(float(f"{value:.6g}") + 0.0)
    if isinstance(value, Mapping):
        pairs = [f"{key!r}: {brief(one)}" for key, one in _first(value.items())]
        return f"{{{', '.join(_few(pairs, value))}}}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_few([brief(one) for one in _first(value)], value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, Printable):
        return shortened(value.in_brief(), LINE)
    if isinstance(value, eqx.Module) and type(value).__repr__ is eqx.Module.__repr__:
        return shown(value, parts_of(value))
    if isinstance(value, Callable) and not isinstance(value, eqx.Module):
        inner = value.func if isinstance(value, partial) else value
        return getattr(inner, "__name__", type(inner).__name__)
    return quoted(value, LINE)


def parts_of(thing: Any, derived: Sequence[str] = ()) -> dict[str, Any]:
    """Fields by name, without those that are None, empty or have their default value.

    Args:
        thing: a dataclass.
        derived: further fields to leave out.
    """
    entries = [entry for entry in dataclasses.fields(thing) if entry.name not in derived]
    values = [(entry, getattr(thing, entry.name, None)) for entry in entries]
    return {entry.name: value for entry, value in values if not _idle(value, entry.default)}


def title(thing: Any) -> str:
    """What people made a thing with: `shown_as` where it says so, else its class."""
    return getattr(thing, "shown_as", type(thing).__name__)


def shown(thing: Any, parts: Mapping[str, Any]) -> str:
    """What a thing was made with and some parts, on one line."""
    inner = ", ".join(f"{name}={brief(value)}" for name, value in parts.items())
    return shortened(f"{title(thing)}({inner})", LINE)


class Printable(eqx.Module):
    """A module whose repr is one line with its numbers, under the name `shown_as` or that of its class."""

    derived: ClassVar[tuple[str, ...]] = ()
    """Fields that follow from the others, which the repr leaves out."""

    def shown_parts(self) -> dict[str, Any]:
        """What the repr has, by name."""
        return parts_of(self, self.derived)

    def in_brief(self) -> str:
        """How it looks as a part of another."""
        return repr(self)

    def __repr__(self) -> str:
        return shown(self, self.shown_parts())


def _idle(value: Any, default: Any) -> bool:
    """Whether a field says nothing: None, empty, a switch that is off, or a value equal to its default."""
    if value is None or (isinstance(value, (tuple, list, dict)) and not value):
        return True
    if value is False:
        return default is not True
    return isinstance(value, (bool, int, float, str)) and value == default


def _array_text(array: Any) -> str:
    """Numbers of a small array; type and shape of a large or traced one."""
    if isinstance(array, Tracer) or array.size > NUMBERS or array.dtype.kind not in "biuf":
        return f"{array.dtype}[{','.join(map(str, array.shape))}]"
    return _nested(np.asarray(array).tolist())


def _nested(numbers: Any) -> str:
    if isinstance(numbers, list):
        inner = ", ".join(map(_nested, numbers))
        return f"({inner},)" if len(numbers) == 1 else f"({inner})"
    return brief(numbers) if isinstance(numbers, float) else str(numbers)


def _first(values: Any) -> list:
    return [one for one, _ in zip(values, range(ENTRIES), strict=False)]


def _few(texts: list[str], values: Any) -> list[str]:
    """Texts of the first entries, and how many more there are."""
    more = len(values) - len(texts)
    return [*texts, f"... {more} more"] if more else texts


def shortened(text: str, longest: int = LONGEST) -> str:
    """A text with its middle left out where it is too long."""
    if len(text) <= longest:
        return text
    head = 2 * (longest - 5) // 3
    return f"{text[:head]} ... {text[head + 5 - longest :]}"
