"""Torques and forces in a joint: motors, brakes, dampers."""

import abc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Use, checked

from .._checks import Numbers, as_array, as_passive
from .._params import Parametrised
from ._base import AbstractLoad, Rotations, Vectors, on_body

if TYPE_CHECKING:
    from .._joint_coordinate import JointCoordinate
    from .._roster import Roster


Kind = Literal["torque", "force"]


class AbstractJointLoad(AbstractLoad):
    """A torque or a force on one coordinate of a joint.

    It acts on the second body and, in the opposite way, on the first, so that its power is itself times the
    rate of the coordinate. Which coordinate that is, the load is told when the system is built.
    """

    derived: ClassVar[tuple[str, ...]] = ("kind", "target")
    joint: eqx.AbstractVar[str]
    coordinate: eqx.AbstractVar[str | None]
    kind: eqx.AbstractVar[Kind | None]
    """Whether it acts on angles or on ways; None for both."""
    target: eqx.AbstractVar["JointCoordinate | None"]
    """The coordinate, once the load is part of a system."""

    @abc.abstractmethod
    def effort(self, t, value: Array, rate: Array) -> Float[Array, ""]:
        """The torque or force at a coordinate and its rate; positive moves the coordinate up."""

    @property
    def bodies(self) -> tuple[int, ...]:
        """The bodies of the joint."""
        return self._found.bodies

    @property
    def _found(self) -> "JointCoordinate":
        assert self.target is not None, "the load is not part of a system yet"
        return self.target

    @property
    def label(self) -> str:
        """Its kind and its joint."""
        return f"{self.shown_as} in joint {self.joint!r}"

    @property
    def shown_as(self) -> str:
        """What it was made with."""
        return {"torque": "JointTorque", "force": "JointForce", None: "JointDamper"}[self.kind]

    def of_bodies(self, roster: "Roster") -> Self:
        """The same load, with the joint found."""
        target = roster.coordinate(self.joint, self.coordinate, self.kind, self.shown_as)
        return eqx.tree_at(lambda one: one.target, self, target, is_leaf=lambda leaf: leaf is None)

    def wrench(self, t, x: Vectors, R: Rotations, v: Vectors, Omega: Vectors) -> tuple[Vectors, Vectors]:
        """What it does to the bodies of the joint."""
        value, pull = self._found.pull(x, R)
        rates = [force @ v[body] + torque @ Omega[body] for body, (force, torque) in pull.items()]
        effort = self.effort(t, value, sum(rates[1:], start=rates[0]))
        forces, torques = jnp.zeros_like(v), jnp.zeros_like(Omega)
        for body, (force, torque) in pull.items():
            forces = forces + on_body(len(v), body, effort * force)
            torques = torques + on_body(len(v), body, effort * torque)
        return forces, torques


class JointEffort(AbstractJointLoad):
    """A torque or force in a joint, constant or a function; made by `JointTorque` and `JointForce`."""

    effect: Parametrised | Float[Array, ""]
    joint: str = eqx.field(static=True)
    coordinate: str | None = eqx.field(static=True)
    kind: Kind | None = eqx.field(static=True)
    target: "JointCoordinate | None"

    def __init__(self, effect: Parametrised | Array, joint: str, coordinate: str | None, kind: Kind):
        self.effect, self.joint, self.coordinate = effect, joint, coordinate
        self.kind, self.target = kind, None

    @property
    def takes_time(self) -> bool:
        """Whether it is a function that takes time."""
        return isinstance(self.effect, Parametrised) and self.effect.takes_time

    def uses(self) -> Sequence[Use]:
        """That of a function."""
        if not isinstance(self.effect, Parametrised):
            return ()
        return [self.effect.use((), jnp.zeros(()), jnp.zeros(()), of=f" in {self._found.joint.label}")]

    def effort(self, t, value: Array, rate: Array) -> Float[Array, ""]:
        """The number, or what the function returns."""
        return self.effect(t, value, rate) if isinstance(self.effect, Parametrised) else self.effect


@checked
def JointTorque(
    joint: str, torque: Callable | Numbers, coordinate: str | None = None, *, params: Any = None
) -> JointEffort:
    """A torque about the axis of a joint, such as that of a motor.

    It acts on the second body of the joint and, in the opposite way, on the first. The angle that a function
    is given lies between minus and plus pi: it does not count turns.

    Args:
        joint: its name.
        torque: a number, or a function `f(angle, rate)` with `t` before and `params` behind these where it
            takes them.
        coordinate: which angle, where the joint has several.
        params: of the function, any pytree of numbers; those of the system when left out.
    """
    return JointEffort(
        _effect(torque, ("angle", "rate"), "torque of JointTorque", params), joint, coordinate, "torque"
    )


@checked
def JointForce(
    joint: str, force: Callable | Numbers, coordinate: str | None = None, *, params: Any = None
) -> JointEffort:
    """A force along the axis of a joint, such as that of a hydraulic cylinder.

    It acts on the second body of the joint and, in the opposite way, on the first.

    Args:
        joint: its name.
        force: a number, or a function `f(position, rate)` with `t` before and `params` behind these where it
            takes them.
        coordinate: which way, where the joint has several.
        params: of the function, any pytree of numbers; those of the system when left out.
    """
    return JointEffort(
        _effect(force, ("position", "rate"), "force of JointForce", params), joint, coordinate, "force"
    )


def _effect(given: Any, labels: tuple[str, ...], field: str, params: Any) -> Parametrised | Array:
    return Parametrised(given, labels, field, params) if callable(given) else as_array(given, field, ())


class JointDamper(AbstractJointLoad):
    r"""Resistance in proportion to the rate of a joint coordinate, $-d\,\dot c$.

    With the spring `pt.potentials.JointSpring` it is a spring-damper in the joint.

    Args:
        joint: its name.
        damping: the number $d$: torque over angular rate, or force over speed.
        coordinate: which, where the joint has several.
        active: whether a negative damping is meant, which brings energy in.
    """

    damping: Float[Array, ""]
    joint: str = eqx.field(static=True)
    coordinate: str | None = eqx.field(static=True)
    kind: Kind | None = eqx.field(static=True)
    target: "JointCoordinate | None"

    def __init__(self, joint: str, damping: Numbers, coordinate: str | None = None, *, active: bool = False):
        self.damping = as_passive(damping, "damping of JointDamper", active)
        self.joint, self.coordinate, self.kind, self.target = joint, coordinate, None, None

    @property
    def takes_time(self) -> bool:
        """Time does not enter."""
        return False

    def effort(self, t, value: Array, rate: Array) -> Float[Array, ""]:
        """Against the rate."""
        return -self.damping * rate
