"""The one loop behind every implicit equation: correct until nothing changes but round-off."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from poinsot.core.types import BoolScalar, IntScalar, Scalar

EPS = 2.0**-52


class SolveInfo(eqx.Module):
    """How an iteration ended.

    Kept as floats, because the derivative rule of `lax.custom_root` has no tangents for integers.
    """

    last_change: Scalar
    count: Scalar
    accept: float = eqx.field(static=True)

    @property
    def converged(self) -> BoolScalar:
        """Whether the last correction was at the level of round-off."""
        return self.last_change <= self.accept

    @property
    def iterations(self) -> IntScalar:
        """Number of corrections."""
        return self.count.astype(jnp.int32)


class Stopping(eqx.Module):
    """When an iteration ends; all in units of round-off, as the caller's `size` measures a change.

    It ends when the change is at most `tolerance`, or when it no longer shrinks though it is already
    below `accept`: then it has reached the noise of the equations. Anything else is a failure.
    `tolerance=0` iterates until nothing changes any more.
    """

    tolerance: float = eqx.field(default=4.0, static=True)
    accept: float = eqx.field(default=1e4, static=True)
    max_iterations: int = eqx.field(default=100, static=True)


def iterate(correction: Callable, start, size: Callable, stopping: Stopping):
    r"""Repeat $x \leftarrow x - \mathrm{correction}(x)$.

    Args:
        correction: takes and returns a pytree like `start`.
        start: first value.
        size: scaled size of a correction: 1 means one unit in the last place of the result.
        stopping: when to end.

    Returns:
        The last value and a `SolveInfo`.
    """

    def proceed(carry):
        _, change, previous, count = carry
        stagnated = (change >= previous) & (change <= stopping.accept)
        finite = jnp.isfinite(change) | (count == 0)
        return (change > stopping.tolerance) & ~stagnated & finite & (count < stopping.max_iterations)

    def once(carry):
        x, previous, _, count = carry
        dx = correction(x)
        return minus(x, dx), size(dx), previous, count + 1

    infinity = jnp.asarray(jnp.inf)
    x, change, _, count = lax.while_loop(proceed, once, (start, infinity, infinity, jnp.int32(0)))
    return x, SolveInfo(change, count.astype(float), stopping.accept)


def minus(a, b):
    """Difference of two pytrees."""
    return jax.tree.map(jnp.subtract, a, b)


def largest(tree):
    """Largest magnitude in a pytree."""
    return jnp.max(jnp.stack([jnp.max(jnp.abs(leaf)) for leaf in jax.tree.leaves(tree)]))
