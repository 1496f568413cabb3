"""Adding the increment of a step to the state, with or without the round-off it loses."""

import jax.numpy as jnp
from jaxtyping import Array

from poinsot.core import Packed


def no_error(y: Packed, compensated: bool) -> Array | None:
    """The round-off carried into the first step: zero, or None when it is not tracked."""
    return jnp.zeros_like(y) if compensated else None


def add(y: Packed, increment: Packed, error: Array | None) -> tuple[Packed, Array | None]:
    r"""The new state $y + \Delta$ and the round-off lost in the sum.

    With compensation the error of one addition goes into the next one (Kahan 1965, Møller 1965; the
    remainder is Knuth's, exact whatever the sizes), so that after $n$ steps round-off has grown as if the sum
    had been made in twice the precision.
    """
    if error is None:
        return y + increment, None
    increment = increment + error
    total = y + increment
    added = total - y
    return total, (y - (total - added)) + (increment - added)
