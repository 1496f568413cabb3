"""How much of a stretch of time went into compiling."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from jax import monitoring

from poinsot._garbage import kept

Spans = list[tuple[float, float]]
"""Begin and end of each compilation, which may lie within another."""

_listening: list[Spans] = []


@contextmanager
def compilations() -> Iterator[Spans]:
    """The spans in which functions are traced or compiled within the block, natively or by XLA."""
    spans: Spans = []
    _listening.append(spans)
    try:
        yield spans
    finally:
        _listening[:] = [other for other in _listening if other is not spans]


@contextmanager
def compilation() -> Iterator[None]:
    """Count what is done in the block as compiling, and leave garbage where it is."""
    began = time.perf_counter()
    try:
        with kept():
            yield
    finally:
        _note(time.perf_counter() - began)


def covered(spans: Spans) -> float:
    """Seconds that lie in at least one of the spans."""
    total, end = 0.0, float("-inf")
    for first, last in sorted(spans):
        total += max(0.0, last - max(first, end))
        end = max(end, last)
    return total


def _note(seconds: float) -> None:
    now = time.perf_counter()
    for spans in _listening:
        spans.append((now - seconds, now))


def _heard(event: str, duration_secs: float, **_) -> None:
    if event.startswith("/jax/core/compile/"):
        _note(duration_secs)


monitoring.register_event_duration_secs_listener(_heard)
