"""One coordinate of a joint, by name: what drives, couplings and loads are about."""

from collections.abc import Mapping

import jax.numpy as jnp
from jaxtyping import Array

from poinsot.core import InputError, known_names, quoted

from ._base import AbstractJoint
from ._frames import Frames


def angular(coordinate: str) -> bool:
    """Whether a coordinate of a joint is an angle, by its name."""
    return "angle" in coordinate or "turn" in coordinate


def joint_called(name: str, joints: Mapping[str, AbstractJoint], label: str) -> AbstractJoint:
    """The joint of this name.

    Raises:
        InputError: there is none; `label` says who asked.
    """
    if name not in joints:
        hint = known_names(name, list(joints))
        raise InputError(f"{label} is about joint {quoted(name)}, which is none; {hint}")
    return joints[name]


def coordinate_of(joint: AbstractJoint, coordinate: str | None, label: str) -> int:
    """Place of a coordinate among those of a joint; the only one where none is named.

    Raises:
        InputError: the joint has none of this name, or several and none is named.
    """
    names = tuple(name for name in joint.freedoms or () if "turn" not in name)
    if not names:
        raise InputError(f"{label} is about {joint.label}, {without(joint, 'coordinate')}")
    if coordinate is None and len(names) == 1:
        return 0
    if coordinate not in names:
        raise InputError(f"{label}: coordinate = {quoted(coordinate)}; {joint.label} has {', '.join(names)}")
    return names.index(coordinate)


def without(joint: AbstractJoint, what: str) -> str:
    """What to do about a joint that has no coordinate of a kind, none but the turns of a ball at most."""
    if joint.freedoms:
        turns = ", ".join(joint.freedoms)
        return (
            f"a ball with no {what} but a rotation vector ({turns}): take Universal or Revolute joints for "
            "angles, pt.loads.Torque to turn it, or assemble it with the rotation of a body"
        )
    return f"which has no {what}; take a joint with an angle or a way, such as Revolute or Prismatic"


def coordinate_at(joint: AbstractJoint, place: int, frames: Frames) -> Array:
    """Value of a coordinate."""
    return joint.coordinates(frames)[place]


def wrapped(angle: Array) -> Array:
    """The same angle between minus and plus pi, with slope one but at a half turn."""
    return jnp.arctan2(jnp.sin(angle), jnp.cos(angle))
