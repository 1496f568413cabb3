"""How long the parts of a run took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Seconds = dict[str, float]
"""Seconds by what they were spent on."""
Part = Literal["compile", "run", "evaluation", "saving"]


@contextmanager
def timed(seconds: Seconds, part: Part) -> Iterator[None]:
    """Add the time spent inside to one of the parts."""
    began = time.perf_counter()
    try:
        yield
    finally:
        seconds[part] = seconds.get(part, 0.0) + time.perf_counter() - began
