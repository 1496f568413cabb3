"""What a joint is: conditions on two markers, and the motion that they leave."""

import abc
from collections.abc import Sequence
from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from ._condition import AbstractCondition
from ._frames import Frames, Subspace
from ._motion import Motion, placed
from ._site import Site


class AbstractJoint(AbstractCondition):
    r"""A joint between two bodies, or between a body and the ground.

    A class says how many `rows` its conditions have and what they are: functions of the vector $u$ from the
    point of the joint in the first body to that in the second, and of its directions $d_k$ in the first body
    and $e_k$ in the second. The axis is $d_3$ and $e_3$. The conditions are smooth in all components of
    positions and directors; Jacobians, rates and forces follow by differentiation.

    Every joint is made from the names of two bodies, `first` and `second`, one of which may be "ground", and
    from where it is: its point `at` in space with the bodies in their reference poses, or `at_first` and
    `at_second` in the bodies; its `axis`, or `axis_first` and `axis_second` likewise; and its `name`. Its
    `limits` are data, least and largest value of its coordinate: `stop=system.limits` ends a run there.
    `largest_effort` and `largest_velocity` are data too, which nothing acts on.

    A joint that can stand in a tree also says what it leaves: its coordinates, and the motion subspace of
    their rates. One that does not, such as a constant distance, closes a loop.
    """

    freedoms: ClassVar[tuple[str, ...] | None] = None
    """Names of its coordinates, those of angles with "angle" or "turn" in them; None where it has none."""
    site: eqx.AbstractVar[Site]
    """Which bodies it joins, and where."""

    @abc.abstractmethod
    def residual(self, frames: Frames) -> Float[Array, " rows"]:
        """What must vanish."""

    def subspace(self, frames: Frames) -> Subspace:
        """Relative motions that it leaves, one for each of `freedoms`."""
        raise NotImplementedError(f"{type(self).__name__} has no motion subspace")

    def coordinates(self, frames: Frames) -> Float[Array, " k"]:
        """Its coordinates, angles between minus and plus pi."""
        raise NotImplementedError(f"{type(self).__name__} has no coordinates")

    def motions(self) -> tuple[Motion, ...] | None:
        """Elementary motions from the first marker to the second, one for each coordinate.

        None where they do not follow one after the other, as those of a ball.
        """
        return None

    def placed(self, c: Float[Array, " k"]) -> tuple[Float[Array, "3 3"], Float[Array, "3"]]:
        """Rotation and place of the second marker in the first, at its coordinates; see `coordinates`."""
        motions = self.motions()
        if motions is None:
            raise NotImplementedError(f"{type(self).__name__} has no coordinates")
        return placed(motions, c)

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.site.name

    @property
    def label(self) -> str:
        """Kind and name."""
        return str(self.site)

    def label_in(self, joints: Sequence["AbstractJoint"]) -> str:
        """Its label, which names the bodies."""
        return self.label

    @property
    def joined(self) -> tuple[str, ...]:
        """Itself."""
        return (self.name,)

    def gap(self, t, joints: Sequence["AbstractJoint"], frames: Sequence[Frames]) -> Float[Array, " rows"]:
        """What must vanish."""
        return self.residual(frames[0])
