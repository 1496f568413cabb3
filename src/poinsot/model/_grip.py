"""Where a joint takes hold of a body: a point and three directions that move with it."""

from functools import cache
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import known_numbers, on_device

from ._placement import Placement
from .potentials._marker import Marker


class Held(NamedTuple):
    """A point and three directions in space, or their rates."""

    place: Float[Array, "3"]
    directions: Float[Array, "3 3"]


class Grip(eqx.Module):
    r"""A marker in the live coordinates of its body.

    $$ p = b + R\,a, \qquad F = R\,A $$

    where $b$ is the position of a body that moves, the fixed point of one that turns about it, or a given
    function of time, and $R$ the live rotation of a body that turns, or a given function of time.
    """

    arm: Float[Array, "3"]
    frame: Float[Array, "3 3"]
    body: int | None = eqx.field(static=True)
    moving: int | None = eqx.field(static=True)
    """Place among the translating bodies."""
    turning: int | None = eqx.field(static=True)
    """Place among the rotating bodies."""

    @classmethod
    def of(cls, marker: Marker, placement: Placement) -> "Grip":
        """The grip of a marker on a body."""
        body, arm = marker.body, marker.point
        frame = _unturned() if marker.rotation is None else marker.rotation
        moving = turning = None
        if body is not None and body in placement.translating:
            moving = placement.translating.index(body)
        if body is not None and body in placement.rotating:
            turning = placement.rotating.index(body)
            if body in placement.pinned:
                arm = arm - placement.points[placement.pinned.index(body)]
            if placement.axes is not None:
                axes = placement.axes[:, :, turning]
                arm, frame = axes.T @ arm, axes.T @ frame
        return cls(arm, frame, body, moving, turning)

    @property
    def live(self) -> bool:
        """Whether the body moves or turns by itself."""
        return self.moving is not None or self.turning is not None

    def in_body(self, placement: Placement) -> Held:
        """Point, relative to the mass centre, and directions in the body frame; of the ground in space."""
        point, frame = self.arm, self.frame
        if self.turning is not None and placement.axes is not None:
            axes = placement.axes[:, :, self.turning]
            point, frame = axes @ point, axes @ frame
        if self.body in placement.pinned:
            point = point + placement.points[placement.pinned.index(self.body)]
        return Held(point, frame)

    def at(self, placement: Placement, t, x: Array, R: Array) -> Held:
        """Where it is."""
        given = self.given(placement, t)
        base = given.place if self.moving is None else x[:, self.moving]
        rotation = given.directions if self.turning is None else R[:, :, self.turning]
        return self._held(base, rotation)

    def path(self, placement: Placement, t, x: Array, R: Array, twist: Array) -> tuple[Held, Held, Held]:
        """Where it is, its rate, and its second rate at a constant twist of the live bodies."""
        t = jnp.asarray(t, dtype=float)

        def rates(t):
            return jax.jvp(lambda t: self.given(placement, t), (t,), (jnp.ones_like(t),))

        (given, first), (_, second) = jax.jvp(rates, (t,), (jnp.ones_like(t),))
        base = [given.place, first.place, second.place]
        if self.moving is not None:
            velocity = twist[: x.size].reshape(x.shape)[:, self.moving]
            base = [x[:, self.moving], velocity, jnp.zeros(3)]
        if self.turning is None:
            rotations = (given.directions, first.directions, second.directions)
            now, rate, bend = (self._held(b, r) for b, r in zip(base, rotations, strict=True))
            return now, rate, bend
        own, spin = R[:, :, self.turning], twist[x.size :].reshape(3, R.shape[2])[:, self.turning]
        # Turned in the body, where arms and frames are mostly zeros and ones, and then once into space.
        arm, frame, levels = self.arm, self.frame, []
        for place in base:
            levels.append(Held(place + own @ arm, own @ frame))
            arm, frame = jnp.cross(spin, arm), jnp.cross(spin[:, None], frame, axis=0)
        return levels[0], levels[1], levels[2]

    def _held(self, base: Array, rotation: Array) -> Held:
        return Held(base + rotation @ self.arm, rotation @ self.frame)

    def given(self, placement: Placement, t) -> Held:
        """Position and rotation that no live coordinate moves; those of the ground where all do."""
        positions, rotations = placement.given(t)
        body = -1 if self.body is None else self.body
        return Held(positions.get(body, jnp.zeros(3)), rotations.get(body, jnp.eye(3)))

    def pulled(self, R: Array, on_place: Array, on_directions: Array) -> Float[Array, "rows part"]:
        """Rows of a Jacobian in the motion and turn of the body, from those in point and directions.

        Args:
            R: live rotations.
            on_place: derivatives (rows, 3) in the point.
            on_directions: derivatives (rows, 3, 3) in the directions.
        """
        parts = [] if self.moving is None else [on_place]
        if self.turning is not None:
            own = R[:, :, self.turning]
            force = jnp.sum(own[None] * on_place[:, :, None], axis=1)
            twists = jnp.sum(own[None, :, :, None] * on_directions[:, :, None, :], axis=1)
            torque = jnp.cross(self.arm[None], force)
            for k in range(3):
                torque = torque + jnp.cross(self.frame[:, k][None], twists[:, :, k])
            parts.append(torque)
        return jnp.concatenate(parts, axis=1)


@cache
def _unturned() -> Float[Array, "3 3"]:
    """The unit matrix, made once: there may be thousands of grips."""
    with known_numbers():
        return on_device(np.eye(3))
