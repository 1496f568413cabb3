"""Two joint coordinates in a fixed ratio."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, as_array, concrete, quoted

from ._base import AbstractJoint
from ._condition import AbstractCondition
from ._coordinate import angular, coordinate_at, coordinate_of, joint_called, wrapped
from ._frames import Frames


class Coupling(AbstractCondition):
    r"""Couples coordinates of two joints linearly: gears, rack and pinion, mimic joints.

    $$ w_1 c_1 + w_2 c_2 = w_0 $$

    With an angle $\vartheta$ in it the condition holds over any number of turns: what vanishes up to whole
    turns is $\vartheta + (w_x/w_\vartheta)\,x - w_0/w_\vartheta$, and for two angles
    $w_1\vartheta_1 + w_2\vartheta_2 - w_0$ with whole numbers $w_1$ and $w_2$, the teeth of two gears, over
    their greatest common divisor.

    Args:
        first: name of a joint.
        second: name of another.
        weights: the numbers $w_1$ and $w_2$. Gears with 20 and 40 teeth that turn against each other have
            `(20, 40)`, a rack with a pinion of radius r that moves by $r\vartheta$ has `(1, -r)`.
        offset: the number $w_0$.
        coordinates: which coordinate of each joint; None where it has one.
        name: what reports call it.
    """

    rows: ClassVar[int] = 1
    weights: Float[Array, "2"]
    offset: Float[Array, ""]
    ends: tuple[str, str] = eqx.field(static=True)
    coordinates: tuple[str | None, str | None] = eqx.field(static=True)
    called: str = eqx.field(static=True)
    divisor: int = eqx.field(static=True)
    """Greatest common divisor of two whole weights."""

    def __init__(
        self,
        first: str,
        second: str,
        weights: Any,
        offset: Any = 0.0,
        *,
        coordinates: tuple[str | None, str | None] = (None, None),
        name: str | None = None,
    ):
        self.ends, self.coordinates = (first, second), (coordinates[0], coordinates[1])
        self.called = name or f"coupling of {first} and {second}"
        if first == second:
            raise InputError(f"{self.label} couples {quoted(first)} with itself; name two different joints")
        self.weights = as_array(weights, f"weights of {self.label}", (2,))
        self.offset = as_array(offset, f"offset of {self.label}", ())
        if concrete(self.weights) and not np.all(np.asarray(self.weights)):
            raise InputError(f"weights of {self.label} = {quoted(weights)}; none may be zero")
        self.divisor = math.gcd(*np.asarray(self.weights).astype(int).tolist()) if self._whole else 1

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.called

    @property
    def label(self) -> str:
        """Its name."""
        return f"coupling {self.name!r}"

    @property
    def joined(self) -> tuple[str, ...]:
        """Both joints."""
        return self.ends

    def check(self, joints: Mapping[str, AbstractJoint]) -> None:
        """Refuse joints or coordinates that are not there, and gears without teeth."""
        own = [joint_called(name, joints, self.label) for name in self.ends]
        _, angles = self._places(own)
        if all(angles) and concrete(self.weights) and not self._whole:
            raise InputError(
                f"weights of {self.label} = {quoted(np.asarray(self.weights).tolist())}; for two angles give "
                "whole numbers, such as numbers of teeth: others do not come round after a turn"
            )

    @property
    def _whole(self) -> bool:
        """Whether the weights are known to be whole numbers."""
        return concrete(self.weights) and bool(np.all(np.asarray(self.weights) % 1.0 == 0.0))

    def _places(self, joints: Sequence[AbstractJoint]) -> tuple[list[int], list[bool]]:
        """Place of each coordinate in its joint, and whether it is an angle."""
        places = [
            coordinate_of(joint, name, self.label)
            for joint, name in zip(joints, self.coordinates, strict=True)
        ]
        names = [(joint.freedoms or ())[place] for joint, place in zip(joints, places, strict=True)]
        return places, [angular(name) for name in names]

    def gap(self, t, joints: Sequence[AbstractJoint], frames: Sequence[Frames]) -> Float[Array, "1"]:
        """The condition above, with a slope of about one in the larger coordinate."""
        places, angles = self._places(joints)
        values = jnp.stack([coordinate_at(*one) for one in zip(joints, places, frames, strict=True)])
        off = jnp.sum(self.weights * values) - self.offset
        if any(angles):
            # Two angles of gears come round together; an angle and a way come round with the angle.
            unit = self.divisor if all(angles) else self.weights[angles.index(True)]
            off = wrapped(off / unit) * unit
        return off[None] / jnp.max(jnp.abs(self.weights))

    def shared(self, force: Float[Array, "1"]) -> Float[Array, "2"]:
        """Torque or force on each of the two coordinates, from the force of the condition."""
        return force * self.weights / jnp.max(jnp.abs(self.weights))
