"""Which momenta a system conserves, found by trying."""

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool

from poinsot.core import State
from poinsot.kernels import once
from poinsot.rotation import exp, hat, to_matrix

from ._placement import Places

if TYPE_CHECKING:
    from ._abstract_system import AbstractSystem

TRIALS = 4
"""Configurations that are tried."""

VANISHES = 1e-10
"""Size, relative to its contributions, below which a generalised force counts as zero."""


def symmetries(system: "AbstractSystem", t, state: State) -> Bool[Array, "6"]:
    r"""Which of the six momenta are conserved: three translations, three rotations about the origin.

    Momentum along a rigid displacement changes by what the potentials and the reactions do along it,

    $$ \dot P_\xi = -\sum_i \left(\frac{\partial V}{\partial x_i}\cdot\xi(x_i)
       + \frac{\partial V}{\partial R_i} : \hat\omega R_i\right) + \text{reactions}. $$

    The sum is computed at a few configurations near the state and compared with its contributions. The
    reaction of a fixed point does nothing only if the displacement leaves the point in place; a body that
    cannot turn, or not move at all, has a reaction that cancels what potentials do on it. With loads or a
    prescribed motion nothing is taken to be conserved.

    Args:
        system: the bodies and what acts on them.
        t: time.
        state: physical state near which to look.
    """
    if system.loads or system.placement.driven:
        return jnp.zeros(6, dtype=bool)
    draw = np.random.default_rng(0)
    shapes = (TRIALS, 3, len(system.translating)), (TRIALS, len(system.rotating), 3)
    # Drawn here, since numbers inside a compiled function become constants of it, and these may be many.
    moves, turns = (jnp.asarray(draw.standard_normal(shape)) for shape in shapes)
    return _conserved(system, jnp.asarray(t, dtype=float), state, moves, turns)


@once
def _conserved(
    system: "AbstractSystem", t: Array, state: State, moves: Array, turns: Array
) -> Bool[Array, "6"]:
    """Whether the force along each displacement vanishes everywhere, and every fixed point stays."""
    configurations = _configurations(system, t, state, moves, turns)
    along = lax.map(lambda configuration: _forces_along(system, *configuration), configurations)
    contributions = jnp.sum(jnp.abs(along), axis=-1)
    vanishes = jnp.all(jnp.abs(jnp.sum(along, axis=-1)) <= VANISHES * contributions, axis=0)
    return vanishes & _pins_stay(system)


def _forces_along(system: "AbstractSystem", t, x: Array, R: Array) -> Array:
    """Contributions (6, all components) of the potentials to the force along each displacement."""
    positions, rotations = system.poses(t, x, R)
    slope_x, slope_R = jax.grad(system.pose_potential, argnums=(1, 2))(t, positions, rotations)
    axes = jnp.eye(3)
    moved = jnp.concatenate(
        [
            jnp.broadcast_to(axes[:, None, :], (3, *positions.shape)),
            jnp.cross(axes[:, None, :], positions[None]),
        ]
    )
    spun = hat(axes)[:, None] @ rotations[None]
    turned = jnp.concatenate([jnp.zeros_like(spun), spun])
    translates, turns = (_among(places, system.count) for places in (system.translating, system.rotating))
    moves = translates | turns
    moved = jnp.where(moves[None, :, None], moved, 0.0)
    turned = jnp.where(turns[None, :, None, None], turned, 0.0)
    return jnp.concatenate(
        [(slope_x[None] * moved).reshape(6, -1), (slope_R[None] * turned).reshape(6, -1)], axis=1
    )


def _configurations(
    system: "AbstractSystem", t, state: State, moves: Array, turns: Array
) -> tuple[Array, Array, Array]:
    """Times and live coordinates of a few configurations near the state, the same ones every time."""
    x, quat, _, _ = system.live(t, state)
    shifts = system.trial_lengths(x)[None, None, :] * moves
    rotations = jnp.moveaxis(exp(0.3 * turns) @ to_matrix(quat.T)[None], 1, -1)
    times = jnp.asarray(t, dtype=float) + jnp.linspace(0.0, 1.0, TRIALS)
    return times, x[None] + shifts, rotations


def _pins_stay(system: "AbstractSystem") -> Array:
    """Whether each displacement leaves all fixed points in place: rotations about an axis through them do."""
    places = system.placement.places
    off_axis = jnp.any(jnp.cross(jnp.eye(3)[:, None, :], places[None]) != 0.0, axis=(1, 2))
    translations = jnp.full(3, places.shape[0] == 0)
    return jnp.concatenate([translations, ~off_axis])


def _among(places: Places, count: int) -> np.ndarray:
    """Which of all bodies are at these places."""
    among = np.zeros(count, dtype=bool)
    among[np.asarray(places, dtype=int)] = True
    return among
