"""Loads: forces and torques that no potential energy describes."""

import abc
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from poinsot.core import InputError

from ._checks import Numbers, as_array, as_index
from ._vectors import turned, turned_back

__all__ = ["AbstractLoad", "Force", "Function", "LinearDamping", "Torque", "thrust"]

Vectors = Float[Array, "body 3"]
Rotations = Float[Array, "body 3 3"]
Frame = Literal["space", "body"]


class AbstractLoad(eqx.Module):
    """Forces and torques on the bodies as a function of time, poses and velocities."""

    @property
    @abc.abstractmethod
    def takes_time(self) -> bool:
        """Whether time enters explicitly."""

    @property
    @abc.abstractmethod
    def bodies(self) -> tuple[int, ...] | None:
        """Places of the bodies it acts on; None for all."""

    @abc.abstractmethod
    def wrench(self, t, x: Vectors, R: Rotations, v: Vectors, Omega: Vectors) -> tuple[Vectors, Vectors]:
        """Forces at the mass centres in space, and torques about them in the body frames, of all bodies."""


class LinearDamping(AbstractLoad):
    r"""Resistance in proportion to velocity.

    $$ f = -c\,v, \qquad \tau = -C\,\Omega $$

    It takes the power $c\,|v|^2 + \Omega\cdot C\,\Omega$ away.

    Args:
        translational: coefficient c of the velocity of the mass centre.
        rotational: coefficient C of the angular velocity, one number or three for the body axes.
        bodies: places of the bodies it acts on; all when left out.
    """

    translational: Float[Array, ""]
    rotational: Float[Array, "3"]
    places: tuple[int, ...] | None = eqx.field(static=True)

    def __init__(
        self,
        translational: Numbers = 0.0,
        rotational: Numbers = 0.0,
        *,
        bodies: Sequence[int] | None = None,
    ):
        self.translational = as_array(translational, "translational of LinearDamping", ())
        rate = as_array(rotational, "rotational of LinearDamping")
        if rate.shape not in ((), (3,)):
            raise InputError(
                f"rotational of LinearDamping has shape {rate.shape}; it must be one number or three"
            )
        self.rotational = jnp.broadcast_to(rate, (3,))
        self.places = None
        if bodies is not None:
            self.places = tuple(as_index(place, "bodies of LinearDamping") for place in bodies)

    @property
    def takes_time(self) -> bool:
        """Time does not enter."""
        return False

    @property
    def bodies(self) -> tuple[int, ...] | None:
        """The bodies it acts on, None for all."""
        return self.places

    def wrench(self, t, x: Vectors, R: Rotations, v: Vectors, Omega: Vectors) -> tuple[Vectors, Vectors]:
        """Against the velocities."""
        count = x.shape[0]
        strength = jnp.asarray(_marks(count, range(count) if self.places is None else self.places))[:, None]
        return -self.translational * strength * v, -strength * self.rotational[None] * Omega


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

    force: "_Course"
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
        return _on(count, self.body, in_space), _on(count, self.body, jnp.cross(self.point, in_body))


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

    torque: "_Course"
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
        return jnp.zeros_like(v), _on(x.shape[0], self.body, in_body)


class Function(AbstractLoad):
    """Any JAX function as a load.

    Args:
        function: `f(t, x, R, v, Omega) -> (force, torque)` with poses and velocities of all bodies; forces
            (body, 3) at the mass centres in space, torques (body, 3) in the body frames.
        takes_time: whether its value depends on `t`.
    """

    function: Callable
    timed: bool = eqx.field(static=True)

    def __init__(self, function: Callable, *, takes_time: bool = True):
        self.function, self.timed = function, takes_time

    @property
    def takes_time(self) -> bool:
        """What was said of the function."""
        return self.timed

    @property
    def bodies(self) -> None:
        """All."""
        return None

    def wrench(self, t, x: Vectors, R: Rotations, v: Vectors, Omega: Vectors) -> tuple[Vectors, Vectors]:
        """What the function returns."""
        force, torque = self.function(t, x, R, v, Omega)
        return force, torque


class _Course(eqx.Module):
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


def _marks(count: int, places: Iterable[int]) -> np.ndarray:
    """One at the given places, zero elsewhere."""
    return np.isin(np.arange(count), list(places)).astype(float)


def _on(count: int, body: int, vec: Float[Array, "3"]) -> Vectors:
    """A vector for one body, zero for the others."""
    return jnp.asarray(_marks(count, (body,)))[:, None] * vec[None]
