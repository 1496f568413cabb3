"""Forces and torques on one body, constant or functions of time."""

from collections.abc import Sequence
from typing import Any, Literal

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import InputError, Printable, Use, brief, checked, quoted

from .._checks import Numbers, as_array
from .._params import Parametrised
from .._places import as_body, body_field
from .._vectors import turned, turned_back
from ._base import AbstractLoad, Rotations, Vectors, on_body

Frame = Literal["space", "body"]


class _Course(Printable):
    """Three numbers, or a function of time that returns them."""

    value: Float[Array, "3"] | Parametrised

    def __init__(self, value: Any, field: str, params: Any):
        if not callable(value) and params is not None:
            raise InputError(f"{field} is constant, but params are given; write it as f(t, params)")
        self.value = (
            Parametrised(value, (), field, params) if callable(value) else as_array(value, field, (3,))
        )

    def __repr__(self) -> str:
        return brief(self.value)

    @property
    def takes_time(self) -> bool:
        """Whether it is a function."""
        return isinstance(self.value, Parametrised)

    def uses(self) -> Sequence[Use]:
        """That of a function."""
        return [self.value.use((3,))] if isinstance(self.value, Parametrised) else ()

    def __call__(self, t) -> Float[Array, "3"]:
        return jnp.asarray(self.value(t), dtype=float) if isinstance(self.value, Parametrised) else self.value


def _frame(frame: Frame, kind: str) -> Frame:
    """A known frame."""
    if frame not in ("space", "body"):
        raise InputError(f"frame of {kind} = {quoted(frame)}; it must be 'space' or 'body'")
    return frame


class Force(AbstractLoad):
    r"""A force at a point of a body, constant or a function of time.

    With the force f in space it gives the torque $\rho \times R^T f$ about the mass centre. A constant force
    in space has a potential, `pt.potentials.ConstantForce`, which structure-preserving methods prefer.

    Args:
        force: three numbers, or a function `f(t)` or `f(t, params)` that returns them.
        point: where it acts, in body coordinates relative to the mass centre.
        frame: "space", or "body" for a force that turns with the body.
        body: by name or by its place in the list of bodies.
        params: of the function of time, any pytree of numbers; those of the system when left out.
    """

    force: _Course
    point: Float[Array, "3"]
    frame: Frame = eqx.field(static=True)
    body: int = body_field()

    def __init__(
        self,
        force: Any,
        *,
        point: Numbers = (0.0, 0.0, 0.0),
        frame: Frame = "space",
        body: int | str = 0,
        params: Any = None,
    ):
        self.force = _Course(force, "force of Force", params)
        self.point = as_array(point, "point of Force", (3,))
        self.frame = _frame(frame, "Force")
        self.body = as_body(body, "body of Force")

    @property
    def takes_time(self) -> bool:
        """Whether the force is a function of time."""
        return self.force.takes_time

    def uses(self) -> Sequence[Use]:
        """That of a function of time."""
        return self.force.uses()

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


@checked
def thrust(force: Any, point: Numbers = (0.0, 0.0, 0.0), *, body: int | str = 0, params: Any = None) -> Force:
    """A force fixed in the body, such as that of a rocket engine.

    Args:
        force: three numbers in the body frame, or a function `f(t)` or `f(t, params)` that returns them.
        point: where it acts, in body coordinates relative to the mass centre.
        body: by name or by its place in the list of bodies.
        params: of the function of time, any pytree of numbers; those of the system when left out.
    """
    return Force(force, point=point, frame="body", body=body, params=params)


class Torque(AbstractLoad):
    """A torque on a body, constant or a function of time.

    A constant torque, in space or in the body, has no potential energy: over a closed path of rotations it
    may do work.

    Args:
        torque: three numbers, or a function `f(t)` or `f(t, params)` that returns them.
        frame: "space", or "body" for a torque that turns with the body.
        body: by name or by its place in the list of bodies.
        params: of the function of time, any pytree of numbers; those of the system when left out.
    """

    torque: _Course
    frame: Frame = eqx.field(static=True)
    body: int = body_field()

    def __init__(self, torque: Any, *, frame: Frame = "space", body: int | str = 0, params: Any = None):
        self.torque = _Course(torque, "torque of Torque", params)
        self.frame = _frame(frame, "Torque")
        self.body = as_body(body, "body of Torque")

    @property
    def takes_time(self) -> bool:
        """Whether the torque is a function of time."""
        return self.torque.takes_time

    def uses(self) -> Sequence[Use]:
        """That of a function of time."""
        return self.torque.uses()

    @property
    def bodies(self) -> tuple[int, ...]:
        """The body it acts on."""
        return (self.body,)

    def wrench(self, t, x: Vectors, R: Rotations, v: Vectors, Omega: Vectors) -> tuple[Vectors, Vectors]:
        """No force, and the torque in the body frame."""
        value = self.torque(t)
        in_body = turned_back(R[self.body], value) if self.frame == "space" else value
        return jnp.zeros_like(v), on_body(x.shape[0], self.body, in_body)
