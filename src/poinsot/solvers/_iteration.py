"""The one loop behind every implicit equation: correct until nothing changes but round-off."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Bool, Float

from poinsot.core.types import IntScalar, Scalar

EPS = 2.0**-52
NOISE = 10.0
"""Units of round-off below which a change that does not shrink is taken for noise at once."""


class SolveInfo(eqx.Module):
    """How an iteration ended, lane by lane.

    Kept as floats, because integers have no tangents.
    """

    last_change: Float[Array, "*lanes"]
    count: Scalar
    accept: float = eqx.field(static=True)

    @property
    def converged(self) -> Bool[Array, "*lanes"]:
        """Whether the last correction was at the level of round-off."""
        return self.last_change <= self.accept

    @property
    def iterations(self) -> IntScalar:
        """Number of corrections."""
        return self.count.astype(jnp.int32)


class Stopping(eqx.Module):
    r"""When an iteration ends; all in units of round-off, as the caller's `size` measures a change.

    With a change $\Delta$ and the rate $\rho$ at which changes shrink, what is left is about
    $\Delta \rho / (1 - \rho)$. Once the change is below `accept`, the iteration ends when that is at most
    `tolerance`, or when the change no longer shrinks: then it has reached the noise of the equations. Since
    changes may grow for once on their way down, that is so when two in a row are not below the smallest
    before, or one that is small. Anything else is a failure. What is left has the same sign in every step,
    unlike rounding, and so adds up: the tolerance is well below one unit. `tolerance=0` iterates until
    nothing changes any more.

    The change is looked at after every `look_every` corrections: measuring it costs about as much as one
    correction of a small system.
    """

    tolerance: float = eqx.field(default=0.01, static=True)
    accept: float = eqx.field(default=1e4, static=True)
    max_iterations: int = eqx.field(default=100, static=True)
    look_every: int = eqx.field(default=1, static=True)


def iterate(
    improved: Callable,
    start,
    stopping: Stopping,
    *,
    order: int = 1,
    lanes: tuple[int, ...] = (),
    active: Bool[Array, "*lanes"] | None = None,
):
    r"""Improve a value until nothing changes but round-off.

    Many equations may be solved side by side, one in each lane: then each has a change of its own, and all
    lanes go on until the last has ended, which is cheaper than holding the finished ones still.

    Args:
        improved: takes a pytree like `start`, and returns the next one and the scaled size of the change that
            leads to it: 1 means one unit in the last place of the result.
        start: first value.
        stopping: when to end.
        order: order of convergence; 2 when the rate itself shrinks as the change does, so that
            $\Delta \rho^2$ is left.
        lanes: shape of the sizes.
        active: for which lanes there is something to do; without it, for all. Where for none, the start is
            returned, as not converged.

    Returns:
        The last value and a `SolveInfo`.
    """

    def proceed(carry):
        *_, active, count = carry
        return jnp.any(active) & (count < stopping.max_iterations)

    def once(carry):
        x, previous, smallest, stale_before, active, count = carry
        for _ in range(stopping.look_every - 1):
            x, _ = improved(x)
        x, change = improved(x)
        # At the first look no rate is known.
        little = jnp.where(count > 0, _little_left(change, previous), change <= stopping.tolerance)
        stale = change >= smallest
        noise = stale & (stale_before | (change <= NOISE))
        settled = (little | noise) & (change <= stopping.accept)
        # A comparison with NaN is false: a lane that left the finite numbers ends here too.
        active = active & ~settled & (change < jnp.inf)
        smallest = jnp.minimum(smallest, change)
        return x, change, smallest, stale, active, count + stopping.look_every

    def _little_left(change, previous):
        r"""Whether $\Delta \rho^p / (1 - \rho)$ is within the tolerance.

        From one correction to the next $\rho = \Delta / \Delta_-$, over two of them its square. The test then
        needs no division and no root, which take as long as half a correction of a small system: for two,
        $\rho\,(\Delta + \tau) \le \tau$ is $\Delta\,(\Delta + \tau)^2 \le \tau^2 \Delta_-$.
        """
        tolerance = stopping.tolerance
        if stopping.look_every == 1:
            gap = jnp.maximum(previous - change, EPS * previous)
            return change ** (order + 1) <= tolerance * previous ** (order - 1) * gap
        if stopping.look_every == 2 and order == 1:
            return change * (change + tolerance) ** 2 <= tolerance**2 * previous
        rate = (change / previous) ** (1.0 / stopping.look_every)
        return change * rate**order / jnp.maximum(1.0 - rate, EPS) <= tolerance

    unknown = jnp.full(lanes, jnp.inf)
    active = jnp.full(lanes, True) if active is None else active
    begin = (start, unknown, unknown, jnp.full(lanes, False), active, jnp.int32(0))
    x, change, *_, count = lax.while_loop(proceed, once, begin)
    return x, SolveInfo(change, count.astype(float), stopping.accept)


class Again(NamedTuple):
    """Where an iteration begins once more if it has led nowhere."""

    starts: Callable[[IntScalar], Any]
    """Makes of the number of starts so far a pytree like the first one."""
    further: int
    """How many there are beside the first."""
    possible: Callable[[], Bool[Array, "*lanes"]]
    """Whether there are any, lane by lane; a function, as derivatives go past real numbers only."""


def iterate_again(improved: Callable, start, again: Again, stopping: Stopping, lanes: tuple[int, ...] = ()):
    """`iterate` from one start after the other, in lanes where those before led nowhere.

    The iteration is written once, and where the first start is good, nothing is computed of the others.

    Args:
        improved: see `iterate`, also for the others.
        start: first value.
        again: where to begin after that.
        stopping: when to end.
        lanes: shape of the sizes.

    Returns:
        The last value and a `SolveInfo`, with the corrections from all starts.
    """

    def once(carry):
        x, lost, _, starts, count = carry

        def restart(carry):
            x, lost = carry
            return jax.tree.map(partial(jnp.where, lost), again.starts(starts), x), jnp.zeros_like(lost)

        # A loop of one pass at most: unlike a condition it costs nothing where no lane is lost.
        x, _ = lax.while_loop(lambda carry: jnp.any(carry[1]), restart, (x, lost & (starts > 0)))
        x, info = iterate(improved, x, stopping, lanes=lanes)
        lost = ~info.converged & again.possible() & (starts < again.further)
        return x, lost, info.last_change, starts + 1, count + info.count

    everywhere = jnp.full(lanes, True)
    begin = (start, everywhere, jnp.full(lanes, jnp.inf), jnp.int32(0), jnp.float64(0.0))
    x, _, change, _, count = lax.while_loop(lambda carry: jnp.any(carry[1]), once, begin)
    return x, SolveInfo(change, count, stopping.accept)


def corrected(correction: Callable, size: Callable) -> Callable:
    r"""What `iterate` takes, for $x \leftarrow x - \mathrm{correction}(x)$ with corrections of some size."""

    def improved(x):
        dx = correction(x)
        return minus(x, dx), size(dx)

    return improved


def minus(a, b):
    """Difference of two pytrees."""
    return jax.tree.map(jnp.subtract, a, b)
