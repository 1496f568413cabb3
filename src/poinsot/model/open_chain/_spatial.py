r"""Twists, wrenches and inertias at a point, along space axes or those of a moving frame.

A twist is $(\omega, v)$, the angular velocity and the velocity of the point that is there; a wrench is
$(n, f)$, the moment about the point and the force. Both are arrays whose last axis has six numbers. An arm
from one point to another is given as its skew matrix $\hat a$, so that a product is one sum.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.rotation import hat

Spatial = Float[Array, "*batch 6"]
Vec = Float[Array, "*batch 3"]
Arm = Float[Array, "*batch 3 3"]
"""Skew matrix of a vector from one point to another."""


def joined(first: Vec, second: Vec) -> Spatial:
    """Both halves as one array."""
    return jnp.concatenate([first, second], axis=-1)


def halves(spatial: Spatial) -> tuple[Vec, Vec]:
    """What belongs to the turn, and what belongs to the point."""
    return spatial[..., :3], spatial[..., 3:]


def twist_at(twist: Spatial, arm: Arm) -> Spatial:
    r"""The same twist at a point `arm` further, $(\omega, v + \omega\times a)$."""
    turn, velocity = halves(twist)
    return joined(turn, velocity - applied(arm, turn))


def wrench_from(wrench: Spatial, arm: Arm) -> Spatial:
    r"""A wrench at a point `arm` further, at the point itself: $(n + a\times f, f)$."""
    moment, force = halves(wrench)
    return joined(moment + applied(arm, force), force)


def bracket(first: Spatial, second: Spatial) -> Spatial:
    r"""Rate of a twist that is carried along by another.

    $$ (\omega, v) \times (\alpha, a) = (\omega\times\alpha,\; \omega\times a + v\times\alpha) $$
    """
    turn, velocity = halves(first)
    other_turn, other_velocity = halves(second)
    return joined(
        jnp.cross(turn, other_turn), jnp.cross(turn, other_velocity) + jnp.cross(velocity, other_turn)
    )


def dot(twist: Spatial, wrench: Spatial) -> Float[Array, "*batch"]:
    """Power of a wrench at a twist."""
    return jnp.sum(twist * wrench, axis=-1)


def applied(matrix: Float[Array, "*batch n m"], vector: Float[Array, "*batch m"]) -> Float[Array, "*batch n"]:
    """A matrix times a vector, as sums, which compile into the loops around them."""
    return jnp.sum(matrix * vector[..., None, :], axis=-1)


def product(first: Float[Array, "*batch n k"], second: Float[Array, "*batch k m"]) -> Array:
    """Two small matrices multiplied, as sums."""
    return jnp.sum(first[..., :, :, None] * second[..., None, :, :], axis=-2)


def inertia_at(mass: Array, inertia: Float[Array, "*batch 3 3"], arm: Arm) -> Float[Array, "*batch 6 6"]:
    r"""Inertia of a body about a point from which its mass centre is at `arm`.

    $$ \begin{pmatrix} J - m\,\hat a \hat a & m\,\hat a \\ -m\,\hat a & m \end{pmatrix} $$

    Args:
        mass: of the body.
        inertia: about the mass centre, along space axes.
        arm: from the point to the mass centre.
    """
    weight = mass[..., None, None]
    corner = inertia - weight * product(arm, arm)
    upper = jnp.concatenate([corner, weight * arm], axis=-1)
    lower = jnp.concatenate([-weight * arm, weight * jnp.broadcast_to(jnp.eye(3), arm.shape)], axis=-1)
    return jnp.concatenate([upper, lower], axis=-2)


def inertia_from(inertia: Float[Array, "6 6"], arm: Float[Array, "3 3"]) -> Float[Array, "6 6"]:
    r"""An inertia about a point `arm` further, about the point itself: $X^T I X$ with $X$ that of `twist_at`.

    $$ A' = A + \hat a B^T - B\hat a - \hat a C \hat a, \qquad B' = B + \hat a C $$
    """
    A, B, C = inertia[:3, :3], inertia[:3, 3:], inertia[3:, 3:]
    upper = B + product(arm, C)
    corner = A + product(arm, B.T) - product(upper, arm)
    return jnp.concatenate(
        [jnp.concatenate([corner, upper], axis=1), jnp.concatenate([upper.T, C], axis=1)], axis=0
    )


def brought(twist: Spatial, turn: Float[Array, "*batch 3 3"], way: Vec) -> Spatial:
    r"""A twist of a frame in one that it carries, turned by $E$ and placed at $r$ in it.

    $$ (E^T\omega,\; E^T(v + \omega\times r)) $$
    """
    omega, velocity = halves(twist)
    back = jnp.swapaxes(turn, -1, -2)
    return joined(applied(back, omega), applied(back, velocity + jnp.cross(omega, way)))


def handed(wrench: Spatial, turn: Float[Array, "*batch 3 3"], way: Vec) -> Spatial:
    r"""A wrench on a carried frame in the frame that carries it: $(E n + r\times E f,\; E f)$."""
    moment, force = (applied(turn, half) for half in halves(wrench))
    return joined(moment + jnp.cross(way, force), force)


class Inertia(NamedTuple):
    r"""A symmetric map from twists to wrenches, $n = A\omega + B v$ and $f = B^T\omega + C v$."""

    measured = True
    # A mass of one is a number like any other, and no direction that programs know.
    A: Float[Array, "*batch 3 3"]
    B: Float[Array, "*batch 3 3"]
    C: Float[Array, "*batch 3 3"]

    def __call__(self, twist: Spatial) -> Spatial:
        """The wrench of a twist."""
        omega, velocity = halves(twist)
        across = jnp.swapaxes(self.B, -1, -2)
        return joined(
            applied(self.A, omega) + applied(self.B, velocity),
            applied(across, omega) + applied(self.C, velocity),
        )

    def less(self, wrench: Spatial, factor: Array) -> "Inertia":
        r"""The inertia $I - \phi\,U U^T$."""
        moment, force = halves(wrench)
        scaled_moment, scaled_force = moment * factor, force * factor
        return Inertia(
            mirrored(self.A - moment[:, None] * scaled_moment[None]),
            self.B - moment[:, None] * scaled_force[None],
            mirrored(self.C - force[:, None] * scaled_force[None]),
        )

    def handed(self, turn: Float[Array, "3 3"], way: Float[Array, "3"]) -> "Inertia":
        r"""The same in the frame that carries it; see `brought` for $E$ and $r$.

        $$ A' = E A E^T + \hat r (E B E^T)^T - B'\hat r, \qquad B' = E B E^T + \hat r C', \qquad
           C' = E C E^T $$
        """
        A, B, C = (product(product(turn, block), turn.T) for block in self)
        arm = hat(way)
        C = mirrored(C)
        coupling = B + product(arm, C)
        moment = mirrored(A) + product(arm, B.T) - product(coupling, arm)
        return Inertia(mirrored(moment), coupling, C)


def mirrored(matrix: Float[Array, "3 3"]) -> Float[Array, "3 3"]:
    """A symmetric matrix by its upper half; the lower one need not be computed."""
    return jnp.where(np.triu(np.ones((3, 3), dtype=bool)), matrix, matrix.T)
