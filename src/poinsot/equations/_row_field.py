r"""Hamilton's equations of a row of equal bodies, a stretch of it at a time."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from poinsot.core import LocalWrench, Packed, each_body, hold
from poinsot.equations._bodies import Bodies


class RowField(eqx.Module):
    """The right-hand side of the canonical form, as `poinsot.core.LocalField` has it.

    Rows are positions, coordinates of rotations, and the momenta of both.

    Args:
        bodies: the bodies, with what does not depend on time acting on them.
        local: that in pieces.
    """

    bodies: Bodies
    local: LocalWrench

    @property
    def count(self) -> int:
        """Number of bodies, also of those that do not move."""
        return self.local.count

    @property
    def window(self) -> int:
        """Bodies of a stretch."""
        return self.local.window

    def rows(self, y: Packed) -> Array:
        """All bodies; those that do not move have no momentum."""
        bodies, half = self.bodies, y.shape[0] // 2
        positions = self.local.whole(*bodies.split(y[:half]), bodies.coordinates.from_quaternion)
        return jnp.concatenate([*positions, *self.local.spread(*bodies.split(y[half:]))])

    def packed(self, rows: Array) -> Packed:
        """What moves of them."""
        halves = (self.local.live(*self._split(half)) for half in jnp.split(rows, 2))
        return jnp.concatenate([self.bodies.join(*half) for half in halves])

    def rate(self, place: Int[Array, " n"], rows: Array) -> Array:
        r"""The rates $\partial H/\partial p$ and $-\partial H/\partial q$ of the bodies within."""
        coordinates, system = self.bodies.coordinates, self.bodies.system
        (x, c), momenta = (self._split(half) for half in jnp.split(rows, 2))
        x_momentum, c_momentum = (part[:, 1:-1] for part in momenta)
        # All bodies are equal.
        mass, inertia = system.masses[0], system.inertia[:, :1]
        slope_x, slope_c = self.local.slopes(place, x, c, each_body(coordinates.free_rotation))
        turning_c, velocity_c = jax.grad(self.bodies.turning_energy, argnums=(0, 1))(
            c[:, 1:-1], c_momentum, inertia
        )
        return jnp.concatenate(hold([x_momentum / mass, velocity_c, -slope_x, -(slope_c + turning_c)]))

    def _split(self, half: Array) -> tuple[Array, Array]:
        """What belongs to positions, and what to rotations."""
        return half[:3], half[3:]
