"""Means over consecutive stretches of a run, with weights under which oscillations all but vanish."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Windows:
    """Consecutive windows of equally many samples, as nearly as whole numbers allow, with Hann weights."""

    edges: np.ndarray

    @classmethod
    def of(cls, samples: int, count: int) -> "Windows":
        """Cut so many samples into so many windows."""
        return cls(np.linspace(0, samples, count + 1).round().astype(int))

    def means(self, values: np.ndarray) -> np.ndarray:
        r"""Means with weights $\sin^2$ along the first axis, one for each window."""
        means = []
        for first, last in zip(self.edges[:-1], self.edges[1:], strict=True):
            weights = np.sin(np.pi * (np.arange(last - first) + 0.5) / (last - first)) ** 2
            means.append(np.tensordot(weights / np.sum(weights), values[first:last], axes=1))
        return np.array(means)
