"""Trees taken apart: arrays, users' functions, and what else tells a tree from others."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer

from poinsot.core import Kind, UserFunction
from poinsot.kernels._canonical import NoForm, digest
from poinsot.kernels._snapshot import Snapshot, is_users, moment_of, seen

LATEST = 16
"""Trees whose parts are remembered."""
_latest: OrderedDict[tuple[int, ...], tuple[Any, "Apart"]] = OrderedDict()


class _Place(Enum):
    """What stands in the place of a leaf of a tree."""

    ARRAY = 1
    FUNCTION = 2


_ARRAY, _FUNCTION = _Place.ARRAY, _Place.FUNCTION


def is_data(leaf: Any) -> bool:
    """Whether a leaf is an array, whose numbers are data of a program."""
    return isinstance(leaf, (np.ndarray, np.generic, jax.Array))


def arrays(tree: Any) -> Any:
    """The arrays of a tree, without what is no array."""
    return eqx.filter(tree, is_data)


@dataclass(frozen=True)
class Apart:
    """A tree taken apart."""

    arrays: list[Any]
    users: list[Any]
    """Users' functions, `UserFunction`s of a `Snapshot` each."""
    rest: tuple[Any, ...]
    """Its leaves, with others in the place of arrays and of users' functions."""
    structure: Any
    measured: list[bool]
    """Whether each array holds measured quantities alone, of which no one is special."""

    @classmethod
    def of(cls, tree: Any) -> "Apart":
        """The parts of a tree, with its users' functions as they are now."""
        # Modules do not change, and a run looks at the same ones again and again.
        modules = tree if type(tree) is tuple else (tree,)
        key = tuple(map(id, modules))
        before = _latest.get(key)
        if before is not None:
            return before[1]
        leaves, structure = jax.tree.flatten(tree, is_leaf=is_users)
        rest = tuple(_ARRAY if is_data(leaf) else _FUNCTION if is_users(leaf) else leaf for leaf in leaves)
        pairs = list(zip(leaves, rest, strict=True))
        users = [leaf for leaf, place in pairs if place is _FUNCTION]
        apart = cls(
            [leaf for leaf, place in pairs if place is _ARRAY],
            [seen(one) for one in users],
            rest,
            structure,
            [known for node in jax.tree.leaves(tree, is_leaf=_is_whole) for known in _measured(node)],
        )
        lasting = all(one is None or isinstance(one, eqx.Module) for one in modules)
        if lasting and all(isinstance(one.function, Snapshot) for one in users):
            # With the modules, so that no other gets their places in memory.
            _latest[key] = modules, apart
            while len(_latest) > LATEST:
                _latest.popitem(last=False)
        return apart

    @cached_property
    def form(self) -> str | None:
        """What tells it from other trees beside the numbers in its arrays and its users' functions.

        None where something in it has no form that is the same in every process.
        """
        shapes = [(np.shape(leaf), np.dtype(leaf.dtype)) for leaf in self.arrays]
        takes = [(one.takes_time, one.takes_params) for one in self.users]
        try:
            return digest(shapes, takes, self.rest, self.structure)
        except NoForm:
            return None

    def at(self, kinds: Sequence[Sequence[Kind]]) -> "Apart":
        """With its users' functions for some kinds of arguments of each."""
        return replace(self, users=[seen(one, own) for one, own in zip(self.users, kinds, strict=True)])

    @property
    def snapshots(self) -> list[Snapshot]:
        """Users' functions after `at`."""
        return [one.function for one in self.users]

    @property
    def numbers(self) -> list[Any]:
        """Numbers in users' functions."""
        return [number for one in self.snapshots for numbers in one.numbers for number in numbers]

    def whole(self, arrays: Sequence[Any], numbers: Sequence[Any]) -> Any:
        """The tree with other arrays, and other numbers in its users' functions."""
        left, further = iter(arrays), iter(numbers)
        users = iter([_with_numbers(one, further) for one in self.users])
        leaves = [
            next(left) if leaf is _ARRAY else next(users) if leaf is _FUNCTION else leaf for leaf in self.rest
        ]
        return jax.tree.unflatten(self.structure, leaves)


def _is_whole(node: Any) -> bool:
    return is_users(node) or getattr(type(node), "measured", False) is True


def _measured(node: Any) -> list[bool]:
    """Whether each of the arrays in a node is a measured quantity."""
    if is_users(node):
        return []
    return [_is_whole(node)] * sum(map(is_data, jax.tree.leaves(node)))


def is_traced(*trees: Any) -> bool:
    """Whether trees, or what users' functions in them refer to, hold numbers that a trace does not know."""
    leaves = jax.tree.leaves(trees, is_leaf=is_users)
    for user in filter(is_users, leaves):
        moment = moment_of(user)
        kinds = tuple(user.calls.kinds)
        leaves += [number for kind in kinds if moment.takes(kind) for number in moment.taken(kind)[1]]
    return any(isinstance(leaf, Tracer) for leaf in leaves)


def _with_numbers(user: UserFunction, numbers: Any) -> UserFunction:
    snapshot: Any = user.function
    own = tuple(tuple(next(numbers) for _ in one) for one in snapshot.numbers)
    return eqx.tree_at(lambda one: one.function.numbers, user, own)
