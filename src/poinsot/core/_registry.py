"""Things of one kind by name: what the command line, scenario files, messages and the documentation read."""

import difflib
import importlib
import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from poinsot.core._errors import InputError
from poinsot.core._show import quoted

T = TypeVar("T")

REQUIRED = "required"
"""Stands where a parameter has no default value."""
FEW_NAMES = 12
"""Names that an error message lists."""
COMPARED = 1000
"""Names among which similar ones are looked for."""
_NAME = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")
_OPEN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Later:
    """A thing that stands in a module and loads when it is asked for.

    Args:
        module: where it stands.
        name: what it is called there.
    """

    def __init__(self, module: str, name: str):
        self._module, self._name = module, name

    @classmethod
    def each(cls, package: str | None, places: Mapping[str, str]) -> "dict[str, Later]":
        """Things of a package by their names here, each with its file and its name there: `"_file.Name"`."""
        parts = {name: place.split(".") for name, place in places.items()}
        return {name: cls(f"{package}.{file}", there) for name, (file, there) in parts.items()}

    def load(self) -> Any:
        """The thing."""
        return getattr(importlib.import_module(self._module), self._name)


class Registry(Mapping[str, T], Generic[T]):
    """A mapping from names to things of one kind, which suggests a name where one is not known.

    Args:
        kind: what one of them is called, e.g. "integrator".
        entries: the things, or where they stand, by name: in lower case, with hyphens or underscores.
        listing: what to say in place of all the names, where there are too many to print.
    """

    def __init__(self, kind: str, entries: Mapping[str, T | Later], listing: str | None = None):
        self.kind = kind
        self._entries: dict[str, Any] = dict(entries)
        self._listing = listing

    def __getitem__(self, name: str) -> T:
        entry = self._entries[name]
        if isinstance(entry, Later):
            entry = self._entries[name] = entry.load()
        return entry

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Registry({self.kind!r}, {', '.join(self)})"

    def name_of(self, name: Any, title: str | None = None) -> str:
        """The registered spelling of a name; hyphens and underscores are the same.

        Args:
            name: what was given.
            title: how messages refer to it; the kind and the name by default.

        Raises:
            InputError: when no thing has that name; it suggests near ones.
        """
        for known in self if isinstance(name, str) else ():
            if canonical(known) == canonical(name):
                return known
        hint = did_you_mean(name, self, "" if self._listing is None else self._listing)
        if self._listing is None:
            plural = self.kind if self.kind.endswith("s") else f"{self.kind}s"
            hint = f"{hint} the {plural} are {', '.join(self)}".lstrip()
        raise InputError(f"{title or f'{self.kind} {quoted(name)}'} is not known; {hint}")

    def find(self, name: Any, title: str | None = None) -> T:
        """The thing of that name; see `name_of`."""
        return self[self.name_of(name, title)]

    def add(self, name: str, thing: T) -> None:
        """Make a thing known under a new name.

        Raises:
            InputError: for a name that cannot be written in a file, or that is taken.
        """
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            raise InputError(
                f"{self.kind} name = {quoted(name)}; it must be lower case letters, digits and hyphens"
            )
        if any(canonical(known) == canonical(name) for known in self):
            raise InputError(f"{self.kind} name = {quoted(name)} is taken; choose another")
        self._entries[name] = thing


def canonical(name: str) -> str:
    """A name with hyphens for underscores."""
    return name.replace("_", "-")


def did_you_mean(name: Any, known: Iterable[str], otherwise: str) -> str:
    """The known names that a misspelt one may stand for, as a question; else what is said otherwise."""
    names = {canonical(one.lower()): one for one in known}
    given = canonical(str(name).lower())
    near = difflib.get_close_matches(given, names, n=3, cutoff=0.6)
    likeness = [difflib.SequenceMatcher(None, one, given).ratio() for one in near]
    likely = [names[one] for one, ratio in zip(near, likeness, strict=True) if ratio > likeness[0] - 0.1]
    return f"did you mean {' or '.join(likely)}?" if likely else otherwise


def known_names(name: Any, known: Sequence[str]) -> str:
    """The known names that a misspelt one may stand for, as a question; else what there is."""
    return did_you_mean(name, known[:COMPARED], f"there are {few(known) or 'none'}")


def few(names: Sequence[str], most: int = FEW_NAMES) -> str:
    """The first of some names, for messages."""
    return ", ".join(names[:most]) + ", ..." * (len(names) > most)


def parameters_of(maker: Callable[..., Any]) -> dict[str, Any]:
    """Parameters of a function or class with their default values; "required" where there is none."""
    named = {key: one for key, one in inspect.signature(maker).parameters.items() if one.kind not in _OPEN}
    return {key: REQUIRED if one.default is one.empty else one.default for key, one in named.items()}


def check_parameters(
    maker: Callable[..., Any],
    values: Iterable[str],
    title: str,
    word: str = "parameter",
    given: Collection[str] = (),
) -> None:
    """Refuse names of parameters that a function does not have, and the lack of those that it needs.

    Args:
        maker: what will be called.
        values: names of the values that it will be called with.
        title: how messages refer to it.
        word: what messages call a parameter.
        given: further names, of values that come from elsewhere; messages do not offer these.
    """
    known, present = parameters_of(maker), [*values, *given]
    offered = [key for key in known if key not in given]
    every = f"its {word}s are {', '.join(offered)}" if offered else f"it has no {word}s"
    kinds = [one.kind for one in inspect.signature(maker).parameters.values()]
    for key in () if inspect.Parameter.VAR_KEYWORD in kinds else present:
        if key not in known:
            raise InputError(f"{title} has no {word} {quoted(key)}; {did_you_mean(key, offered, every)}")
    missing = [key for key, default in known.items() if default is REQUIRED and key not in present]
    if missing:
        raise InputError(f"{title} needs {' and '.join(missing)}; {every}")


def check_called(field: str, value: Any) -> None:
    """Refuse a class or a function where what it makes is meant, such as `RK4` for `RK4()`."""
    if not isinstance(value, type) and not inspect.isroutine(value):
        return
    try:
        needed = [f"{key}=..." for key, default in parameters_of(value).items() if default is REQUIRED]
    except ValueError:  # Some classes written in C have no signature.
        needed = ["..."]
    sort, name = "class" if isinstance(value, type) else "function", value.__name__
    raise InputError(f"{field} = {name} is a {sort}; call it, {field}={name}({', '.join(needed)})")
