"""A coordinate of a joint as a function of the poses of all bodies: what a load in a joint acts on."""

from collections.abc import Mapping
from typing import Any, Literal

import equinox as eqx
import jax
from jaxtyping import Array, Float

from poinsot.core import InputError, Printable, body_torque, known_names, quoted

from .joints import AbstractJoint, Frames, angular
from .joints._coordinate import without, wrapped
from .potentials._marker import Marker, joined

Kind = Literal["torque", "force"]
"""What acts on a coordinate: a torque on an angle, a force on a way."""
Pull = dict[int, tuple[Float[Array, "3"], Float[Array, "3"]]]
"""Force at the mass centre in space, and torque about it in the body frame, by body."""


class JointCoordinate(Printable):
    """One coordinate of a joint, with the markers of the joint on its bodies."""

    joint: AbstractJoint
    first: Marker
    second: Marker
    place: int = eqx.field(static=True)
    """Among the coordinates of the joint."""

    @property
    def angular(self) -> bool:
        """Whether it is an angle."""
        return angular((self.joint.freedoms or ())[self.place])

    @property
    def bodies(self) -> tuple[int, ...]:
        """Those it joins, without the ground."""
        return joined(self.first, self.second)

    def value(self, x: Any, R: Any) -> Float[Array, ""]:
        """Its value; positions and rotations are asked for by body."""
        apart = self.second.place(x, R) - self.first.place(x, R)
        frames = Frames(apart, self.first.directions(R), self.second.directions(R))
        return self.joint.coordinates(frames)[self.place]

    def beyond(self, rest: Array, x: Any, R: Any) -> Float[Array, ""]:
        """How far it is from a value; of angles the nearer way round."""
        off = self.value(x, R) - rest
        return wrapped(off) if self.angular else off

    def pull(self, x: Array, R: Array) -> tuple[Float[Array, ""], Pull]:
        r"""Its value $c$, and the wrenches on its bodies of a unit force that acts on it.

        These are the derivatives of $c$: their power at any velocities is $\dot c$.
        """
        own = {body: x[body] for body in self.bodies}, {body: R[body] for body in self.bodies}
        value, (c_x, c_R) = jax.value_and_grad(self.value, argnums=(0, 1))(*own)
        return value, {body: (c_x[body], -body_torque(R[body], c_R[body])) for body in self.bodies}


Held = Mapping[str, tuple[AbstractJoint, Marker, Marker]]
"""Joints by name, with their markers."""


def chosen(held: Held, name: Any, coordinate: str | None, kind: Kind | None, label: str) -> JointCoordinate:
    """A coordinate of a joint, by name; the only one of its kind where none is named.

    Args:
        held: all joints.
        name: of the joint.
        coordinate: its name, or None.
        kind: whether it must be an angle or a way; None for either.
        label: who asks, for messages.

    Raises:
        InputError: there is no such joint, or it has no such coordinate.
    """
    if name not in held:
        hint = known_names(name, list(held))
        raise InputError(f"{label} is about joint {quoted(name)}, which is none; {hint}")
    joint, first, second = held[name]
    names = joint.freedoms or ()
    fit = [
        one for one in names if "turn" not in one and kind in (None, "torque" if angular(one) else "force")
    ]
    what = {"torque": "angle", "force": "way", None: "coordinate"}[kind]
    if not fit:
        if not any("turn" not in name for name in names):
            raise InputError(f"{label} is about {joint.label}, {without(joint, what)}")
        other = {"torque": "JointForce", "force": "JointTorque"}[kind or "torque"]
        raise InputError(f"{label} is about {joint.label}, which has no {what}; take {other}")
    if coordinate is None and len(fit) > 1:
        raise InputError(f"{label}: {joint.label} has {', '.join(fit)}; say which, coordinate={fit[0]!r}")
    if coordinate is not None and coordinate not in fit:
        raise InputError(
            f"{label}: coordinate = {quoted(coordinate)}; {joint.label} has the {what} {', '.join(fit)}"
        )
    return JointCoordinate(joint, first, second, names.index(coordinate or fit[0]))
