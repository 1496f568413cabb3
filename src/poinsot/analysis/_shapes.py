"""Motions of all bodies from displacements of the unknowns."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.kernels import jitted
from poinsot.model import AbstractSystem

from ._displacements import Point, numbering
from ._linearisation import Linearisation


def twists(about: Linearisation, displacements: np.ndarray) -> np.ndarray:
    """Columns of displacements as rows of velocities, then angular velocities."""
    parts = [about.order.parts(column) for column in displacements.T]
    rows = [np.concatenate([dx.reshape(-1), w.reshape(-1)]) for dx, w in parts]
    return np.stack(rows) if rows else np.zeros((0, displacements.shape[0]))


def mode_shapes(system: AbstractSystem, point: Point, vectors: np.ndarray) -> np.ndarray:
    """Displacements and rotation vectors of all bodies, (mode, body, 6), of columns of unknowns."""
    parts = [numbering(system).parts(vector) for vector in vectors.T]
    moves = np.stack([dx for dx, _ in parts]) if parts else np.zeros((0, *point.x.shape))
    turns = np.stack([w for _, w in parts]) if parts else np.zeros((0, *point.quat[1:].shape))
    return np.asarray(_rates(system, point, jnp.asarray(moves), jnp.asarray(turns)))


@jitted
def _rates(system: AbstractSystem, point: Point, moves: Array, turns: Array) -> Array:
    """What velocities of the unknowns are for the bodies, less the motion of what is moved."""

    def of(v: Array, Omega: Array) -> Array:
        rates = system.rates(point.t, point.x, point.rotations, v, Omega)
        return jnp.concatenate(rates, axis=1)

    driven = of(jnp.zeros_like(point.x), jnp.zeros_like(point.quat[1:]))
    return jax.vmap(lambda v, Omega: of(v, Omega) - driven)(moves, turns)
