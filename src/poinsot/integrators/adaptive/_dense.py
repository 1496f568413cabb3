"""Dense output: put together from that of single steps, or by parts of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

QUERIES = 256
"""Times that one call of a compiled dense output takes."""


@dataclass(frozen=True)
class Piecewise:
    """A function of time given piece by piece.

    Attributes:
        ends: start of the first piece and end of each, in the order of the run, which may go backward.
        pieces: of times `(k,)` within each, giving `(k, n)`.
    """

    ends: np.ndarray
    pieces: Sequence[Callable[[np.ndarray], np.ndarray]]

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """Values `(k, n)` at times `(k,)`, by the piece that ends next."""
        direction = np.sign(self.ends[-1] - self.ends[0])
        places = np.searchsorted(direction * self.ends[1:], direction * times)
        places = np.minimum(places, len(self.pieces) - 1)
        values: np.ndarray | None = None
        for place in np.unique(places):
            chosen = places == place
            part = self.pieces[place](times[chosen])
            if values is None:
                values = np.empty((len(times), *part.shape[1:]))
            values[chosen] = part
        assert values is not None, "at least one time"
        return values


@dataclass(frozen=True)
class Projected:
    """Dense output put back onto the constraints at each time.

    Attributes:
        piece: of times `(k,)`, giving `(k, n)`.
        project: the projection, of a time and a state.
    """

    piece: Callable[[np.ndarray], np.ndarray]
    project: Callable[[float, np.ndarray], np.ndarray]

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """Values `(k, n)` at times `(k,)`."""
        return np.array([self.project(t, y) for t, y in zip(times, self.piece(times), strict=True)])


@dataclass(frozen=True)
class PartSteps:
    """Dense output by part steps of the method itself, each from the start of the step around it.

    Their local error is no larger than that of the whole step, so what lies between the steps is as accurate
    as their ends. It costs about as much as a step for each time, and nothing where nothing is asked for.

    Attributes:
        parts: states so long after the starts of steps, of as many as `QUERIES`: a function of the numbers of
            the steps, their starts, the times since then, the states there, and how many of them count.
        t: start of the first step, and ends of all.
        y: states there.
    """

    parts: Callable[..., Any]
    t: np.ndarray
    y: np.ndarray

    def __call__(self, times: np.ndarray) -> np.ndarray:
        """Packed states at times within the steps."""
        times = np.asarray(times, dtype=float)
        way = 1.0 if self.t[-1] >= self.t[0] else -1.0
        step = np.clip(np.searchsorted(way * self.t[1:], way * times), 0, len(self.t) - 2)
        states = self.y[1:][step]
        inside = np.flatnonzero(times != self.t[1:][step])
        for few in np.split(inside, range(QUERIES, len(inside), QUERIES)):
            begin = step[few]
            given = begin, self.t[begin], times[few] - self.t[begin], self.y[begin]
            ends = self.parts(*map(_padded, given), np.int64(len(few)))
            states[few] = np.asarray(ends)[: len(few)]
        return states


def _padded(values: np.ndarray) -> np.ndarray:
    """As many as a call takes, so that one program serves any number of times."""
    return np.concatenate([values, np.zeros((QUERIES - len(values), *values.shape[1:]), values.dtype)])
