"""Sine and cosine of many runs, computed once for all loops that read them."""

from collections.abc import Callable

from poinsot.core import held
from poinsot.rotation import sincos

LONG = 64
"""Runs from which on each row is computed in a loop of its own; fewer are a few vectors, without loops."""


def held_sines(count: int) -> dict[str, Callable]:
    """Functions for `in_lanes` of so many runs: every loop that needs a sine would compute it again."""
    return {"poinsot_sincos": lambda x: held(sincos(x))} if count >= LONG else {}
