"""The forces and torques of a chain in pieces: what each body and its two neighbours make of them."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from poinsot.core import Wrench, body_torque

from ._bonds import AbstractBond, Exists, Pulls, Sites


class ChainWrench(eqx.Module):
    """The wrench of an open chain of nearest neighbours, in `poinsot.core.LocalWrench`'s pieces.

    Args:
        bonds: between neighbours.
        forces: constant forces on the first and the last body, None without.
        positions: of the first and the last body, where they do not move.
        elements: unit quaternions of these, where they do not turn.
        count: number of bodies.
        moving: those that move.
        turning: those that turn.
    """

    bonds: tuple[AbstractBond, ...]
    forces: tuple[Float[Array, "3"] | None, Float[Array, "3"] | None]
    positions: Float[Array, "3 2"]
    elements: Float[Array, "4 2"]
    count: int = eqx.field(static=True)
    moving: range = eqx.field(static=True)
    turning: range = eqx.field(static=True)

    def whole(self, x: Float[Array, "3 moving"], g: Float[Array, "4 turning"]) -> tuple[Array, Array]:
        """Positions and quaternions of all bodies."""
        return self._with_ends(x, self.moving, self.positions), self._with_ends(
            g, self.turning, self.elements
        )

    def _with_ends(self, live: Array, places: range, ends: Array) -> Array:
        first, last = ends[:, :1], ends[:, 1:]
        parts = [first] if places.start else []
        return jnp.concatenate([*parts, live, *([last] if places.stop < self.count else [])], axis=-1)

    def spread(self, of_moving: Array, of_turning: Array) -> tuple[Array, Array]:
        """Values for all bodies, zero for those that do not move or turn."""
        nothing = jnp.zeros((3, 2))
        return (
            self._with_ends(of_moving, self.moving, nothing),
            self._with_ends(of_turning, self.turning, nothing),
        )

    def live(self, of_moving: Array, of_turning: Array) -> tuple[Array, Array]:
        """The parts that belong to the bodies that move, and to those that turn."""
        move, turn = self.moving, self.turning
        return of_moving[:, move.start : move.stop], of_turning[:, turn.start : turn.stop]

    def sites(self, x: Array, R: Array) -> tuple[Sites, ...]:
        """Sites of each bond."""
        return tuple(bond.sites(x, R) for bond in self.bonds)

    def pairs(self, low: tuple[Sites, ...], high: tuple[Sites, ...], exists: Exists) -> tuple[Pulls, ...]:
        """What neighbours do to each other, in each bond."""
        return tuple(
            bond.pair(first, second, exists)
            for bond, first, second in zip(self.bonds, low, high, strict=True)
        )

    def wrench(
        self,
        place: Int[Array, " n"],
        R: Float[Array, "3 3 n"],
        pairs: tuple[tuple[Pulls, ...], tuple[Pulls, ...]],
        sites: tuple[tuple[Sites, ...], ...],
    ) -> Wrench:
        """Forces and body torques, none on what does not move or turn."""
        force, torque = jnp.zeros((3, *place.shape)), jnp.zeros((3, *place.shape))
        for number, bond in enumerate(self.bonds):
            slope = bond.collect(*(part[number] for part in (*pairs, *sites)))
            slope_x, slope_R = bond.pull_back(slope)
            force, torque = force - slope_x, torque + body_torque(R, slope_R)
        for at, given in zip((0, self.count - 1), self.forces, strict=True):
            force = force if given is None else force + jnp.where(place == at, given[:, None], 0.0)
        moves = (place >= self.moving.start) & (place < self.moving.stop)
        turns = (place >= self.turning.start) & (place < self.turning.stop)
        return Wrench(jnp.where(moves, force, 0.0), jnp.where(turns, torque, 0.0))
