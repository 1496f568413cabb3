"""Which steps are saved, and how a run is cut into chunks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poinsot.core import InputError, as_count, as_floats, quoted
from poinsot.simulation._memory import check_memory

SNAP = 1e-9
"""A save time within this fraction of a step of a grid point is taken at the grid point."""


@dataclass(frozen=True)
class Stretch:
    """States that one call of the compiled program goes through, in order."""

    targets: np.ndarray
    """Step number from which each is reached."""
    beyond: np.ndarray
    """Fraction of a step from there."""
    ends: np.ndarray
    """Whether each is the end of a step that no other is."""
    kept: np.ndarray
    """Whether each is saved."""

    def __len__(self) -> int:
        return len(self.targets)

    def first(self, count: int) -> "Stretch":
        """The first so many."""
        return Stretch(*(part[:count] for part in (self.targets, self.beyond, self.ends, self.kept)))

    @classmethod
    def end(cls, place: float) -> "Stretch":
        """The end of a run off its schedule, so many steps from the start."""
        step = math.floor(place)
        return cls(
            np.array([step]), np.array([place - step]), np.zeros(1, dtype=bool), np.ones(1, dtype=bool)
        )


@dataclass
class Schedule:
    """Step numbers at which to save, in order, each with the fraction of a step beyond it."""

    targets: np.ndarray
    fractions: np.ndarray | None
    times: np.ndarray
    save_every: int | None = None
    """What made it; None if times were given."""

    @classmethod
    def every(cls, t0: float, dt: float, steps: int, left_over: float, save_every: int) -> "Schedule":
        """Each `save_every`-th step, and the end."""
        check_save_every(save_every)
        check_memory(steps // save_every, 1, save_every)
        targets = np.arange(save_every, steps + 1, save_every, dtype=np.int64)
        if steps > 0 and (len(targets) == 0 or targets[-1] != steps):
            targets = np.append(targets, steps)
        times = t0 + targets * dt
        if left_over == 0.0:
            return cls(targets, None, times, save_every)
        fractions = np.append(np.zeros(len(targets)), left_over)
        times = np.append(times, t0 + (steps + left_over) * dt)
        return cls(np.append(targets, steps), fractions, times, save_every)

    @classmethod
    def at(cls, t0: float, dt: float, steps: int, left_over: float, save_at: Sequence[float]) -> "Schedule":
        """The given times, off the grid by part steps that leave the run itself alone."""
        times = check_save_times(save_at, dt)
        places = (times - t0) / dt
        outside = (places < -SNAP) | (places > steps + left_over + SNAP)
        if np.any(outside):
            t1 = t0 + (steps + left_over) * dt
            raise InputError(
                f"save_at has {float(times[outside][0])!r}, outside the run from {quoted(t0)} to {quoted(t1)}"
            )
        targets = np.clip(np.floor(places + SNAP), 0, steps).astype(np.int64)
        fractions = places - targets
        fractions[np.abs(fractions) <= SNAP] = 0.0
        return cls(targets, fractions if np.any(fractions) else None, times)

    def __len__(self) -> int:
        return len(self.targets)

    def stretch(self, saved: int, reach: int, capacity: int) -> Stretch:
        """The next states to save after so many, up to step number `reach`, as many as there is room for.

        A save interval longer than that is walked in parts, whose states are thrown away.
        """
        end = min(int(np.searchsorted(self.targets, reach, side="right")), saved + capacity)
        if end <= saved:
            none = np.zeros(1, dtype=bool)
            return Stretch(np.array([reach]), np.zeros(1), none, none)
        return self._part(saved, end)

    def every_step(self, saved: int, n: int, reach: int, capacity: int) -> Stretch:
        """The same with the ends of all steps from step `n` on, saved or not."""
        reach = min(reach, n + capacity, int(self.targets[-1]))
        due = self._part(saved, int(np.searchsorted(self.targets, reach, side="right")))
        on_grid = (due.beyond == 0.0) & (due.targets > n)
        steps, off = np.arange(n + 1, reach + 1), due.targets[~on_grid]
        targets = np.concatenate([steps, off])
        beyond = np.concatenate([np.zeros(len(steps)), due.beyond[~on_grid]])
        ends = np.arange(len(targets)) < len(steps)
        kept = ~ends | np.isin(targets, due.targets[on_grid])
        order = np.lexsort((beyond, targets))
        return Stretch(targets[order], beyond[order], ends[order], kept[order]).first(capacity)

    def _part(self, first: int, last: int) -> Stretch:
        targets = self.targets[first:last]
        beyond = np.zeros(len(targets)) if self.fractions is None else self.fractions[first:last]
        none = np.zeros(len(targets), dtype=bool)
        return Stretch(targets, beyond, none, ~none)


def check_save_every(save_every: int) -> int:
    """The number, once it is whole and positive."""
    return as_count(save_every, "save_every")


def check_save_times(save_at: Sequence[float], direction: float) -> np.ndarray:
    """The times, once they are finite and in the order of a run forward or backward."""
    times = np.asarray(as_floats(save_at, "save_at", "a list of finite times"))
    if times.ndim != 1 or len(times) == 0 or not np.all(np.isfinite(times)):
        raise InputError(f"save_at = {quoted(save_at)}; it must be a list of finite times")
    if np.any(direction * np.diff(times) <= 0.0):
        raise InputError("save_at must be in the order of the run, without repeats")
    return times


@dataclass
class Pace:
    """Chooses how many steps a chunk takes, so that chunks last about a quarter of a second.

    Between chunks progress is shown and an interrupt is answered; the chunks' lengths change no bit of the
    result.
    """

    steps: int = 256
    seconds: float = 0.25

    def learn(self, steps: int, seconds: float) -> None:
        """Adapt to what the last chunk took, growing gently since the first one also compiled."""
        wanted = steps * self.seconds / max(seconds, 1e-6)
        self.steps = max(1, math.floor(min(8.0 * self.steps, max(wanted, self.steps / 4.0))))
