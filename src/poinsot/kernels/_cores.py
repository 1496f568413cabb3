"""Work shared out to all cores."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

SHARES = 4
"""Pieces of long work for each thread, so that none waits long for the others."""


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(cores() - 1, 1), thread_name_prefix="poinsot")


if hasattr(os, "register_at_fork"):
    # Threads do not live on in a child process.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def shared_out(work: Callable[[int, int], None], count: int, threads: int = 0, shares: int = SHARES) -> None:
    """Do `work(first, last)` for the whole of a range, in pieces, on this thread and others.

    Args:
        work: leaves the interpreter's lock while it computes.
        count: length of the range.
        threads: how many take part; 0 for one on each core.
        shares: pieces for each of them.
    """
    threads = threads or cores()
    if threads == 1:
        return work(0, count)
    parts = min(count, shares * threads)
    bounds = [k * count // parts for k in range(parts + 1)]
    pieces = iter(list(zip(bounds[:-1], bounds[1:], strict=True)))

    def take() -> None:
        for first, last in pieces:
            work(first, last)

    waiting = [_pool().submit(take) for _ in range(min(threads, len(bounds) - 1) - 1)]
    try:
        take()
    finally:
        for one in waiting:
            one.result()
