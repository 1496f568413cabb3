"""Small displacements of everything that moves, and the energy as a function of them."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, State
from poinsot.core.types import Scalar
from poinsot.kernels import jitted
from poinsot.model import AbstractSystem
from poinsot.model._start import completed
from poinsot.rotation import exp, from_matrix, multiply, normalise, quat_exp, to_matrix

X = Float[Array, "3 Nx"]
W = Float[Array, "3 Nr"]
R = Float[Array, "3 3 Nr"]


class Point(eqx.Module):
    """Where everything that moves is, at one time: positions and quaternions, body axis last."""

    t: Scalar
    x: X
    quat: Float[Array, "4 Nr"]

    @property
    def rotations(self) -> R:
        """Principal directors of the rotating bodies."""
        return jnp.moveaxis(to_matrix(self.quat.T), 0, -1)


@dataclass(frozen=True)
class Numbering:
    """Places of the components of all displacements in one long vector, body after body.

    Neighbours stay close to each other in it, so that the matrices of a chain are banded.
    """

    table: np.ndarray
    """(body, 6): three displacements, three rotations; -1 where the body does not have it."""
    translating: np.ndarray
    rotating: np.ndarray

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return int(np.count_nonzero(self.table >= 0))

    def flat(self, dx: Any, w: Any) -> np.ndarray:
        """Displacements (3, Nx) and rotation vectors (3, Nr) as one vector."""
        vector = np.empty(self.size)
        vector[self.table[self.translating, :3].T] = dx
        vector[self.table[self.rotating, 3:].T] = w
        return vector

    def parts(self, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Displacements (3, Nx) and rotation vectors (3, Nr) of a vector."""
        return vector[self.table[self.translating, :3].T], vector[self.table[self.rotating, 3:].T]


def numbering(system: AbstractSystem) -> Numbering:
    """The numbering of a system's unknowns."""
    translating, rotating = (np.asarray(tuple(p), dtype=int) for p in (system.translating, system.rotating))
    live = np.zeros((system.count, 6), dtype=bool)
    live[translating, :3], live[rotating, 3:] = True, True
    places = np.cumsum(live.reshape(-1)).reshape(live.shape) - 1
    return Numbering(np.where(live, places, -1), translating, rotating)


def inertia_of(system: AbstractSystem, order: Numbering) -> np.ndarray:
    r"""Diagonal of the mass matrix: masses, and principal moments of inertia.

    $$ T = \tfrac12 \sum m\,\dot x\cdot\dot x + \tfrac12 \sum \Omega\cdot J\,\Omega $$

    Raises:
        InputError: a body is light, and the matrix cannot be inverted.
    """
    if system.light:
        raise InputError(
            f"body {system.light[0]!r} is light, and equilibria and modes are found with the mass of every "
            "body; linearise the chain, pt.OpenChain(system).linearise(q, v)"
        )
    return order.flat(np.tile(np.asarray(system.masses), (3, 1)), np.asarray(system.inertia))


def point_of(system: AbstractSystem, state: State, t: float = 0.0) -> Point:
    """The live part of a physical state."""
    x, quat, _, _ = system.live(t, state)
    return Point(jnp.asarray(t, dtype=float), x, quat)


def state_of(system: AbstractSystem, point: Point) -> State:
    """All bodies at rest at a point."""
    positions, quaternions = _poses(system, point)
    still = jnp.zeros_like(positions)
    rest = State(position=positions, quaternion=quaternions, velocity=still, angular_velocity=still)
    return completed(system.placed, point.t, rest)


@jitted
def _poses(system: AbstractSystem, point: Point) -> tuple[Array, Array]:
    positions, rotations = system.poses(point.t, point.x, point.rotations)
    return positions, from_matrix(rotations)


@jitted
def moved(point: Point, dx: X, w: W) -> Point:
    r"""The point reached by displacements, $x + \delta x$ and $R \exp\hat w$."""
    quat = normalise(multiply(point.quat.T, quat_exp(w.T))).T
    return Point(point.t, point.x + dx, quat)


def energy(system: AbstractSystem, point: Point, dx: X, w: W) -> Scalar:
    """Potential energy at displacements from a point."""
    turned = jnp.einsum("ijn,jkn->ikn", point.rotations, jnp.moveaxis(exp(w.T), 0, -1))
    return system.potential(point.t, point.x + dx, turned)


def slope(system: AbstractSystem, point: Point, dx: X, w: W) -> tuple[X, W]:
    """Derivative of the energy in the displacements."""
    return jax.grad(energy, argnums=(2, 3))(system, point, dx, w)
