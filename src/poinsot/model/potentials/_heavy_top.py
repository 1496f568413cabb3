"""The weight of a body that turns about a fixed point."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core.types import Scalar

from .._checks import Numbers, as_array
from .._places import as_body, body_field
from .._vectors import as_direction, turned
from ._base import AbstractInvariantPotential, Directors, Positions


class HeavyTop(AbstractInvariantPotential):
    r"""The weight of a top about its fixed point.

    $$ V = m g l\; (R\,a) \cdot u, \qquad a = e_3,\ u = e_3:\quad V = m g l\,R_{33} $$

    Use it where mass, distance and inertia about the fixed point are known only together. Where they are
    known one by one, `UniformGravity` with `FixedPoint(point)` says the same.

    Args:
        mgl: weight times distance of the mass centre from the fixed point.
        axis: direction a from the fixed point to the mass centre, in the body frame.
        up: direction u against gravity, in space.
        body: the top, by name or by its place in the list of bodies.
    """

    mgl: Scalar
    axis: Float[Array, "3"]
    up: Float[Array, "3"]
    body: int = body_field()

    def __init__(
        self,
        mgl: Numbers,
        *,
        axis: Numbers = (0.0, 0.0, 1.0),
        up: Numbers = (0.0, 0.0, 1.0),
        body: int | str = 0,
    ):
        self.mgl = as_array(mgl, "mgl of HeavyTop", ())
        self.axis = as_direction(axis, "axis of HeavyTop")
        self.up = as_direction(up, "up of HeavyTop")
        self.body = as_body(body, "body of HeavyTop")

    @property
    def bodies(self) -> tuple[int, ...]:
        """The top."""
        return (self.body,)

    def invariants(self, x: Positions, R: Directors) -> Float[Array, "1"]:
        """Height of the axis, (R a) . u."""
        return jnp.sum(self.up * turned(R[self.body], self.axis), keepdims=True)

    def energy_of(self, c: Float[Array, "1"]) -> Scalar:
        """The height times mgl."""
        return self.mgl * c[0]
