"""A progress bar for people, nothing for everyone else."""

import sys
import time
from types import TracebackType

PATIENCE = 10.0
"""Seconds before the pace of a run is judged."""
LOOKS = 5
"""Looks in a row that must find it too slow."""
MONTH = 30 * 86400.0
"""Seconds that nobody waits for: a run that would take longer is out of reach."""


class Progress:
    """Shows the share of a run that is done on standard error; silent unless asked for or on a terminal.

    It also says of a run that its end is out of reach.

    Args:
        show: True, False, or None for "when standard error is a terminal".
        total: number of steps, or the length of the run where that is not known.
        label: what runs.
    """

    def __init__(self, show: bool | None, total: float, label: str):
        self._show = sys.stderr.isatty() if show is None else show
        self._total, self._label = total, label
        self._taken, self._then = 0.0, time.perf_counter()
        self._began, self._done, self._judged, self._looks = self._then, 0.0, self._then, 0
        self.out_of_reach = False

    def __enter__(self) -> "Progress":
        if self._show:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TextColumn("{task.fields[speed]}"),
                TimeRemainingColumn(),
            )
            self._bar = Progress(*columns, console=Console(stderr=True))
            self._bar.start()
            self._task = self._bar.add_task(self._label, total=self._total, speed="")
        return self

    def update(self, done: float, steps: int | None = None) -> None:
        """How much is done so far, and in how many steps if it is not itself a number of steps."""
        self._judge(done)
        if self._show:
            taken, now = done if steps is None else steps, time.perf_counter()
            speed = (taken - self._taken) / max(now - self._then, 1e-9)
            self._taken, self._then = taken, now
            self._bar.update(self._task, completed=done, speed=f"{speed:,.0f} steps/s")

    def _judge(self, done: float) -> None:
        """Whether the rest would take more than a month, at the pace of several looks in a row.

        One look may be at what is compiled, or at the small steps that a solver begins with.
        """
        now = time.perf_counter()
        if now - self._judged < 0.1 * PATIENCE:
            return
        pace = (done - self._done) / (now - self._judged)
        hopeless = self._total - done > MONTH * pace
        self._looks = self._looks + 1 if hopeless else 0
        self.out_of_reach = self._looks >= LOOKS and now - self._began > PATIENCE
        self._done, self._judged = done, now

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._show:
            self._bar.stop()
