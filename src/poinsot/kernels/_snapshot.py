"""What users' functions compute at the moment, so that programs follow what these refer to.

A function may read globals, closures, attributes and arrays, which may change between two runs. So each call
that runs functions traces them again, each by itself, which takes milliseconds. The trace tells which program
is needed. Its numbers are data of that program, as parameters are, so that other numbers compile nothing.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import equinox as eqx
import jax
from jax.core import Tracer

from poinsot.core import Calls, Kind, UserFunction, brief
from poinsot.kernels._users_trace import Trace, taken

Tree = TypeVar("Tree")


class Moment:
    """A user's function at one moment: what it computes for each kind of arguments is found once."""

    def __init__(self, function: Any, calls: Calls):
        self.function, self.calls = function, calls
        self._known: dict[Kind, tuple[Trace, tuple[Any, ...]]] = {}

    def __reduce__(self) -> Any:
        return Moment, (self.function, Calls())

    def takes(self, kind: Kind) -> bool:
        """Whether the function takes arguments of a kind; it may have been tried with others."""
        try:
            self.taken(kind)
        except Exception:
            return False
        return True

    def taken(self, kind: Kind) -> tuple[Trace, tuple[Any, ...]]:
        """The trace for a kind of arguments, and the numbers in it."""
        known = self._known.get(kind)
        if known is None:
            known = taken(self.function, kind)
            if not any(isinstance(one, Tracer) for one in known[1]):
                self._known[kind] = known
        return known


class Snapshot(eqx.Module):
    """A user's function as it was at one moment.

    Args:
        moment: the function.
        kinds: of arguments for which its numbers are data of the program that it is part of.
    """

    numbers: tuple[tuple[Any, ...], ...]
    """Of each trace those that stand in the function or in what it refers to."""
    traces: tuple[Trace, ...] = eqx.field(static=True)
    moment: Moment = eqx.field(static=True)

    def __init__(self, moment: Moment, kinds: Sequence[Kind] = ()):
        pairs = [moment.taken(kind) for kind in kinds]
        self.traces, self.numbers = tuple(one for one, _ in pairs), tuple(one for _, one in pairs)
        self.moment = moment

    def __repr__(self) -> str:
        return brief(self.moment.function)

    def __reduce__(self) -> Any:
        return Snapshot, (self.moment,)

    @property
    def __wrapped__(self) -> Any:
        """The function itself, for its signature."""
        return self.moment.function

    def __call__(self, *given: Any) -> Any:
        """The value of the function."""
        kind = Kind.of(given)
        for trace, numbers in zip(self.traces, self.numbers, strict=True):
            if trace.kind == kind:
                return trace(numbers, given)
        if not self.moment.takes(kind):
            # As it stands it fails in the way that people know, or returns what its caller refuses.
            return self.moment.function(*given)
        self.moment.calls.note(given)
        for found in _listening:
            found.append((self.moment, kind))
        trace, numbers = self.moment.taken(kind)
        return trace(numbers, given)


def is_users(node: Any) -> bool:
    """Whether a part of a tree is a function of the user, as it stands or as it was at some moment."""
    return isinstance(node, UserFunction) and (isinstance(node.function, Snapshot) or node.theirs)


def settled(tree: Tree) -> Tree:
    """The tree with its users' functions as they are at this moment; the same tree if it has none."""
    leaves, structure = jax.tree.flatten(tree, is_leaf=is_users)
    if not any(map(is_users, leaves)):
        return tree
    return jax.tree.unflatten(structure, [seen(one) if is_users(one) else one for one in leaves])


def moment_of(user: UserFunction) -> Moment:
    """The moment of a user's function: now if it has none."""
    function = user.function
    return function.moment if isinstance(function, Snapshot) else Moment(function, user.calls)


def seen(user: UserFunction, kinds: Sequence[Kind] = ()) -> UserFunction:
    """A user's function at its moment, or now if it has none, for some kinds of arguments."""
    return replace(user, function=Snapshot(moment_of(user), kinds))


@contextmanager
def unforeseen() -> Iterator[list[tuple[Moment, Kind]]]:
    """Calls within the block of functions with arguments of kinds that they were not prepared for."""
    found: list[tuple[Moment, Kind]] = []
    _listening.append(found)
    try:
        yield found
    finally:
        _listening[:] = [other for other in _listening if other is not found]


_listening: list[list[tuple[Moment, Kind]]] = []
