"""Joint coordinates: a whole system by the coordinates of its joints."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.rotation import normalise, omega_body, quat_rate, to_matrix

from ._base import AbstractOrientation, BodyVector, Moments, Multipliers, Position, Velocity


class Joint(AbstractOrientation):
    """The coordinates of the joints, along their tree: no joint can open, whatever the step.

    Angles and ways are themselves; a ball joint and a free body have unit quaternions. See `pt.OpenChain` for
    the functions of these coordinates. Where the joints form a tree, the forms are

    - "hamiltonian", in coordinates and their momenta, canonical;
    - "recursive", by articulated bodies, with a cost in proportion to the number of joints;
    - "covariant", by metric tensor and Christoffel symbols;
    - "index3" and "index2", in coordinates and momenta, for variational and other integrators that hold
      constraints: here nothing but the unit length of quaternions.

    A loop is a tree with one joint cut, and a constraint that keeps that joint closed; drives and couplings
    are constraints likewise. With these the forms are

    - "index3", in coordinates and momenta, for integrators that hold constraints; "index2" for those that
      hold velocities only;
    - "index0", by articulated bodies and a system for the multipliers; "index1", by one system for
      accelerations and multipliers.

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
        """The forms of single bodies: "null_space" and "group"."""
        if form not in ("null_space", "group"):
            return None
        return (
            f"Joint has no form {form!r}; take 'hamiltonian', 'recursive', 'covariant' or 'index3', and with "
            "loops, drives or couplings 'index3' or 'index0'"
        )
