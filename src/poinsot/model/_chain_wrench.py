"""The forces and torques of a chain in pieces: what each body and its two neighbours make of them."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from poinsot.core import Wrench, body_torque

from ._bonds import AbstractBond, Exists, Pulls, Sites
from ._chain_parts import with_ends


class ChainWrench(eqx.Module):
    """The wrench of an open chain of nearest neighbours, in `poinsot.core.LocalWrench`'s pieces.

    Args:
        bonds: between neighbours.
        forces: constant forces on the first and the last body, None without.
        positions: of the end bodies that do not move, by place.
        elements: unit quaternions of those that do not turn, likewise.
        count: number of bodies.
        moving: those that move.
        turning: those that turn.
    """

    bonds: tuple[AbstractBond, ...]
    forces: tuple[Float[Array, "3"] | None, Float[Array, "3"] | None]
    positions: dict[int, Float[Array, "3"]]
    elements: dict[int, Float[Array, "4"]]
    count: int = eqx.field(static=True)
    moving: range = eqx.field(static=True)
    turning: range = eqx.field(static=True)

    def whole(self, x: Float[Array, "3 moving"], g: Float[Array, "4 turning"]) -> tuple[Array, Array]:
        """Positions and quaternions of all bodies."""
        return with_ends(x, self.positions), with_ends(g, self.elements)

    def spread(self, of_moving: Array, of_turning: Array) -> tuple[Array, Array]:
        """Values for all bodies, zero for those that do not move or turn."""
        nothing = jnp.zeros(3)
        return (
            with_ends(of_moving, dict.fromkeys(self.positions, nothing)),
            with_ends(of_turning, dict.fromkeys(self.elements, nothing)),
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
