"""When Python looks for garbage: not while modules load and functions are traced, which leave little."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept() -> Iterator[None]:
    """Leave cycles of garbage where they are until the end of the block, unless they are left anyway.

    Each look at a growing heap takes longer than the one before: together a quarter of the time.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
