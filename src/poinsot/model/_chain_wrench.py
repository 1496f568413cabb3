"""The forces and torques of a chain in pieces: what each body and its two neighbours make of them."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from poinsot.core import Wrench, body_torque

from ._bonds import AbstractBond, Exists, Pulls, Sites
from ._chain_fields import RowField
from ._chain_parts import with_ends
from ._neighbours import Neighbours


class ChainWrench(eqx.Module):
    """The wrench of an open chain of nearest neighbours, in `poinsot.core.LocalWrench`'s pieces.

    Args:
        neighbours: their bonds.
        fields: potentials of single bodies.
        forces: constant forces on the first and the last body, None without.
        positions: of the end bodies that do not move, by place.
        elements: unit quaternions of those that do not turn, likewise.
        count: number of bodies.
        moving: those that move.
        turning: those that turn.
    """

    neighbours: Neighbours
    fields: tuple[RowField, ...]
    forces: tuple[Float[Array, "3"] | None, Float[Array, "3"] | None]
    positions: dict[int, Float[Array, "3"]]
    elements: dict[int, Float[Array, "4"]]
    count: int = eqx.field(static=True)
    moving: range = eqx.field(static=True)
    turning: range = eqx.field(static=True)

    @property
    def bonds(self) -> tuple[AbstractBond, ...]:
        """Between neighbours."""
        return self.neighbours.bonds

    @property
    def window(self) -> int:
        """Bodies whose sites and pulls stay in the cache of a core."""
        return self.neighbours.window

    def whole(
        self, x: Float[Array, "3 moving"], c: Float[Array, "n turning"], coordinates: Callable | None = None
    ) -> tuple[Array, Array]:
        """Positions and coordinates of rotations of all bodies, quaternions if none are given."""
        given = self.elements
        if coordinates is not None:
            given = {place: coordinates(element) for place, element in given.items()}
        return with_ends(x, self.positions), with_ends(c, given)

    def spread(self, of_moving: Array, of_turning: Array) -> tuple[Array, Array]:
        """Values for all bodies, zero for those that do not move or turn."""
        return (
            with_ends(of_moving, dict.fromkeys(self.positions, jnp.zeros(len(of_moving)))),
            with_ends(of_turning, dict.fromkeys(self.elements, jnp.zeros(len(of_turning)))),
        )

    def live(self, of_moving: Array, of_turning: Array) -> tuple[Array, Array]:
        """The parts that belong to the bodies that move, and to those that turn."""
        move, turn = self.moving, self.turning
        return of_moving[:, move.start : move.stop], of_turning[:, turn.start : turn.stop]

    def sites(self, x: Array, R: Array) -> tuple[Sites, ...]:
        """Sites of each bond; then, where there are fields, the positions."""
        return (*(bond.sites(x, R) for bond in self.bonds), *([x] if self.fields else []))

    def pairs(self, low: tuple[Sites, ...], high: tuple[Sites, ...], exists: Exists) -> tuple[Pulls, ...]:
        """What neighbours do to each other, in each bond."""
        return tuple(bond.pair(low[k], high[k], exists) for k, bond in enumerate(self.bonds))

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
        for field in self.fields:
            slope_x, slope_R = field.slopes(place, sites[1][-1], R)
            force, torque = force - slope_x, torque + body_torque(R, slope_R)
        return Wrench(*self._of_live(place, force + self._pull(place), torque))

    def slopes(
        self, place: Int[Array, " n"], x: Float[Array, "3 n+2"], c: Array, rotation: Callable
    ) -> tuple[Array, Array]:
        """Derivatives of the potential in positions and coordinates, zero for what does not move or turn."""
        slope_x, slope_c = self.neighbours.slopes(x, c, rotation, place, self.count)
        if self.fields:
            R, pull_back = jax.vjp(rotation, c[..., 1:-1])
            for field in self.fields:
                more_x, more_R = field.slopes(place, x[:, 1:-1], R)
                slope_x, slope_c = slope_x + more_x, slope_c + pull_back(more_R)[0]
        return self._of_live(place, slope_x - self._pull(place), slope_c)

    def _pull(self, place: Int[Array, " n"]) -> Float[Array, "3 n"] | float:
        """Forces on the ends."""
        pulls = [
            jnp.where(place == at, force[:, None], 0.0)
            for at, force in zip((0, self.count - 1), self.forces, strict=True)
            if force is not None
        ]
        return sum(pulls[1:], start=pulls[0]) if pulls else 0.0

    def _of_live(self, place: Int[Array, " n"], of_moving: Array, of_turning: Array) -> tuple[Array, Array]:
        """Values of bodies at these places, made zero for those that do not move or turn."""
        return (
            jnp.where(_within(place, self.moving), of_moving, 0.0),
            jnp.where(_within(place, self.turning), of_turning, 0.0),
        )


def _within(place: Int[Array, " n"], bodies: range) -> Bool[Array, " n"]:
    """Which of the places are those of some bodies."""
    return (place >= bodies.start) & (place < bodies.stop)
