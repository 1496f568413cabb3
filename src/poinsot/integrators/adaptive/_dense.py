"""Dense output put together from that of single steps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


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
