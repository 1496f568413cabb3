r"""Bodies on the group: positions, rotations, linear momenta and body angular momenta."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core._bodies import body_after_body, each_body
from poinsot.core._joints import Joints, Rows, Twist, along_joints, closed, joint_solution
from poinsot.core._known import joined
from poinsot.core._problem import AbstractProblem, Packed, largest_component
from poinsot.core._projection import Projection
from poinsot.core._signature import UserFunction
from poinsot.core._state import State
from poinsot.core.types import Scalar

SMALLEST = 1e-280
"""Stands for zero in a denominator. Times the unit of round-off it is a normal number still: XLA takes
subnormal ones for zero."""


class Element(Protocol):
    """How a rotation of one body is stored: as a unit quaternion or as a matrix."""

    @property
    def size(self) -> int:
        """Numbers it takes."""
        ...

    def rotation(self, q: Float[Array, " n"]) -> Float[Array, "3 3"]:
        """Its matrix, from body to space."""
        ...

    def turn(self, q: Float[Array, " n"], turn: Float[Array, "4"]) -> Float[Array, " n"]:
        """The element after a further rotation `turn` in the body frame."""
        ...

    def velocity(self, q: Float[Array, " n"], Omega: Float[Array, "3"]) -> Float[Array, " n"]:
        """Its rate at a body angular velocity."""
        ...

    def project_position(self, q: Float[Array, " n"]) -> Float[Array, " n"]:
        """The element of the group next to numbers that have drifted from it."""
        ...


class LocalWrench(Protocol):
    """The wrench of a row of equal bodies in pieces: what a body and its two neighbours make of it.

    All bodies have a place in it, also those at the ends that do not move; arrays have bodies along their
    last axis.
    """

    @property
    def count(self) -> int:
        """Number of bodies."""
        ...

    @property
    def window(self) -> int:
        """Bodies that are dealt with together in the cache of a core."""
        ...

    def whole(self, x: Array, c: Array, coordinates: Callable | None = None) -> tuple[Array, Array]:
        """Positions and rotations of all bodies, from those that move and those that turn.

        Rotations are unit quaternions, or what `coordinates` makes of one.
        """
        ...

    def spread(self, of_moving: Array, of_turning: Array) -> tuple[Array, Array]:
        """Values for all bodies, zero for those that do not move or turn."""
        ...

    def live(self, of_moving: Array, of_turning: Array) -> tuple[Array, Array]:
        """What belongs to the bodies that move, and to those that turn, from values for all."""
        ...

    def sites(self, x: Array, R: Array) -> Any:
        """What neighbours need to know of bodies."""
        ...

    def pairs(self, low: Any, high: Any, exists: Array) -> Any:
        """What neighbours do to each other, from the sites of both; nothing where there is no bond."""
        ...

    def wrench(self, place: Array, R: Array, pairs: tuple[Any, Any], sites: tuple[Any, Any, Any]) -> "Wrench":
        """Forces and body torques on the bodies at these places of the row; none on what does not move.

        Args:
            place: of each body in the row.
            R: its rotation.
            pairs: what it does with the body below and with the body above.
            sites: of the body below, its own, and of the body above.
        """
        ...

    def slopes(self, place: Array, x: Array, c: Array, rotation: Callable) -> tuple[Array, Array]:
        """Derivatives of the potential in positions and coordinates of rotations, zero for what is held.

        Args:
            place: of each body in the row.
            x: positions of these bodies and of one more on either side.
            c: coordinates of their rotations.
            rotation: makes rotation matrices of coordinates, bodies along the last axis.
        """
        ...


class Wrench(NamedTuple):
    """Force on each translating body (in space) and torque on each rotating one (in its frame)."""

    force: Float[Array, "3 moving"]
    torque: Float[Array, "3 turning"]


class GroupParts(NamedTuple):
    """The parts of a packed state of kind `Group`, body axis last."""

    x: Float[Array, "3 moving"]
    p: Float[Array, "3 moving"]
    g: Float[Array, "n turning"]
    m: Float[Array, "3 turning"]


class Group(AbstractProblem):
    r"""Rigid bodies on $\mathbb R^3 \times SO(3)$, in linear momenta $p$ and body angular momenta $m$.

    $$ \dot x = p/\mathrm{mass}, \qquad \dot p = -V_x + F, \qquad \dot R = R\,\hat\Omega, \qquad
       \dot m = m \times \Omega + \tau, \qquad \Omega = J^{-1} m $$

    with principal moments $J$, the body torque of the potential
    $\tau = -\operatorname{vee}(R^T V_R - V_R^T R)$ and what loads add. A body that only turns has no $x$ and
    $p$; one that only moves has no $R$ and $m$. Joints $g(t, x, R) = 0$ add forces $G^T\lambda$.

    Args:
        mass: masses of the translating bodies, `(moving,)`.
        inertia: principal moments of the rotating bodies, `(3, turning)`.
        potential: energy `V(t, x, R)` of positions `(3, moving)` and rotations `(3, 3, turning)`.
        element: how a rotation is stored.
        load: non-conservative `load(t, x, R, v, Omega) -> Wrench`, or None.
        autonomous: whether time does not enter the potential, so that without loads the energy is conserved.
        joints: what holds bodies together, or None.
        local: the wrench in pieces, for a row of equal bodies; None where it does not fall apart.
        invariants: further conserved quantities, functions of `(t, x, p, g, m, params)`.
    """

    kind: ClassVar[str] = "group"
    labels: ClassVar[tuple[str, ...]] = ("x", "p", "g", "m")

    mass: Float[Array, " moving"]
    inertia: Float[Array, "3 turning"]
    potential: Callable
    element: Element
    load: Callable | None
    joints: Joints | None
    local: LocalWrench | None
    params: Any
    invariants: dict[str, UserFunction]
    autonomous: bool = eqx.field(static=True)
    vectorised: bool = eqx.field(static=True)

    def __init__(
        self,
        mass: Array,
        inertia: Array,
        potential: Callable,
        *,
        element: Element,
        load: Callable | None = None,
        autonomous: bool = True,
        joints: Joints | None = None,
        local: LocalWrench | None = None,
        invariants: dict[str, UserFunction] | None = None,
    ):
        self.mass, self.inertia = mass, inertia
        self.potential, self.load, self.element = potential, load, element
        self.autonomous, self.local, self.invariants = autonomous, local, invariants or {}
        self.joints = joints
        self.params, self.vectorised = None, False

    @property
    def moving(self) -> int:
        """Number of translating bodies."""
        return self.mass.shape[0]

    @property
    def turning(self) -> int:
        """Number of rotating bodies."""
        return self.inertia.shape[1]

    @property
    def conservative(self) -> bool:
        """Whether there is no load."""
        return self.load is None

    def pack(self, state: State) -> Packed:
        """Positions, momenta, elements, body angular momenta: one flat array."""
        return self.join(GroupParts(*(state[label] for label in self.labels)))

    def unpack(self, y: Packed) -> State:
        """Labelled parts, bodies along their last axis."""
        return State(**self.split(y)._asdict())

    def join(self, parts: GroupParts) -> Packed:
        """The packed state of its parts."""
        return joined(parts, flat=True)

    def split(self, y: Packed) -> GroupParts:
        """The parts of a packed state."""
        heights = (3, 3, self.element.size, 3)
        counts = (self.moving, self.moving, self.turning, self.turning)
        parts, begin = [], 0
        for height, count in zip(heights, counts, strict=True):
            parts.append(y[begin : begin + height * count].reshape(height, count))
            begin += height * count
        return GroupParts(*parts)

    def each(self, function: Callable) -> Callable:
        """A function of one body on arrays of all of them, body axis last."""
        return body_after_body(function) if self.looped else each_body(function)

    @property
    def looped(self) -> bool:
        """Whether bodies are gone through one after the other, because joints are."""
        return self.joints is not None and self.joints.looped

    def rotation(self, g: Array) -> Float[Array, "3 3 turning"]:
        """Rotation matrices of the elements."""
        return self.each(self.element.rotation)(g)

    def turn(self, g: Array, turns: Float[Array, "4 turning"]) -> Array:
        """Elements after further rotations in the body frames, given as unit quaternions."""
        return self.each(self.element.turn)(g, turns)

    def velocity(self, p: Array) -> Float[Array, "3 moving"]:
        """Velocities of the translating bodies."""
        return p / self.mass[None]

    def extent(self, x: Array) -> Scalar:
        r"""Length that rounding errors of positions are measured by: $\max|x| + \sqrt{\max J/\max m}$.

        Bodies may be at the origin, and stay there: then their own size counts, by a radius of gyration.
        """
        heaviest = jnp.max(self.mass, initial=SMALLEST)
        gyration = jnp.sqrt(jnp.max(self.inertia, initial=0.0) / heaviest)
        return jnp.max(jnp.abs(x), initial=0.0) + gyration + SMALLEST

    def omega(self, m: Array) -> Float[Array, "3 turning"]:
        """Body angular velocities of the rotating bodies."""
        return m / self.inertia

    def wrench(self, t, x: Array, g: Array) -> Wrench:
        """Forces and body torques of the potential."""
        return self._wrench_at(t, x, self.rotation(g))

    def _wrench_at(self, t, x: Array, R: Array) -> Wrench:
        V_x, V_R = jax.grad(self.potential, argnums=(1, 2))(t, x, R)
        return Wrench(-V_x, body_after_body(body_torque)(R, V_R) if self.looped else body_torque(R, V_R))

    def load_wrench(self, t, x: Array, g: Array, p: Array, m: Array) -> Wrench | None:
        """Forces and body torques of the loads, or None without them."""
        return None if self.load is None else self._load_at(t, x, self.rotation(g), p, m)

    def _load_at(self, t, x: Array, R: Array, p: Array, m: Array) -> Wrench:
        assert self.load is not None
        return Wrench(*self.load(t, x, R, self.velocity(p), self.omega(m)))

    def total_wrench(self, t, x: Array, g: Array, p: Array, m: Array) -> Wrench:
        """Forces and body torques of potential and loads together."""
        return self._total_wrench_at(t, x, self.rotation(g), p, m)

    def _total_wrench_at(self, t, x: Array, R: Array, p: Array, m: Array) -> Wrench:
        own = self._wrench_at(t, x, R)
        if self.load is None:
            return own
        load = self._load_at(t, x, R, p, m)
        return Wrench(own.force + load.force, own.torque + load.torque)

    def _momentum_rates(self, t, x: Array, R: Array, p: Array, m: Array) -> Wrench:
        """Rates of the momenta without joints."""
        wrench = self._total_wrench_at(t, x, R, p, m)
        return Wrench(wrench.force, self.each(jnp.cross)(m, self.omega(m)) + wrench.torque)

    def vector_field(self, t, y: Packed) -> Packed:
        """The Newton-Euler equations, with the element's rate as in the space it is stored in."""
        x, p, g, m = self.split(y)
        R = self.rotation(g)
        force, turning = self._jointed(t, x, R, p, m, self._momentum_rates(t, x, R, p, m))
        rate = self.each(self.element.velocity)(g, self.omega(m))
        return self.join(GroupParts(self.velocity(p), force, rate, turning))

    def twist(self, p: Array, m: Array) -> Twist:
        """Velocities and body angular velocities in one vector."""
        return jnp.concatenate([self.velocity(p).reshape(-1), self.omega(m).reshape(-1)])

    def joint_forces(self, t, y: Packed) -> Rows:
        r"""Forces $\lambda$ of the joints at a state: what keeps them closed from there on."""
        x, p, g, m = self.split(y)
        R = self.rotation(g)
        return self._joint_solution(t, x, R, p, m, self._momentum_rates(t, x, R, p, m))[0]

    def _joint_solution(self, t, x: Array, R: Array, p: Array, m: Array, rate: Wrench) -> tuple[Rows, Twist]:
        r"""Forces of the joints and their wrench $G^T\lambda$, with $G M^{-1} (f + G^T\lambda) = -\gamma$."""
        assert self.joints is not None
        force = jnp.concatenate([rate.force.reshape(-1), rate.torque.reshape(-1)])
        return joint_solution(self.joints, t, x, R, self.twist(p, m), force)

    def _jointed(self, t, x: Array, R: Array, p: Array, m: Array, rate: Wrench) -> Wrench:
        """Rates of the momenta with what the joints add."""
        if self.joints is None:
            return rate
        wrench = self._joint_solution(t, x, R, p, m, rate)[1]
        cut = rate.force.size
        return Wrench(
            rate.force + wrench[:cut].reshape(rate.force.shape),
            rate.torque + wrench[cut:].reshape(rate.torque.shape),
        )

    def energy(self, t, y: Packed) -> Array:
        """Kinetic and potential energy."""
        x, p, g, m = self.split(y)
        kinetic = 0.5 * (jnp.sum(p * self.velocity(p)) + jnp.sum(m * self.omega(m)))
        return kinetic + self.potential(t, x, self.rotation(g))

    def magnitude(self, y: Packed) -> Packed:
        """The largest component of each part."""
        return self.join(
            GroupParts(*(largest_component(part, False) if part.size else part for part in self.split(y)))
        )

    @property
    def projectable(self) -> bool:
        """Whether there are joints, or a body turns: methods that add leave the group."""
        return self.turning > 0 or self.joints is not None

    def project(self, t, y: Packed, what: Projection) -> Packed:
        """Rotations put back on the group, joints closed, momenta along them."""
        parts = self.split(y)
        if what in ("position", "both") and self.turning:
            parts = parts._replace(g=self.each(self.element.project_position)(parts.g))
        if self.joints is None:
            return self.join(parts)
        if what in ("position", "both"):
            x, g = closed(self.joints, t, parts.x, parts.g, self.rotation, self.turn)
            parts = parts._replace(x=x, g=g)
        if what in ("velocity", "both"):
            p, m = self.along_joints(t, parts.x, parts.g, parts.p, parts.m)
            parts = parts._replace(p=p, m=m)
        return self.join(parts)

    def along_joints(self, t, x: Array, g: Array, p: Array, m: Array) -> tuple[Array, Array]:
        """The nearest momenta, in the metric of the mass, whose velocities keep the joints closed."""
        assert self.joints is not None
        push = along_joints(self.joints, t, x, self.rotation(g), self.twist(p, m))
        return p + push[: p.size].reshape(p.shape), m + push[p.size :].reshape(m.shape)

    def first_integrals(self, t, y: Packed) -> dict[str, Array]:
        """The energy, when neither time nor loads enter."""
        return {"energy": self.energy(t, y)} if self.autonomous and self.conservative else {}


def body_torque(
    R: Float[Array, "3 3 *bodies"], V_R: Float[Array, "3 3 *bodies"]
) -> Float[Array, "3 *bodies"]:
    r"""Body torque of a potential from its gradient in the directors.

    $$ \tau = -\operatorname{vee}(R^T V_R - V_R^T R) $$
    """

    def product(i: int, j: int) -> Array:
        """Entry of $R^T V_R$, written out: a sum over an axis would make XLA put the matrices into memory."""
        return R[0, i] * V_R[0, j] + R[1, i] * V_R[1, j] + R[2, i] * V_R[2, j]

    pairs = ((1, 2), (2, 0), (0, 1))
    return jnp.stack([product(i, j) - product(j, i) for i, j in pairs])
