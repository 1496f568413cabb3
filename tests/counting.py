"""Programs that are compiled within a block, for tests of what must not be."""

from collections.abc import Iterator
from contextlib import contextmanager

import jax


@contextmanager
def xla_programs() -> Iterator[list[str]]:
    """Names of functions that XLA compiles in the block, or loads from the cache of an earlier process."""
    names: list[str] = []

    def heard(event: str, duration_secs: float, **about: str | int) -> None:
        if event.endswith("/backend_compile_duration"):
            names.append(str(about.get("fun_name")))

    jax.monitoring.register_event_duration_secs_listener(heard)
    try:
        yield names
    finally:
        jax.monitoring.unregister_event_duration_listener(heard)
