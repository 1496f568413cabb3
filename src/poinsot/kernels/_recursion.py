"""Which recursions along a tree run faster as loops, and which written out."""

from collections.abc import Sequence

import jax

LONG = 40
"""Nodes of a tree from which on they are loops."""
SERIAL = 14
"""The same of a chain: what its loops hand from node to node needs no memory."""


def is_long(above: Sequence[int]) -> bool:
    """Whether a recursion along a tree is to be a loop.

    Args:
        above: node above each; -1 for the ground.
    """
    # A GPU starts its kernels anew in every round of a loop.
    short = SERIAL if is_serial(above) and jax.default_backend() == "cpu" else LONG
    return len(above) > short


def is_serial(above: Sequence[int]) -> bool:
    """Whether each node hangs on the one before it: what is handed on then needs no place in memory."""
    return all(before == k - 1 for k, before in enumerate(above))
