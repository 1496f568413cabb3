"""Two joint coordinates in a fixed ratio."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Self

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError, as_array, concrete, quoted

from ._base import AbstractJoint
from ._condition import AbstractCondition, with_static
from ._coordinate import angular, coordinate_at, coordinate_of, joint_called, wrapped
from ._frames import Frames

LARGEST_TOOTH = 1000
"""Largest whole number in the ratio of two angles that turn round."""
ROUND_OFF = 4e-16


class Coupling(AbstractCondition):
    r"""Couples coordinates of two joints linearly: gears, rack and pinion, mimic joints.

    $$ w_1 c_1 + w_2 c_2 = w_0 $$

    With an angle $\vartheta$ in it the condition holds over any number of turns: what vanishes up to whole
    turns is $\vartheta + (w_x/w_\vartheta)\,x - w_0/w_\vartheta$, and for two angles
    $(w_1\vartheta_1 + w_2\vartheta_2 - w_0)/u$, where both weights are multiples of $u$: the teeth of two
    gears. A joint that follows another which does not turn round has any weights, and `about`: the second
    angle is then the one within half a turn of that, and the first holds over any number of turns.

    Args:
        first: name of a joint.
        second: name of another.
        weights: the numbers $w_1$ and $w_2$. Gears with 20 and 40 teeth that turn against each other have
            `(20, 40)`, a rack with a pinion of radius r that moves by $r\vartheta$ has `(1, -r)`, a joint
            that mimics another by a factor f has `(1, -f)`.
        offset: the number $w_0$.
        coordinates: which coordinate of each joint; None where it has one.
        about: of two angles, the middle of those that the second takes; None where it turns round.
        name: what reports call it.
    """

    rows: ClassVar[int] = 1
    weights: Float[Array, "2"]
    offset: Float[Array, ""]
    ends: tuple[str, str] = eqx.field(static=True)
    coordinates: tuple[str | None, str | None] = eqx.field(static=True)
    called: str = eqx.field(static=True)
    about: Float[Array, ""] | None
    unit: float | None = eqx.field(static=True)
    """The largest number that both weights are multiples of; None where there is none."""

    def __init__(
        self,
        first: str,
        second: str,
        weights: Any,
        offset: Any = 0.0,
        *,
        coordinates: tuple[str | None, str | None] = (None, None),
        about: Any = None,
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
        self.about = None if about is None else as_array(about, f"about of {self.label}", ())
        # Traced weights are taken for whole numbers.
        self.unit = _common(np.asarray(self.weights)) if concrete(self.weights) else 1.0

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

    def unnamed(self) -> Self:
        """Itself without names."""
        return with_static(self, ends=("", ""), called="")

    def check(self, joints: Mapping[str, AbstractJoint]) -> None:
        """Refuse joints or coordinates that are not there, and gears without teeth."""
        own = [joint_called(name, joints, self.label) for name in self.ends]
        _, angles = self._places(own)
        if all(angles) and self.unit is None and self.about is None:
            raise InputError(
                f"weights of {self.label} = {quoted(np.asarray(self.weights).tolist())}; two angles that "
                f"turn round need a ratio of whole numbers up to {LARGEST_TOOTH}, such as numbers of teeth; "
                "where the second does not turn round give about=0.0, or the middle of its angles"
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
        values = [coordinate_at(*one) for one in zip(joints, places, frames, strict=True)]
        unit = self.weights[angles.index(True)] if any(angles) else None
        # An angle and a way, and what follows an angle, come round with one angle; two gears together.
        if all(angles) and self.about is not None:
            values[1] = self.about + wrapped(values[1] - self.about)
        elif all(angles) and self.unit is not None:
            unit = jnp.asarray(self.unit)
        off = jnp.sum(self.weights * jnp.stack(values)) - self.offset
        if unit is not None:
            off = wrapped(off / unit) * unit
        return off[None] / jnp.max(jnp.abs(self.weights))

    def shared(self, force: Float[Array, "1"]) -> Float[Array, "2"]:
        """Torque or force on each of the two coordinates, from the force of the condition."""
        return force * self.weights / jnp.max(jnp.abs(self.weights))


def _common(weights: np.ndarray) -> float | None:
    """The largest number that two numbers are multiples of, with whole factors up to `LARGEST_TOOTH`."""
    if np.all(weights % 1.0 == 0.0):
        return float(math.gcd(*weights.astype(int).tolist()))
    small, large = sorted(np.abs(weights).tolist())
    ratio = Fraction(small / large).limit_denominator(LARGEST_TOOTH)
    whole = small > 0.0 and abs(float(ratio) - small / large) <= ROUND_OFF * small / large
    return large / ratio.denominator if whole else None
