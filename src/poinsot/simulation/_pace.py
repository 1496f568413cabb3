"""How much of a motion a run has seen: oscillations of its fastest part, and slow parts under way."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from poinsot.simulation._hann import Windows

NEGLIGIBLE = 1e-6
"""A swing of a component below this share of the largest of its kind is rounding noise."""
WINDOWS = 16
"""Windows whose means show the slow part of a component."""
TOLERATED = (1 / 3, 0.03)
"""Slow shares that are taken for none, of a component and of its square. Components of a vector turn with
it, as an orbit that precesses, and errors do not feel that; squares show how large the motion is."""
CHANGE = 100.0
"""Slow share, in units of what is tolerated, that a relative change of a conserved quantity by one causes."""
STRAIGHT = 1e-3
"""Share of its variance that a component may have beside a straight line to count as one."""
COHERENT = 0.9
"""Share of the variance of the window means that must be slow: in chaotic motion they scatter."""
COLUMNS = 4096
"""Components that are looked at in one go."""


@dataclass(frozen=True)
class Pace:
    """How often the fastest component of a motion goes round, and how far slower ones have come."""

    cycles: float
    """Oscillations of the component that has most."""
    slow: float = 0.0
    """Largest slow share of a component or of its square, in units of what is tolerated."""

    @property
    def settled(self) -> bool:
        """Whether no part of the motion is slower than the run is long."""
        return self.slow <= 1.0

    def beside(self, change: float) -> "Pace":
        """The same, without slow parts that such a relative change of a conserved quantity accounts for."""
        return self if self.slow > CHANGE * change else replace(self, slow=0.0)

    @classmethod
    def of(cls, t: np.ndarray, components: Mapping[str, np.ndarray]) -> "Pace":
        """Look at every component of the states of a run; noise in constant ones is left out."""
        cycles = slow = 0.0
        for values in components.values():
            columns = values.reshape(len(t), -1)
            least = NEGLIGIBLE * max(np.max(columns, initial=0.0), -np.min(columns, initial=0.0))
            for first in range(0, columns.shape[1], COLUMNS):
                some = columns[:, first : first + COLUMNS]
                some = some[:, np.ptp(some, axis=0) > least]
                cycles = max(cycles, np.max(oscillations(some), initial=0.0))
                slow = max(slow, np.max(_slow_share(t, some), initial=0.0))
        return cls(float(cycles), float(slow))


def oscillations(columns: np.ndarray) -> np.ndarray:
    """Half the number of times each column changes direction; standing still is none."""
    directions = np.sign(np.diff(columns, axis=0))
    moves = np.where(directions != 0.0, np.arange(len(directions))[:, None], 0)
    last = np.take_along_axis(directions, np.maximum.accumulate(moves, axis=0), axis=0)
    return 0.5 * np.count_nonzero(last[1:] * last[:-1] < 0.0, axis=0)


def _slow_share(t: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Part of each column, and of its square, that is a cubic in time, as a share of its standard deviation.

    The square shows an amplitude that changes slowly. Columns that go along a straight line, such as the
    position of a free body and an angle that goes round and round, have no slow oscillation to wait for.
    """
    if len(t) < 2 * WINDOWS or not columns.size or t[0] == t[-1]:
        return np.zeros(0)
    windows = Windows.of(len(t), WINDOWS)
    shapes = np.linalg.qr(np.vander(np.linspace(-1.0, 1.0, WINDOWS), 4, increasing=True))[0][:, 1:]
    columns = columns / np.max(np.abs(columns), axis=0)
    columns = columns - np.mean(columns, axis=0)
    line = (t - np.mean(t)) / np.sqrt(np.sum((t - np.mean(t)) ** 2))
    beside = np.sum(columns**2, axis=0) - (line @ columns) ** 2
    bent = columns[:, beside > STRAIGHT * np.sum(columns**2, axis=0)]
    shares = []
    for values, tolerated in zip((bent, bent**2), TOLERATED, strict=True):
        means = windows.means(values)
        slow, whole = np.sum((shapes.T @ means) ** 2, axis=0) / WINDOWS, np.var(means, axis=0)
        spread = np.std(values, axis=0)
        share = np.sqrt(slow) / (tolerated * np.where(spread > 0.0, spread, np.inf))
        shares.append(np.where(slow > COHERENT * whole, share, 0.0))
    return np.concatenate(shares)
