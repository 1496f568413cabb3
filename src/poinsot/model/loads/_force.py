"""Forces and torques on one body, constant or functions of time."""

from typing import Any, Literal

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import InputError, Printable

from .._checks import Numbers, as_array, as_index
from .._vectors import turned, turned_back
from ._base import AbstractLoad, Rotations, Vectors, on_body

Frame = Literal["space", "body"]


class _Course(Printable):
    """Three numbers, or three functions of time as one."""

    value: Any
    takes_time: bool = eqx.field(static=True)

    def __init__(self, value: Any, field: str):
        self.takes_time = callable(value)
        self.value = value if callable(value) else as_array(value, field, (3,))

    def __call__(self, t) -> Float[Array, "3"]:
        return jnp.asarray(self.value(t), dtype=float) if self.takes_time else self.value


def _frame(frame: Frame, kind: str) -> Frame:
    """A known frame."""
    if frame not in ("space", "body"):
        raise InputError(f"frame of {kind} = {frame!r}; it must be 'space' or 'body'")
    return frame


class Force(AbstractLoad):
    r"""A force at a point of a body, constant or a function of time.

    With the force f in space it gives the torque $\rho \times R^T f$ about the mass centre. A constant force
    in space has a potential, `pt.potentials.ConstantForce`, which structure-preserving methods prefer.

    Args:
        force: three numbers, or a function of time that returns them.
        point: where it acts, in body coordinates relative to the mass centre.
        frame: "space", or "body" for a force that turns with the body.
        body: place of the body in the list of bodies.
    """

    force: _Course
    point: Float[Array, "3"]
    frame: Frame = eqx.field(static=True)
    body: int = eqx.field(static=True)

    def __init__(
        self,
        force: Any,
        *,
        point: Numbers = (0.0, 0.0, 0.0),
        frame: Frame = "space",
        body: int = 0,
    ):
        self.force = _Course(force, "force of Force")
        self.point = as_array(point, "point of Force", (3,))
        self.frame = _frame(frame, "Force")
        self.body = as_index(body, "body of Force")

    @property
    def takes_time(self) -> bool:
        """Whether the force is a function of time."""
        return self.force.takes_time

    @property
    def bodies(self) -> tuple[int, ...]:
        """The body it acts on."""
        return (self.body,)

    def wrench(self, t, x: Vectors, R: Rotations, v: Vectors, Omega: Vectors) -> tuple[Vectors, Vectors]:
        """The force, and its moment about the mass centre."""
        value, rot = self.force(t), R[self.body]
        in_space, in_body = (
            (value, turned_back(rot, value)) if self.frame == "space" else (turned(rot, value), value)
        )
        count = x.shape[0]
        return on_body(count, self.body, in_space), on_body(count, self.body, jnp.cross(self.point, in_body))


def thrust(force: Any, point: Numbers = (0.0, 0.0, 0.0), *, body: int = 0) -> Force:
    """A force fixed in the body, such as that of a rocket engine.

    Args:
        force: three numbers in the body frame, or a function of time that returns them.
        point: where it acts, in body coordinates relative to the mass centre.
        body: place of the body in the list of bodies.
    """
    return Force(force, point=point, frame="body", body=body)


class Torque(AbstractLoad):
    """A torque on a body, constant or a function of time.

    A constant torque, in space or in the body, has no potential energy: over a closed path of rotations it
    may do work.

    Args:
        torque: three numbers, or a function of time that returns them.
        frame: "space", or "body" for a torque that turns with the body.
        body: place of the body in the list of bodies.
    """

    torque: _Course
    frame: Frame = eqx.field(static=True)
    body: int = eqx.field(static=True)

    def __init__(self, torque: Any, *, frame: Frame = "space", body: int = 0):
        self.torque = _Course(torque, "torque of Torque")
        self.frame = _frame(frame, "Torque")
        self.body = as_index(body, "body of Torque")

    @property
    def takes_time(self) -> bool:
        """Whether the torque is a function of time."""
        return self.torque.takes_time

    @property
    def bodies(self) -> tuple[int, ...]:
        """The body it acts on."""
        return (self.body,)

    def wrench(self, t, x: Vectors, R: Rotations, v: Vectors, Omega: Vectors) -> tuple[Vectors, Vectors]:
        """No force, and the torque in the body frame."""
        value = self.torque(t)
        in_body = turned_back(R[self.body], value) if self.frame == "space" else value
        return jnp.zeros_like(v), on_body(x.shape[0], self.body, in_body)
