"""What a run may keep: an estimate before it begins."""

import math
import os
from pathlib import Path

from poinsot.core import InputError

BESIDE = 3
"""Numbers that are kept beside each state: its time, its step and a spare one."""
SHARE = 0.8
"""Of the memory that saved states may fill."""
MODEST = 0.2
"""Share of it that advice aims at."""
GROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
"""Where Linux tells a container how much it may have."""


def memory() -> float:
    """Bytes of memory of this machine, or of its part that is lent to us; infinite where nobody says."""
    try:
        known = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        known = math.inf
    try:
        return min(known, float(GROUP_LIMIT.read_text()))
    except (OSError, ValueError):
        return known


def check_memory(count: int, size: int, save_every: int | None) -> None:
    """Refuse to save more states than the memory holds.

    Args:
        count: states to save.
        size: numbers of each.
        save_every: what made them so many, or None if times were given.

    Raises:
        InputError: it says which `save_every` fits.
    """
    needed, there = 8.0 * count * (size + BESIDE), memory()
    if needed <= SHARE * there:
        return
    kept = f"{count:.3g} states of at least {size} numbers, {needed / 2**30:.3g} of {there / 2**30:.3g} GiB"
    if save_every is None:
        raise InputError(f"save_at keeps {kept} of memory; give fewer times")
    fits = math.ceil(save_every * needed / (MODEST * there))
    raise InputError(f"save_every = {save_every} keeps {kept} of memory; take save_every = {fits}")
