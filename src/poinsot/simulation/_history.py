"""What an adaptive run leaves behind beside its states: its steps, what they cost, its dense output."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from poinsot.core import InputError
from poinsot.integrators.adaptive import Counts


@dataclass(frozen=True)
class Steps:
    """The accepted steps of a run."""

    t: np.ndarray
    """The start and the end of each step, `(k + 1,)`."""
    rejected: np.ndarray
    """Attempts that were rejected before each was accepted, `(k,)`."""

    @property
    def h(self) -> np.ndarray:
        """Their sizes, `(k,)`, negative in a backward run."""
        return np.diff(self.t)

    def __len__(self) -> int:
        return len(self.rejected)


@dataclass(frozen=True)
class History:
    """How an adaptive run went."""

    steps: Steps
    counts: Counts
    dense: Callable[[np.ndarray], np.ndarray] | None
    """Packed states at times of the run; None where there is no dense output."""
    lacking: str = (
        "a file or pickle keeps the numbers of a run and no code, so it has no dense output; "
        "give save_at=[...] in the run, or call at before saving"
    )
    """Why there is none, where there is none."""

    def __getstate__(self) -> dict[str, Any]:
        """Without the dense output, which is compiled code."""
        return self.__dict__ | {"dense": None}

    def __deepcopy__(self, memo: dict) -> "History":
        steps, counts = copy.deepcopy((self.steps, self.counts), memo)
        return History(steps, counts, self.dense, self.lacking)

    def states(self, times: np.ndarray) -> np.ndarray:
        """Packed states `(k, n)` at times `(k,)` of the run."""
        if self.dense is None:
            raise InputError(f"at: {self.lacking}")
        low, high = sorted((self.steps.t[0], self.steps.t[-1]))
        outside = ~((times >= low) & (times <= high))
        if np.any(outside):
            raise InputError(f"at: t = {float(times[outside][0])!r} is outside the run, {low:g} to {high:g}")
        return self.dense(times)
