"""Two joint coordinates in a fixed ratio."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, as_array, concrete, quoted

from ._base import AbstractJoint
from ._condition import AbstractCondition
from ._coordinate import angular, coordinate_at, coordinate_of, joint_called
from ._frames import Frames


class Coupling(AbstractCondition):
    r"""Couples coordinates of two joints linearly: gears, rack and pinion, mimic joints.

    $$ w_1 c_1 + w_2 c_2 = w_0 $$

    With an angle $\vartheta$ in it the condition holds over any number of turns: it is the sine of
    $\vartheta + (w_x/w_\vartheta)\,x - w_0/w_\vartheta$ that vanishes, and for two angles that of
    $w_1\vartheta_1 + w_2\vartheta_2 - w_0$ with whole numbers $w_1$ and $w_2$, the teeth of two gears.

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
        whole = not concrete(self.weights) or np.all(np.asarray(self.weights) % 1.0 == 0.0)
        if all(angles) and not whole:
            raise InputError(
                f"weights of {self.label} = {quoted(np.asarray(self.weights).tolist())}; for two angles give "
                "whole numbers, such as numbers of teeth: others do not come round after a turn"
            )

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
        if not any(angles):
            return (off / jnp.max(jnp.abs(self.weights)))[None]
        # Two angles of gears come round together; an angle and a way come round with the angle.
        unit = 1.0 if all(angles) else self.weights[angles.index(True)]
        return (jnp.sin(off / unit) * unit / jnp.max(jnp.abs(self.weights)))[None]
