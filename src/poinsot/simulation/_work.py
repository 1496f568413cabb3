"""The work done on bodies: the time integral of the power, along every step of a run, saved or not."""

from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from poinsot.equations import Formulation
from poinsot.integrators.adaptive import Dense
from poinsot.simulation._evaluation import at_states
from poinsot.simulation._schedule import Stretch

NODES = 4
"""Ends of steps through which the power is interpolated, by values and rates: exact to degree 7."""
MOST_POINTS = 5
"""Points between the ends of a step of an adaptive solver, where its order is not known."""


class StepWork:
    r"""The work along fixed steps, from the power $P$ and its rate at the ends of the steps.

    The integral over a step is that of the polynomial through values and rates at this end, the other and
    the two before, $O(h^9)$; the first steps share theirs:

    $$ \int_{t_n}^{t_{n+1}} P\,dt = \sum_j \big( h\,a_j P_{n+j} + h^2 b_j \dot P_{n+j} \big),
       \qquad j = -2 \dots 1 . $$

    Every step counts, whatever is saved; how they come in chunks changes no bit. A state within a step adds
    the integral from its start by two nodes.

    Args:
        formulation: the bodies.
        t0: start of the run.
        dt: step.
        y: packed start.
        steps: of the run.
    """

    def __init__(self, formulation: Formulation, t0: float, dt: float, y: np.ndarray, steps: int):
        self._formulation, self._h, self._steps = formulation, dt, steps
        self._power, self._rate = self._at(np.array([t0]), y[None])
        """Of the start or the last three ends, and of those that have no work yet."""
        self._work = np.zeros(1)
        """Of the same ends, as far as it is known."""
        self._kept: list[np.ndarray] = [np.zeros(1)]
        self._waiting: list[tuple[int, float, float, float]] = []

    def enter(self, times: np.ndarray, states: np.ndarray, stretch: Stretch) -> None:
        """Take in the next states of a run: the ends of all steps, and states within steps to be saved."""
        power, rate = self._at(times, states)
        ends = stretch.ends
        place = len(self._power) - 1 + np.cumsum(ends)
        self._power = np.concatenate([self._power, power[ends]])
        self._rate = np.concatenate([self._rate, rate[ends]])
        beyond = np.where(ends, 0.0, stretch.beyond)
        given = (part[stretch.kept].tolist() for part in (place, beyond, power, rate))
        self._waiting += zip(*given, strict=True)
        if len(self._power) >= NODES:
            self._settle()

    def close(self) -> np.ndarray:
        """The work at all states that were saved, the start included."""
        self._settle()
        return np.concatenate(self._kept)

    def _at(self, times: np.ndarray, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return at_states(_power_and_rate, self._formulation, times, states, self._steps)

    def _settle(self) -> None:
        """Find the work of all ends, and of the states that wait for it; forget all but the last ends."""
        known, count = len(self._work), len(self._power)
        nodes = min(NODES, count)
        for end in range(known, min(nodes - 1, count)):
            self._extend(end, end + 1, end - 1, nodes)
        self._extend(max(known, nodes - 1), count, nodes - 2, nodes)
        if self._waiting:
            place, beyond, power, rate = (np.array(part) for part in zip(*self._waiting, strict=True))
            (a0, a1), (b0, b1) = _hermite(2, 0)
            h = beyond * self._h
            part = h * (a0 * self._power[place] + a1 * power) + h**2 * (b0 * self._rate[place] + b1 * rate)
            self._kept.append(self._work[place] + part)
            self._waiting = []
        last = slice(-(NODES - 1), None) if count >= NODES else slice(None)
        self._power, self._rate, self._work = self._power[last], self._rate[last], self._work[last]

    def _extend(self, first: int, last: int, interval: int, nodes: int) -> None:
        """Work of ends `first` to `last`, that of the step before each by `interval` of so many nodes."""
        if last <= first:
            return
        a, b = _hermite(nodes, interval)
        begin = first - 1 - interval
        pieces = sum(
            self._h * a[j] * self._power[begin + j : begin + j + last - first]
            + self._h**2 * b[j] * self._rate[begin + j : begin + j + last - first]
            for j in range(nodes)
        )
        self._work = np.concatenate([self._work, np.cumsum(np.append(self._work[-1], pieces))[1:]])


class Piece(NamedTuple):
    """Some steps of an adaptive solver, the work along which is not known yet."""

    t: np.ndarray
    """Start of the first of them, and the ends of all."""
    dense: Dense
    saved: np.ndarray | None
    """Times within them at which states are saved; None for ends of steps."""
    chosen: slice
    """Which of these."""


class DenseWork:
    r"""The work along the steps of an adaptive solver, by Lobatto points of its dense output.

    $$ \int_{t_n}^{t_{n+1}} P\,dt = h \sum_i b_i\, P(t_n + c_i h), \qquad c_1 = 0, \quad c_s = 1, $$

    is right to degree $2s - 3$, which is that of the solver's order at least. States at both ends are known;
    each point between them may cost as much as a step. So the work is found when it is first asked for, as an
    array, unless the dense output will not be there by then.

    Args:
        formulation: the bodies.
        order: of the solver, or None if it is not known.
    """

    def __init__(self, formulation: Formulation, order: int | None):
        inner = MOST_POINTS if order is None else min(MOST_POINTS, max(1, (order - 1) // 2))
        self._places, self._weights = _lobatto(inner + 2)
        self._formulation, self._done = formulation, 0.0
        self._pieces: list[Piece] = []
        self._kept, self._closed = [np.zeros(1)], False

    def enter(self, piece: Piece) -> None:
        """Take in further steps."""
        self._pieces.append(piece)

    def close(self) -> None:
        """Have the end of the last step among the saved states, after all others."""
        self._closed = True

    def settle(self) -> None:
        """Find the work along all steps that have been taken in, and forget these."""
        for t, dense, saved, chosen in self._pieces:
            work = np.cumsum(np.append(self._done, self._integrals(t[:-1], t[1:], dense)))
            self._done = float(work[-1])
            found = work[1:]
            if saved is not None:
                way = np.sign(t[-1] - t[0])
                step = np.minimum(np.searchsorted(way * t[1:], way * saved), len(t) - 2)
                found = work[step] + self._integrals(t[step], saved, dense)
            self._kept.append(found[chosen])
        self._pieces = []

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        """The work at all states that were saved, the start included."""
        self.settle()
        return np.append(np.concatenate(self._kept), [self._done] if self._closed else [])

    def __getstate__(self) -> dict[str, Any]:
        """With all work found: the dense output is compiled code."""
        self.settle()
        return self.__dict__

    def __deepcopy__(self, memo: dict) -> "DenseWork":
        return self

    def _integrals(self, begins: np.ndarray, ends: np.ndarray, dense: Dense) -> np.ndarray:
        """Work from each begin to its end."""
        if not len(begins):
            return np.zeros(0)
        h = ends - begins
        inner = begins[:, None] + self._places[1:-1] * h[:, None]
        # Ends are starts of the next steps: each is looked at once.
        times, where = np.unique(np.column_stack([begins, inner, ends]), return_inverse=True)
        power = at_states(_power, self._formulation, times, dense(times))
        return h * (power[where.reshape(inner.shape[0], -1)] @ self._weights)


def _power(formulation: Formulation, grid, at):
    return formulation.power(*at)


def _power_and_rate(formulation: Formulation, grid, at):
    return formulation.power_and_rate(*at)


@lru_cache
def _lobatto(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Places from 0 to 1, both included, and weights of so many of them."""
    last = np.polynomial.Legendre.basis(count - 1)
    # All roots are real, but their type is not in every version of NumPy.
    places = np.array([-1.0, *np.sort(np.real(last.deriv().roots())), 1.0])
    return 0.5 * (1.0 + places), 1.0 / (count * (count - 1) * last(places) ** 2)


@lru_cache
def _hermite(nodes: int, interval: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights of values and rates at so many equidistant nodes for the integral over one interval."""
    places = [Fraction(j - interval) for j in range(nodes)]
    rows = []
    for k in range(2 * nodes):
        values = [place**k for place in places]
        rates = [k * place ** (k - 1) if k else Fraction(0) for place in places]
        rows.append([*values, *rates, Fraction(1, k + 1)])
    for i in range(len(rows)):
        pivot = next(r for r in range(i, len(rows)) if rows[r][i] != 0)
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for r in range(len(rows)):
            if r != i:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i], strict=True)]
    weights = np.array([float(row[-1]) for row in rows])
    return weights[:nodes], weights[nodes:]
