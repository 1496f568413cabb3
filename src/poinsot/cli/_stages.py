"""What happens after the last step: it is shown, and an interrupt does not lose the run."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType

import typer


class Stages:
    """Says on a terminal what is going on, and answers an interrupt between stages.

    Args:
        quiet: show nothing.
    """

    def __init__(self, *, quiet: bool):
        self._show = not quiet and sys.stderr.isatty()
        self.interrupted = False

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Do what is inside, under its name, to its end: a first interrupt waits, a second one does not."""
        with self._shown(name), self._held():
            yield

    def _shown(self, name: str):
        if not self._show:
            return nullcontext()
        from rich.console import Console

        return Console(stderr=True).status(f"{name} ...")

    @contextmanager
    def _held(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def first(number: int, frame: FrameType | None) -> None:
            self.interrupted = True
            signal.signal(signal.SIGINT, before)
            typer.echo("poinsot: interrupted; saves the run first (again Ctrl-C: gives it up)", err=True)

        before = signal.signal(signal.SIGINT, first)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
