"""What is computed of the saved states of a run: in blocks, and when it is first asked for."""

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import lax

from poinsot.core import AbstractProblem
from poinsot.kernels import by_blocks, each_state, once
from poinsot.simulation._clock import Seconds, timed

AT_ONCE = 2**18
"""Numbers that are looked at in one go."""
FEW = 16
"""States up to which they are looked at in a short block; beyond, in blocks so many times as long."""

Compute = Callable[[tuple[str, ...] | None], dict[str, np.ndarray]]
"""Arrays of the given names, or of all there are."""


class Evaluated(MutableMapping[str, np.ndarray]):
    """Arrays by name, computed when they are first asked for, and kept.

    Args:
        compute: gives arrays by name.
        groups: names, those together that are computed together. None if the names are not known before the
            arrays: then all are computed together.
        seconds: of the run, to which the time of the evaluation is added.
    """

    def __init__(self, compute: Compute, groups: Sequence[Sequence[str]] | None, seconds: Seconds):
        self._compute, self._groups, self._seconds = compute, groups, seconds
        self._known: dict[str, np.ndarray] = {}
        self._names: dict[str, None] | None = None
        if groups is not None:
            self._names = dict.fromkeys(name for group in groups for name in group)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._known and name in self._all_names:
            self._fill(next((group for group in self._groups or () if name in group), None))
        return self._known[name]

    def __setitem__(self, name: str, values: np.ndarray) -> None:
        self._all_names[name] = None
        self._known[name] = values

    def __delitem__(self, name: str) -> None:
        del self._all_names[name]
        self._known.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all_names)

    def __contains__(self, name: object) -> bool:
        return name in self._all_names

    def __len__(self) -> int:
        return len(self._all_names)

    def __repr__(self) -> str:
        return f"Evaluated({', '.join(self)})"

    def all(self) -> dict[str, np.ndarray]:
        """Everything, what is missing computed in one go."""
        missing = tuple(name for name in self._all_names if name not in self._known)
        if missing:
            self._fill(missing)
        return {name: self._known[name] for name in self._all_names}

    def items(self):
        """Pairs of name and array."""
        return self.all().items()

    def values(self):
        """The arrays."""
        return self.all().values()

    @property
    def _all_names(self) -> dict[str, None]:
        if self._names is None:
            self._fill(None)
            self._names = dict.fromkeys(self._known)
        return self._names

    def _fill(self, names: Sequence[str] | None) -> None:
        with timed(self._seconds, "evaluation"):
            found = self._compute(None if names is None else tuple(names))
        self._known = found | self._known


def in_blocks(function: Callable, times: np.ndarray, packed: np.ndarray, most: int = 4096):
    """A compiled function of all times and states, block by block: few compiles serve every length.

    The last block is filled up, so that a short list has a short one: states may be costly to look at.
    """
    enough = next((size for size in (FEW, FEW**2) if size >= len(times)), most)
    block = int(np.clip(AT_ONCE // max(packed[0].size, 1), 1, min(most, enough)))
    return by_blocks(function, (times, packed), block, block)


def at_states(
    function: Callable, model: Any, times: np.ndarray, packed: np.ndarray, count: int | None = None
) -> Any:
    """A function of a model, of nothing, and of time and packed state, at all of these states.

    Args:
        function: what is looked at.
        model: its first argument.
        times: of the states.
        packed: the states.
        count: of states there will be in all, where these are some of them.
    """
    found = each_state(function, model, times, packed, count=count)
    return in_blocks(partial(_mapped, function, model), times, packed) if found is None else found


@once
def _mapped(function: Callable, model: Any, times, packed):
    if getattr(model, "looped", False):
        # Loops over joints look up their bodies: side by side that compiles and runs slower.
        return lax.map(lambda at: function(model, (), at), (times, packed))
    return jax.vmap(lambda t, y: function(model, (), (t, y)))(times, packed)


def components_of(problem: AbstractProblem, packed: np.ndarray) -> dict[str, np.ndarray]:
    """The labelled components of packed states, without a copy where they lie side by side.

    Which number belongs where is read off the places themselves, packed and unpacked: a packed state holds
    its components as they are.
    """
    rows = packed.reshape(len(packed), -1)
    numbers: Any = np.arange(float(rows.shape[1])).reshape(packed.shape[1:])
    places = problem.unpack(numbers)
    return {label: _taken(rows, np.asarray(where).astype(int)) for label, where in places.items()}


def _taken(rows: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Numbers of each row, in the shape of their places."""
    first = where.flat[0] if where.size else 0
    if np.array_equal(where.reshape(-1), np.arange(first, first + where.size)):
        return rows[:, first : first + where.size].reshape(len(rows), *where.shape)
    return rows[:, where]


def conserved_of(problem: AbstractProblem, times: np.ndarray, packed: np.ndarray) -> dict[str, np.ndarray]:
    """The conserved quantities of a problem at these states, by name."""
    conserved = at_states(_conserved, problem, times, packed)
    # JAX sorts the keys of a dict; people expect the energy first, then their own in their order.
    own = sorted((name for name in conserved if name not in problem.invariants), key=lambda n: n != "energy")
    return {name: conserved[name] for name in (*own, *problem.invariants)}


def observables_of(problem: AbstractProblem, times: np.ndarray, packed: np.ndarray) -> dict[str, np.ndarray]:
    """What else a problem shows of these states, by name."""
    return at_states(_observables, problem, times, packed)


def _conserved(problem: AbstractProblem, grid, at):
    return problem.conserved(*at)


def _observables(problem: AbstractProblem, grid, at):
    return problem.observables(*at)
