"""How long the parts of a run took: everything that people wait for."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, get_args

from poinsot.kernels import compilations, covered

Seconds = dict[str, float]
"""Seconds by what they were spent on."""
Part = Literal["compile", "run", "evaluation", "accuracy", "saving"]

_inner: list[float] = []
"""For each part that is under way, the time that parts within it took."""


@contextmanager
def timed(seconds: Seconds, part: Part) -> Iterator[None]:
    """Add the time spent inside to a part, but for that of other parts within it."""
    began = time.perf_counter()
    _inner.append(0.0)
    try:
        yield
    finally:
        spent, within = time.perf_counter() - began, _inner.pop()
        seconds[part] = seconds.get(part, 0.0) + spent - within
        if _inner:
            _inner[-1] += spent


@contextmanager
def timed_run() -> Iterator[Seconds]:
    """What compiling and the rest of a run take; known when it has ended."""
    seconds: Seconds = {}
    began = time.perf_counter()
    with compilations() as spans:
        yield seconds
    seconds["compile"] = covered(spans)
    seconds["run"] = time.perf_counter() - began - seconds["compile"]


def times_text(seconds: Mapping[str, float]) -> str:
    """The sum and its parts, in words."""
    parts = {part: seconds[part] for part in get_args(Part) if part in seconds}
    words = ", ".join(f"{part} {spent:.3g} s" for part, spent in parts.items())
    return f"{sum(parts.values()):.3g} s: {words}"
