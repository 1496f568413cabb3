"""A constant force in space."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Scalar

from .._checks import Numbers, as_array
from .._places import as_body, body_field
from .._vectors import turned
from ._base import AbstractInvariantPotential, Directors, Positions


class ConstantForce(AbstractInvariantPotential):
    r"""A force of constant size and direction in space, at a point of a body.

    $$ V = -F \cdot (x + R\,\rho) $$

    A constant torque has no potential energy: over a closed path of rotations it may do work. It is a load,
    `pt.loads.Torque`; so is a force that turns with the body, `pt.loads.thrust`.

    Args:
        force: F, in space.
        point: where it acts, in body coordinates relative to the mass centre.
        body: the body, by name or by its place in the list of bodies.
    """

    force: Float[Array, "3"]
    point: Float[Array, "3"]
    body: int = body_field()

    def __init__(self, force: Numbers, *, point: Numbers = (0.0, 0.0, 0.0), body: int | str = 0):
        self.force = as_array(force, "force of ConstantForce", (3,))
        self.point = as_array(point, "point of ConstantForce", (3,))
        self.body = as_body(body, "body of ConstantForce")

    @property
    def bodies(self) -> tuple[int, ...]:
        """The body it acts on."""
        return (self.body,)

    def invariants(self, x: Positions, R: Directors) -> Float[Array, "1"]:
        """Work of the force on the way from the origin."""
        place = x[self.body] + turned(R[self.body], self.point)
        return jnp.sum(self.force * place, keepdims=True)

    def energy_of(self, c: Float[Array, "1"]) -> Scalar:
        """What the work took from the energy."""
        return -c[0]
