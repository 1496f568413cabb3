"""Which momenta a system conserves, found by trying."""

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool

from poinsot.core import State, on_device
from poinsot.kernels import once
from poinsot.rotation import exp, hat, to_matrix

from ._compact import compact
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
    if system.loads or system.driven:
        return on_device(np.zeros(6, dtype=bool))
    draw = np.random.default_rng(0)
    shapes = (TRIALS, 3, len(system.translating)), (TRIALS, len(system.rotating), 3)
    # Drawn here, since numbers inside a compiled function become constants of it, and these may be many.
    moves, turns = (on_device(draw.standard_normal(shape)) for shape in shapes)
    return _conserved(system, on_device(t, float), state, moves, turns)


@once
def _conserved(
    system: "AbstractSystem", t: Array, state: State, moves: Array, turns: Array
) -> Bool[Array, "6"]:
    """Whether the force along each displacement vanishes everywhere, and every fixed point stays."""
    configurations = _configurations(system, t, state, moves, turns)
    forces, contributions = lax.map(lambda one: _forces_along(system, *one), configurations)
    vanishes = jnp.all(jnp.abs(forces) <= VANISHES * contributions, axis=0)
    return vanishes & _pins_stay(system) & _joints_stay(system, t, state)


def _forces_along(system: "AbstractSystem", t, x: Array, R: Array) -> tuple[Array, Array]:
    """Force of the potentials along each displacement, and the sum of its contributions' sizes."""
    positions, rotations = system.poses(t, x, R)
    slope_x, slope_R = jax.grad(system.pose_potential, argnums=(1, 2))(t, positions, rotations)
    translates, turns = (_among(places, system.count) for places in (system.translating, system.rotating))
    slope_x = jnp.where((translates | turns)[:, None], slope_x, 0.0)
    slope_R = jnp.where(turns[:, None, None], slope_R, 0.0)
    forces, contributions = [], []
    for turned in (False, True):
        for axis in on_device(np.eye(3)):
            moved = jnp.cross(axis[None], positions) if turned else jnp.broadcast_to(axis, positions.shape)
            parts = [slope_x * moved] + ([slope_R * (hat(axis)[None] @ rotations)] if turned else [])
            forces.append(sum(jnp.sum(part) for part in parts))
            contributions.append(sum(jnp.sum(jnp.abs(part)) for part in parts))
    return jnp.stack(forces), jnp.stack(contributions)


def _configurations(
    system: "AbstractSystem", t, state: State, moves: Array, turns: Array
) -> tuple[Array, Array, Array]:
    """Times and live coordinates of a few configurations near the state, the same ones every time."""
    x, quat, _, _ = system.live(t, state)
    shifts = system.trial_lengths(x)[None, None, :] * moves
    rotations = jnp.moveaxis(exp(0.3 * turns) @ to_matrix(quat.T)[None], 1, -1)
    times = on_device(t, float) + jnp.linspace(0.0, 1.0, TRIALS)
    return times, x[None] + shifts, rotations


def _pins_stay(system: "AbstractSystem") -> Array:
    """Whether each displacement leaves all fixed points in place: rotations about an axis through them do."""
    places = system.placement.places
    off_axis = jnp.any(jnp.cross(jnp.eye(3)[:, None, :], places[None]) != 0.0, axis=(1, 2))
    translations = jnp.full(3, places.shape[0] == 0)
    return jnp.concatenate([translations, ~off_axis])


def _joints_stay(system: "AbstractSystem", t, state: State) -> Array:
    """Whether each displacement leaves all joints closed: none to the ground is against it."""
    if system.linkage is None:
        return jnp.full(6, True)
    linkage = compact(system.linkage)
    x, quat, _, _ = system.live(t, state)
    R = jnp.moveaxis(to_matrix(quat.T), 0, -1)
    axes, still = jnp.eye(3), jnp.zeros((3, R.shape[2]))
    spins = jnp.einsum("jin,jk->kin", R, axes)
    moves = [(jnp.broadcast_to(axis[:, None], x.shape), still) for axis in axes]
    moves += [(jnp.cross(axis[:, None], x, axis=0), spin) for axis, spin in zip(axes, spins, strict=True)]
    twists = [jnp.concatenate([v.reshape(-1), Omega.reshape(-1)]) for v, Omega in moves]
    rates = [jnp.concatenate([row.reshape(-1) for row in linkage.rates(t, x, R, twist)]) for twist in twists]
    size = 1.0 + jnp.max(jnp.abs(x), initial=0.0)
    return jnp.max(jnp.abs(jnp.stack(rates)), axis=1) <= VANISHES * size


def _among(places: Places, count: int) -> np.ndarray:
    """Which of all bodies are at these places."""
    among = np.zeros(count, dtype=bool)
    among[np.asarray(places, dtype=int)] = True
    return among
