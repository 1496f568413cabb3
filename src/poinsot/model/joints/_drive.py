"""A joint coordinate as a given function of time."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import InputError, Use, quoted

from .._params import Parametrised
from ._base import AbstractJoint
from ._condition import AbstractCondition, with_static
from ._coordinate import angular, coordinate_at, coordinate_of, joint_called, wrapped
from ._frames import Frames


class Drive(AbstractCondition):
    r"""Moves a coordinate $c$ of a joint as a given function of time.

    $$ c - f(t) = 0, \quad\text{for an angle up to whole turns.} $$

    What it takes to do so is the reaction of the drive: a torque or a force. Its power is part of the energy
    balance of a run.

    Args:
        joint: name of the joint.
        function: `f(t)` or `f(t, params)`, twice differentiable. An angle may go through any number of turns.
        coordinate: which coordinate of the joint, "angle" or "position"; may be left out where it has one.
        params: any pytree of numbers and arrays; those of the system when left out.
        name: what reports call it.
        jumps: whether position or rate may jump, or rise in less than a step: no finite force does that, and
            the motion after it depends on the step. Without it `pt.simulate` refuses such a function.
    """

    rows: ClassVar[int] = 1
    function: Parametrised
    joint: str = eqx.field(static=True)
    coordinate: str | None = eqx.field(static=True)
    called: str = eqx.field(static=True)
    jumps: bool = eqx.field(static=True)

    def __init__(
        self,
        joint: str,
        function: Callable,
        coordinate: str | None = None,
        *,
        params: Any = None,
        name: str | None = None,
        jumps: bool = False,
    ):
        self.joint, self.coordinate, self.jumps = joint, coordinate, jumps
        self.called = name or f"drive of {joint}"
        if not callable(function):
            raise InputError(f"function of {self.label} = {quoted(function)}; it must be a function of time")
        self.function = Parametrised(function, (), f"function of {self.label}", params)

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.called

    @property
    def label(self) -> str:
        """Its name."""
        return f"drive {self.name!r}"

    @property
    def joined(self) -> tuple[str, ...]:
        """The joint that it moves."""
        return (self.joint,)

    @property
    def takes_time(self) -> bool:
        """Always."""
        return True

    def unnamed(self) -> Self:
        """Itself without names, also in messages of its function."""
        function = with_static(self.function.function, field="")
        return with_static(self, joint="", called="", function=with_static(self.function, function=function))

    def check(self, joints: Mapping[str, AbstractJoint]) -> None:
        """Refuse a joint that is not there, or has no such coordinate."""
        self.place_in(joint_called(self.joint, joints, self.label))

    def uses(self, joints: Mapping[str, AbstractJoint]) -> Sequence[Use]:
        """That of its function of time."""
        return [self.function.use((), of=f" in {joints[self.joint].label}")]

    def place_in(self, joint: AbstractJoint) -> int:
        """Place of the coordinate that it moves among those of the joint."""
        return coordinate_of(joint, self.coordinate, self.label)

    def gap(self, t, joints: Sequence[AbstractJoint], frames: Sequence[Frames]) -> Float[Array, "1"]:
        """The condition above."""
        place = self.place_in(joints[0])
        off = coordinate_at(joints[0], place, frames[0]) - self.function(t)
        return (wrapped(off) if angular((joints[0].freedoms or ())[place]) else off)[None]

    def rate(self, t) -> Float[Array, ""]:
        """Rate of the coordinate, the slope of the function."""
        t = jnp.asarray(t, dtype=float)
        return jax.jvp(self.function, (t,), (jnp.ones_like(t),))[1]
