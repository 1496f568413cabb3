"""A damper between two points."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from .._checks import Numbers, as_passive
from .._vectors import turned, turned_back
from ..potentials._marker import Marker, as_ends, joined
from ._base import AbstractLoad, Rotations, Vectors, on_body


class Damper(AbstractLoad):
    r"""Resistance to the change of the distance between two points.

    $$ f = -d\,\dot r, \qquad r = |p_2 - p_1| $$

    along the line between them. With `pt.potentials.Spring` it is a spring-damper. Where the points meet
    there is no line, and no force.

    Args:
        first: one end, a `Marker` on a body, or three numbers for a place in space.
        second: the other end.
        damping: the number $d$, force over speed.
        active: whether a negative damping is meant, which brings energy in.
    """

    first: Marker
    second: Marker
    damping: Float[Array, ""]

    def __init__(self, first: Any, second: Any, *, damping: Numbers, active: bool = False):
        self.first, self.second = as_ends(first, second, "Damper")
        self.damping = as_passive(damping, "damping of Damper", active)

    @property
    def takes_time(self) -> bool:
        """Time does not enter."""
        return False

    @property
    def bodies(self) -> tuple[int, ...]:
        """The bodies at its ends."""
        return joined(self.first, self.second)

    def wrench(self, t, x: Vectors, R: Rotations, v: Vectors, Omega: Vectors) -> tuple[Vectors, Vectors]:
        """Opposite forces at both ends."""
        span = self.second.place(x, R) - self.first.place(x, R)
        length = jnp.sum(span * span)
        apart = length > 0.0
        line = jnp.where(apart, span / jnp.sqrt(jnp.where(apart, length, 1.0)), 0.0)
        rate = jnp.zeros(())
        for end, side in ((self.first, -1.0), (self.second, 1.0)):
            if end.body is not None:
                speed = v[end.body] + turned(R[end.body], jnp.cross(Omega[end.body], end.point))
                rate = rate + side * jnp.sum(line * speed)
        forces, torques = jnp.zeros_like(v), jnp.zeros_like(Omega)
        for end, side in ((self.first, 1.0), (self.second, -1.0)):
            if end.body is not None:
                force = side * self.damping * rate * line
                torque = jnp.cross(end.point, turned_back(R[end.body], force))
                forces = forces + on_body(len(v), end.body, force)
                torques = torques + on_body(len(v), end.body, torque)
        return forces, torques
