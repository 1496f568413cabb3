"""A spring in a joint."""

from typing import TYPE_CHECKING, ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from poinsot.core.types import Scalar

from .._checks import Numbers, as_array, as_passive
from ._base import AbstractPotential, Directors, Positions

if TYPE_CHECKING:
    from .._joint_coordinate import JointCoordinate
    from .._roster import Roster


class JointSpring(AbstractPotential):
    r"""A linear spring on a coordinate $c$ of a joint: torsional on an angle.

    $$ V = \tfrac12 k\,(c - c_0)^2 $$

    Of an angle the nearer way to $c_0$ counts: half a turn away the torque jumps. With the load
    `pt.loads.JointDamper` it is a spring-damper in the joint.

    Args:
        joint: its name.
        stiffness: the number $k$: torque over angle, or force over way.
        rest: the coordinate $c_0$ without a force.
        coordinate: which, where the joint has several.
        active: whether a negative stiffness is meant, which brings energy in.
    """

    derived: ClassVar[tuple[str, ...]] = ("target",)
    stiffness: Float[Array, ""]
    rest: Float[Array, ""]
    joint: str = eqx.field(static=True)
    coordinate: str | None = eqx.field(static=True)
    target: "JointCoordinate | None"
    """The coordinate, once the spring is part of a system."""

    def __init__(
        self,
        joint: str,
        stiffness: Numbers,
        rest: Numbers = 0.0,
        coordinate: str | None = None,
        *,
        active: bool = False,
    ):
        self.stiffness = as_passive(stiffness, "stiffness of JointSpring", active)
        self.rest = as_array(rest, "rest of JointSpring", ())
        self.joint, self.coordinate, self.target = joint, coordinate, None

    @property
    def takes_time(self) -> bool:
        """Time does not enter."""
        return False

    @property
    def bodies(self) -> tuple[int, ...]:
        """The bodies of the joint."""
        return self._found.bodies

    @property
    def _found(self) -> "JointCoordinate":
        assert self.target is not None, "the spring is not part of a system yet"
        return self.target

    def of_bodies(self, roster: "Roster") -> "JointSpring":
        """The same spring, with the joint found."""
        target = roster.coordinate(self.joint, self.coordinate, None, "JointSpring")
        return eqx.tree_at(lambda one: one.target, self, target, is_leaf=lambda leaf: leaf is None)

    def energy(self, t, x: Positions, R: Directors) -> Scalar:
        """Half the stiffness times the square of the way from rest."""
        return 0.5 * self.stiffness * self._found.beyond(self.rest, x, R) ** 2
