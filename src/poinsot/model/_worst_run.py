"""How far states are from what bodies and joints may do: of many at once, or of traced ones."""

from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import State
from poinsot.kernels import jitted

from ._assembly import CLOSED, opening
from ._compact import compact
from ._start import HANDMADE, freedom_gaps

if TYPE_CHECKING:
    from ._abstract_system import AbstractSystem


def may_contradict(system: "AbstractSystem") -> bool:
    """Whether there is a freedom or a joint that a state can contradict."""
    live = min(len(system.placement.translating), len(system.placement.rotating))
    return system.linkage is not None or live < len(system.names)


def off_by(system: "AbstractSystem", t, state: State) -> Float[Array, ""]:
    """How far a state is off, in units of what is allowed; infinite where that is not a number.

    Args:
        system: of the state.
        t: time.
        state: physical, also traced. It counts as a constant in derivatives.
    """
    given = (system, jnp.asarray(t, dtype=float), state)
    system, t, state = jax.tree.map(lambda x: lax.stop_gradient(x) if eqx.is_array(x) else x, given)
    off = [gap / HANDMADE for gap in freedom_gaps(system.placed, t, state)]
    if system.linkage is not None:
        gaps, rates, sizes = opening(compact(system.linkage), t, *system.live(t, state))
        for rows, size in ((gaps, sizes[0]), (rates, sizes[1])):
            widest = [jnp.max(jnp.abs(row), initial=0.0) for row in jax.tree.leaves(rows)]
            off += [wide / (CLOSED * (1.0 + size)) for wide in widest]
    worst = jnp.max(jnp.stack(off), initial=0.0)
    return jnp.where(jnp.isnan(worst), jnp.inf, worst)


@jitted
def worst_run(system: "AbstractSystem", t, states: State) -> Array:
    """Number of the state that is furthest off, of many with the runs first."""
    return jnp.argmax(jax.vmap(lambda state: off_by(system, t, state))(states))
