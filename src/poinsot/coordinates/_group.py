"""The rotation group itself: a rotation is an element, a motion multiplies it."""

from typing import Literal

import equinox as eqx
from jaxtyping import Array, Float

from ._base import AbstractOrientation, BodyVector, Moments, Multipliers, Position, Velocity
from ._directors import Directors
from ._quaternions import Quaternions


class Group(AbstractOrientation):
    r"""Rotations as elements of their group, moved by multiplication from the right.

    A step of an integrator on the group turns the element by a rotation in the body frame, $R \leftarrow
    R\,R(p)$, and so stays on it to round-off. The velocity is the body angular momentum, which needs no
    coordinates.

    Args:
        element: "quaternion", four numbers, or "matrix", the nine of $\operatorname{vec} R$.
    """

    element: Literal["quaternion", "matrix"] = eqx.field(static=True)

    def __init__(self, element: Literal["quaternion", "matrix"] = "quaternion"):
        self.element = element

    @property
    def _stored(self) -> Quaternions | Directors:
        """Coordinates with the same numbers."""
        return Quaternions() if self.element == "quaternion" else Directors()

    @property
    def size(self) -> int:
        """Four or nine."""
        return self._stored.size

    @property
    def constraints(self) -> int:
        """One or six."""
        return self._stored.constraints

    def rotation(self, q: Position) -> Float[Array, "3 3"]:
        """Matrix of the element, from body to space."""
        return self._stored.rotation(q)

    def from_quaternion(self, quat: Float[Array, "4"]) -> Position:
        """Element of a unit quaternion."""
        return self._stored.from_quaternion(quat)

    def turn(self, q: Position, turn: Float[Array, "4"]) -> Position:
        """Element after a further rotation in the body frame, given as a unit quaternion."""
        return self._stored.turn(q, turn)

    def velocity(self, q: Position, Omega: BodyVector) -> Velocity:
        """Rate of the element at a body angular velocity."""
        return self._stored.velocity(q, Omega)

    def omega(self, q: Position, v: Velocity) -> BodyVector:
        """Body angular velocity of a rate of the element."""
        return self._stored.omega(q, v)

    def constraint(self, q: Position) -> Multipliers:
        """Unit length of the quaternion, or orthonormal rows of the matrix."""
        return self._stored.constraint(q)

    def project_position(self, q: Position) -> Position:
        """Nearest element of the group."""
        return self._stored.project_position(q)

    def refusal(self, form: str, J: Moments) -> str | None:
        """Every form but its own."""
        if form == "group":
            return None
        return f"Group has the form 'group' alone, not {form!r}; take Quaternions() or Directors() for that"
