"""What is made of a function and its arguments, found again by their structure."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import jax

from poinsot.core import Kind
from poinsot.kernels._apart import Apart
from poinsot.kernels._canonical import NoForm, digest, sources
from poinsot.kernels._snapshot import unforeseen

REMEMBERED = 512
"""Programs that a process remembers; the longest unused are forgotten."""
Kinds = tuple[tuple[Kind, ...], ...]
"""For each user's function the kinds of arguments that a program calls it with."""


class Remembered(OrderedDict):
    """A dictionary that forgets what has not been used for longest."""

    def __init__(self, most: int = REMEMBERED):
        super().__init__()
        self.most = most

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, which is used now."""
        try:
            self.move_to_end(key)
            return self[key]
        except KeyError:  # Another thread may have pushed it out since.
            return default

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        while len(self) > self.most:
            self.popitem(last=False)


_kinds = Remembered()
"""By the structure of arguments: kinds of arguments that users' functions are called with."""


def place_of(*things: Any) -> str | None:
    """A name for things that is the same in every process; None where there is none."""
    try:
        return digest(sources(), bool(jax.config.read("jax_enable_x64")), *things)
    except NoForm:
        return None


class Given:
    """Arguments of a function, and what a program for them is found by.

    Args:
        trees: the arguments.
        things: what else decides about the program, beginning with the function.
        numbers: whether numbers are part of it, too.
    """

    def __init__(self, trees: Sequence[Any], *things: Any, numbers: bool = False):
        self._numbers = numbers
        self.parts = [tree if isinstance(tree, Apart) else Apart.of(tree) for tree in trees]
        forms = [part.form for part in self.parts]
        self.place = None if None in forms else place_of(forms, *things)

    @property
    def users(self) -> list[Any]:
        """The users' functions in all arguments."""
        return [one for part in self.parts for one in part.users]

    def at(self, kinds: Kinds) -> list[Apart]:
        """The arguments with their users' functions for some kinds of arguments of these."""
        left = iter(kinds)
        return [part.at([next(left) for _ in part.users]) for part in self.parts]

    def kinds(self) -> Kinds:
        """The kinds of arguments that a program like this calls users' functions with, as far as is known."""
        known = None if self.place is None or self._numbers else _kinds.get(self.place)
        if known is None:
            known = tuple(tuple(one.calls.kinds) for one in self.users)
        return tuple(
            tuple(kind for kind in own if one.function.moment.takes(kind))
            for own, one in zip(known, self.users, strict=True)
        )

    def key(self, parts: Sequence[Apart]) -> str | None:
        """The name of the program for these arguments; None where it has none."""
        if self.place is None:
            return None
        traces = [[trace.digest for trace in one.traces] for part in parts for one in part.snapshots]
        values = [part.arrays + part.numbers for part in parts] if self._numbers else None
        return digest(self.place, traces, values)


def found(given: Given, known: Remembered, make: Callable[[list[Apart], str | None], Any]) -> Any:
    """What is remembered of arguments like these, or made of them.

    Args:
        given: the arguments.
        known: what is remembered.
        make: makes it of the arguments, with users' functions prepared for their calls, and of its name.

    Returns:
        What was made, and the arguments as it takes them.
    """
    kinds = given.kinds()
    while True:
        for user, own in zip(given.users, kinds, strict=True):
            user.calls.kinds.update(dict.fromkeys(own))
        parts = given.at(kinds)
        key = given.key(parts)
        value = None if key is None else known.get(key)
        if value is None:
            with unforeseen() as missed:
                value = make(parts, key)
            if missed:
                # The numbers of these calls are in the code, and must not be.
                more = [
                    [kind for moment, kind in missed if moment is one.function.moment] for one in given.users
                ]
                kinds = tuple(tuple(dict.fromkeys((*a, *b))) for a, b in zip(kinds, more, strict=True))
                continue
            if key is not None and given.place is not None:
                _kinds[given.place], known[key] = kinds, value
        return value, parts
