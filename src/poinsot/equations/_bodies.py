"""A system in coordinates: its live bodies in one vector, and what pulls back through the pose map."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int

from poinsot.coordinates import AbstractCoordinates
from poinsot.core import (
    Printable,
    Projection,
    Rows,
    Twist,
    along_joints,
    body_after_body,
    closed,
    each_body,
    hold,
    pushing,
    straightened,
)
from poinsot.core.types import Scalar
from poinsot.model import AbstractSystem, AnyLinkage, Chart, OpenChain, System, Turning
from poinsot.model.open_chain import Nodes
from poinsot.rotation import from_matrix

Flat = Float[Array, " n"]
Rates = tuple[Flat, Flat, Float[Array, "3 turning"]]
r"""Coordinates $q$, their rates $\dot q$, and the body angular velocities $\Omega$ that the form carries.

Off the constraints $\dot q = T(q)\,\Omega$ has another angular velocity than $\Omega$, if any.
"""


class Bodies(Printable):
    r"""The live bodies of a system with coordinates for their rotations.

    A vector $q$ holds the positions of the translating bodies, then the coordinates of the rotating ones; a
    vector $v$ of velocities or momenta is laid out alike. Potential, loads and kinetic energy are the
    system's own, pulled back through $q \mapsto (x, R)$.
    """

    system: AbstractSystem
    coordinates: AbstractCoordinates
    nodes: Nodes | None = None
    """The tree of joints, in joint coordinates."""
    joints: AnyLinkage | None = None
    """The joints of the system, in loops where there are many."""

    derived: ClassVar[tuple[str, ...]] = ("joints",)

    @property
    def looped(self) -> bool:
        """Whether many joints are gone through in loops, one after the other."""
        return self.joints is not None and self.joints.looped

    @property
    def chain(self) -> OpenChain:
        """The system along its tree of joints; only in joint coordinates."""
        assert self.nodes is not None and isinstance(self.system, System)
        return OpenChain(self.system, nodes=self.nodes)

    @property
    def moving(self) -> int:
        """Number of translating bodies."""
        return len(self.system.translating)

    @property
    def turning(self) -> int:
        """Number of rotating bodies."""
        return len(self.system.rotating)

    @property
    def size(self) -> int:
        """Length of the vector $q$."""
        return 3 * self.moving + self.coordinates.size * self.turning

    def extent(self, q: Flat) -> Scalar:
        """Size that rounding errors of positions are measured by: one at least where bodies turn."""
        return jnp.max(jnp.abs(q), initial=1.0 if self.turning else 0.0)

    def each(self, function: Callable) -> Callable:
        """A function of one body on arrays of all of them, body axis last."""
        return body_after_body(function) if self.looped else each_body(function)

    def places(self, height: int | None = None) -> Int[np.ndarray, " n"]:
        """The body of each component, of a vector with so many for a rotation; of $q$ without a number."""
        translating, rotating = (
            np.array(part, dtype=int) for part in (self.system.translating, self.system.rotating)
        )
        height = self.coordinates.size if height is None else height
        return np.concatenate([np.tile(translating, 3), np.tile(rotating, height)])

    @property
    def constraint_places(self) -> Int[np.ndarray, " m"]:
        """The body each component of `constraint` belongs to."""
        return np.tile(np.array(self.system.rotating, dtype=int), self.coordinates.constraints)

    @property
    def conservative(self) -> bool:
        """Whether no load acts."""
        return self.system.conservative

    @property
    def autonomous(self) -> bool:
        """Whether time does not enter."""
        return self.system.autonomous

    def split(self, q: Flat) -> tuple[Float[Array, "3 moving"], Float[Array, "n turning"]]:
        """Positions, and coordinates or angular velocities, bodies along the last axis."""
        cut = 3 * self.moving
        # The height of the second part follows from the vector, so that this serves (v, Omega) too.
        height = (q.shape[0] - cut) // max(self.turning, 1)
        return q[:cut].reshape(3, self.moving), q[cut:].reshape(height, self.turning)

    def join(self, x: Array, c: Array) -> Flat:
        """The inverse of `split`."""
        return jnp.concatenate([x.reshape(-1), c.reshape(-1)])

    def gradient(self, function: Callable[[Array, Array], Scalar], q: Flat) -> Flat:
        """Derivatives of a function of both parts of `q`, part by part.

        Through `split` they would come as two vectors with zeros in the place of the other part, and on a CPU
        XLA computes such a sum with every number of one part also looking for one of the other.
        """
        return self.join(*hold(jax.grad(function, argnums=(0, 1))(*self.split(q))))

    def rotation(self, c: Float[Array, "n turning"]) -> Float[Array, "3 3 turning"]:
        """Rotations of the rotating bodies."""
        return self.each(self.coordinates.rotation)(c)

    def omega(self, c: Array, rate: Array) -> Float[Array, "3 turning"]:
        """Body angular velocities of rates of the coordinates."""
        return self.each(self.coordinates.omega)(c, rate)

    def velocity(self, c: Array, Omega: Array) -> Array:
        """Rates of the coordinates of body angular velocities."""
        return self.each(self.coordinates.velocity)(c, Omega)

    def lifted(self, c: Array, torque: Float[Array, "3 turning"]) -> Array:
        r"""Generalised force of body torques: its power at any rate is that of the torque at $\Omega$."""
        return jax.vjp(lambda rate: self.omega(c, rate), jnp.zeros_like(c))[1](torque)[0]

    def pose(self, q: Flat) -> tuple[Float[Array, "3 moving"], Float[Array, "3 3 turning"]]:
        """Positions and rotations."""
        x, c = self.split(q)
        return x, self.rotation(c)

    def twist(self, q: Flat, rate: Flat) -> Twist:
        """Velocities and body angular velocities of rates of `q`, in one vector."""
        v, c_rate = self.split(rate)
        return self.join(v, self.omega(self.split(q)[1], c_rate))

    def rate(self, q: Flat, twist: Twist) -> Flat:
        """Rates of `q` of velocities and body angular velocities."""
        v, Omega = self.split(twist)
        return self.join(v, self.velocity(self.split(q)[1], Omega))

    def potential(self, t, q: Flat) -> Scalar:
        """Potential energy at the rotation of the coordinates."""
        return self._potential(t, *self.split(q))

    def _potential(self, t, x: Array, c: Array) -> Scalar:
        return self.system.potential_in(t, x, c, self._chart(self.coordinates.rotation))

    def free_potential(self, t, x: Array, c: Array) -> Scalar:
        """Potential energy without slope along the length of a quaternion: for forms without multipliers."""
        return self.system.potential_in(t, x, c, self._chart(self.coordinates.free_rotation))

    def _chart(self, rotation: Callable) -> Chart:
        """The coordinates as a system takes them."""
        return Chart(self.each(rotation), lambda R: self.coordinates.from_quaternion(from_matrix(R)))

    def potential_force(self, t, q: Flat) -> Flat:
        """Generalised force of the potential."""
        return -self.gradient(lambda x, c: self._potential(t, x, c), q)

    def load_wrench(self, t, q: Flat, v: Array, Omega: Array) -> tuple[Array, Array] | None:
        """Forces and body torques of the loads, or None without them."""
        x, c = self.split(q)
        return self.system.load(t, x, self.rotation(c), v, Omega)

    def load(self, t, q: Flat, rate: Flat) -> Flat:
        """Generalised force of the loads at a rate of `q`; zero without them."""
        if self.conservative:
            return jnp.zeros_like(q)
        c = self.split(q)[1]
        v, c_rate = self.split(rate)
        wrench = self.load_wrench(t, q, v, self.omega(c, c_rate))
        assert wrench is not None
        force, torque = wrench
        return self.join(force, self.lifted(c, torque))

    def acceleration(
        self, t, q: Flat, v: Flat, *, eliminated: bool = True
    ) -> tuple[Flat, Float[Array, "m turning"], Rows]:
        r"""Accelerations, multipliers of each rotating body, and forces of the joints.

        $$ M\ddot q + G^T\lambda = f + c + \Gamma^T\mu, \qquad G\ddot q = -\dot G v, \qquad
           \Gamma\ddot q = -\dot\Gamma v - \dot g_t, $$

        with the Jacobians $G$ of the internal constraints and $\Gamma$ of the gaps of the joints. Without
        joints the bodies are independent of each other, and $\ddot q = a$. Joints add what their forces
        cause along the internal constraints, $S$ with $G S = 0$:

        $$ \ddot q = a + S\,(S^T M S)^{-1} (\Gamma S)^T\mu, \qquad
           \Gamma S\,(S^T M S)^{-1} (\Gamma S)^T \mu = -\ddot g\,|_a . $$

        The second rate $\ddot g\,|_a$ is that of the gaps as functions of the coordinates, so gaps have a
        constant rate also where the coordinates have left the internal constraints. On these $S^T M S = J$,
        and $\Gamma S$ is the Jacobian in body angular velocities.

        Args:
            t: time.
            q: positions and coordinates.
            v: their rates.
            eliminated: in the closed form of the coordinates; else by the linear system for both.
        """
        solve = self.coordinates.acceleration if eliminated else self.coordinates.kkt_acceleration
        force = self.potential_force(t, q) + self.load(t, q, v)
        force_x, force_c = self.split(force)
        (c, c_rate), inertia = (self.split(part)[1] for part in (q, v)), self.system.inertia
        c_free, multipliers = self.each(solve)(c, c_rate, inertia, force_c)
        free = self.join(force_x / self.system.masses[None], c_free)
        if self.joints is None:
            return free, multipliers, ()
        joint_forces, response = self._joint_response(t, q, self.gap_bends(t, q, v, free))
        c_force = self.gap_force(t, q, joint_forces) - self.momentum(q, response)
        more = self.each(self.coordinates.multipliers)(c, self.split(c_force)[1])
        return free + response, multipliers + more, joint_forces

    def _joint_response(self, t, q: Flat, bends: Rows) -> tuple[Rows, Flat]:
        """Find forces of the joints that take second rates off the gaps, and the accelerations they cause."""
        linkage, (x, c) = self.joints, self.split(q)
        assert linkage is not None
        turning = Turning(
            self.each(self.coordinates.tangent_frame)(c),
            self.each(self.coordinates.tangent_mobility)(c, self.system.inertia),
        )
        epsilon, repetitions = pushing(linkage)
        reach = linkage.at(t, x, self.rotation(c), epsilon, turning)
        forces, wrench = straightened(reach, bends, repetitions)
        push, torque = self.split(wrench)
        if turning.mobility.ndim == 2:
            turn = turning.mobility * torque
        else:
            turn = jnp.sum(turning.mobility * torque[None], axis=1)
        return forces, self.join(
            push / self.system.masses[None], self.each(self.coordinates.tangent)(c, turn)
        )

    def _gaps(self, t, q: Flat) -> Rows:
        """What the joints are open by, joint by joint."""
        return () if self.joints is None else self.joints.gaps(t, *self.pose(q))

    def gap_bends(self, t, q: Flat, v: Flat, a: Flat) -> Rows:
        r"""Differentiate the gaps twice in time, with $\dot q = v$ and $\ddot q = a$."""
        t = jnp.asarray(t, dtype=float)
        unit = jnp.ones_like(t)

        def rate(t, q, v):
            return jax.jvp(self._gaps, (t, q), (unit, v))[1]

        return jax.jvp(rate, (t, q, v), (unit, v, a))[1]

    def gap_force(self, t, q: Flat, forces: Rows) -> Flat:
        r"""Pull forces of the joints back to the coordinates, $\Gamma^T\mu$."""
        return jax.vjp(lambda q: self._gaps(t, q), q)[1](forces)[0]

    def momentum_rate(self, t, q: Flat, v: Array, Omega: Array) -> tuple[Array, Array]:
        r"""Rates of linear and body angular momenta without joints, $\tau - \Omega \times J\Omega$."""
        force, force_c = self.split(self.potential_force(t, q))
        torque = self.each(self.coordinates.free_momentum)(self.split(q)[1], force_c)
        load = self.load_wrench(t, q, v, Omega)
        if load is not None:
            force, torque = force + load[0], torque + load[1]
        return force, torque - self.each(jnp.cross)(Omega, self.system.inertia * Omega)

    def momentum(self, q: Flat, v: Flat) -> Flat:
        """Momentum of a velocity, with the mass matrix of the coordinates."""
        c = self.split(q)[1]
        x_rate, c_rate = self.split(v)
        return self.join(
            self.system.masses[None] * x_rate,
            self.each(self.coordinates.momentum)(c, c_rate, self.system.inertia),
        )

    def tangent_velocity(self, q: Flat, p: Flat) -> Flat:
        """Velocity of a momentum along the constraints."""
        c = self.split(q)[1]
        x_momentum, c_momentum = self.split(p)
        return self.join(
            x_momentum / self.system.masses[None],
            self.each(self.coordinates.tangent_velocity)(c, c_momentum, self.system.inertia),
        )

    def kinetic(self, q: Flat, v: Flat) -> Scalar:
        """Kinetic energy of a velocity."""
        return 0.5 * jnp.sum(v * self.momentum(q, v))

    def kinetic_of_twist(self, twist: Flat) -> Scalar:
        """Kinetic energy of velocities in space and body angular velocities."""
        x_rate, Omega = self.split(twist)
        return 0.5 * (jnp.sum(self.system.masses[None] * x_rate**2) + jnp.sum(self.system.inertia * Omega**2))

    def quasi_momentum(self, q: Flat, p: Flat) -> Flat:
        """Linear momenta, and momenta in which the rotational energy is a sum of squares."""
        x_momentum, c_momentum = self.split(p)
        return self.join(x_momentum, each_body(self.coordinates.quasi_momentum)(self.split(q)[1], c_momentum))

    @property
    def quasi_inertia(self) -> Flat:
        """Inertia of each of them."""
        masses = jnp.broadcast_to(self.system.masses[None], (3, self.moving))
        return self.join(masses, each_body(self.coordinates.quasi_inertia)(self.system.inertia))

    def kinetic_of_momentum(self, q: Flat, p: Flat) -> Scalar:
        """Kinetic energy in momenta, right on the constraints; next to them its slope along them is."""
        return 0.5 * jnp.sum(self.quasi_momentum(q, p) ** 2 / self.quasi_inertia)

    def turning_energy(self, c: Array, momentum: Array, inertia: Float[Array, "3 *turning"]) -> Scalar:
        """Kinetic energy of rotations in coordinates and their conjugate momenta."""
        m = self.each(self.coordinates.free_momentum)(c, momentum)
        return 0.5 * jnp.sum(m**2 / inertia)

    def clearance(self, q: Flat) -> Scalar | None:
        """Least distance of the bodies from where the coordinates must not be used; None if nowhere."""
        if not self.coordinates.singular or not self.turning:
            return None
        return jnp.min(jax.vmap(self.coordinates.clearance, in_axes=-1)(self.split(q)[1]))

    def constraint(self, q: Flat) -> Float[Array, " m"]:
        """Internal constraints of all rotating bodies."""
        return self.each(self.coordinates.constraint)(self.split(q)[1]).reshape(-1)

    @property
    def projectable(self) -> bool:
        """Whether there are constraints or joints to keep."""
        return self.system.linkage is not None or (self.turning > 0 and self.coordinates.constraints > 0)

    def project(self, q: Flat, v: Flat, what: Projection) -> tuple[Flat, Flat]:
        """Coordinates and their rates or momenta on the constraints, nearest in the plain metric.

        Velocities matter more than positions. In directors with constraints on accelerations (index 1 and 0)
        positions alone must not be projected step by step: each such move turns what velocities have across
        the constraints, which then grows exponentially, the faster the longer the steps.

        For momenta this is right where those along the surface are a linear image of its tangent vectors by a
        matrix that keeps the directions across it, as in the forms without multipliers.
        """
        if what in ("position", "both"):
            x, c = self.split(q)
            q = self.join(x, self.each(self.coordinates.project_position)(c))
        if what in ("velocity", "both"):
            x_rate, c_rate = self.split(v)
            v = self.join(x_rate, self.each(self.coordinates.project_velocity)(self.split(q)[1], c_rate))
        return q, v

    def on_surface(self, t, q: Flat) -> Flat:
        """Coordinates on their constraints, then with closed joints, which they keep."""
        q = self.project(q, q, "position")[0]
        return q if self.system.linkage is None else self.closed(t, q)

    def gaps(self, t, q: Flat) -> Float[Array, " k"]:
        """What the joints are open by; nothing without them."""
        return jnp.zeros(0) if self.joints is None else self.joints.flat(self._gaps(t, q))

    def closed(self, t, q: Flat) -> Flat:
        """Positions and coordinates with closed joints, from such as are slightly open."""
        linkage, turn = self.joints, self.each(self.coordinates.turn)
        return q if linkage is None else self.join(*closed(linkage, t, *self.split(q), self.rotation, turn))

    def along_joints(self, t, q: Flat, twist: Twist) -> Twist:
        """The nearest twist, in the metric of the mass, that keeps the joints closed."""
        linkage = self.joints
        if linkage is None:
            return twist
        return twist + linkage.weights * along_joints(linkage, t, *self.pose(q), twist)


def distinct(inertia: Float[Array, "3 Nr"]) -> Sequence[Any]:
    """Principal moments of bodies, of equal ones once; of traced ones, which tell nothing, the first."""
    if isinstance(inertia, Tracer):
        return [inertia[:, 0]] if inertia.shape[1] else []
    return list(np.unique(np.asarray(inertia).T, axis=0))
