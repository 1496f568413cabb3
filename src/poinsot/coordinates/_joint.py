"""Joint coordinates: a whole system by the coordinates of its joints."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.rotation import normalise, omega_body, quat_rate, to_matrix

from ._base import AbstractOrientation, BodyVector, Moments, Multipliers, Position, Velocity


class Joint(AbstractOrientation):
    """The coordinates of the joints, along their tree: no joint can open, whatever the step.

    Angles and ways are themselves; a ball joint and a free body have unit quaternions. For systems whose
    joints close no loop, see `pt.OpenChain`. The forms are

    - "hamiltonian", in coordinates and their momenta, canonical;
    - "recursive", by articulated bodies, with a cost in proportion to the number of joints;
    - "covariant", by metric tensor and Christoffel symbols.

    The bodies themselves are seen as ever, by unit quaternions, which this class is about.
    """

    @property
    def size(self) -> int:
        """Four."""
        return 4

    @property
    def constraints(self) -> int:
        """None: the rotation of a body follows from the joints."""
        return 0

    def rotation(self, q: Position) -> Float[Array, "3 3"]:
        """Matrix of a unit quaternion."""
        return to_matrix(q)

    def from_quaternion(self, quat: Float[Array, "4"]) -> Position:
        """The quaternion itself."""
        return quat

    def velocity(self, q: Position, Omega: BodyVector) -> Velocity:
        """Rate of the quaternion at a body angular velocity."""
        return quat_rate(q, Omega)

    def omega(self, q: Position, v: Velocity) -> BodyVector:
        """Body angular velocity of a rate of the quaternion."""
        return omega_body(q, v)

    def constraint(self, q: Position) -> Multipliers:
        """Nothing."""
        return jnp.zeros(0)

    def project_position(self, q: Position) -> Position:
        """The unit quaternion along `q`."""
        return normalise(q)

    def refusal(self, form: str, J: Moments) -> str | None:
        """Every form but its own three."""
        if form in ("hamiltonian", "recursive", "covariant"):
            return None
        return f"Joint has the forms 'hamiltonian', 'recursive' and 'covariant', not {form!r}"
