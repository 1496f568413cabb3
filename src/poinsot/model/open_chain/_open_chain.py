"""A system along its tree of joints: kinematics and dynamics as functions of joint coordinates."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Checked, InputError, Printable, State, as_count, checked, did_you_mean, quoted, shown
from poinsot.core.types import Scalar
from poinsot.kernels import jitted, of_states
from poinsot.rotation import from_matrix, hat

from .._checks import Numbers, as_positive
from .._params import filled
from .._vectors import turned_back
from ..joints import AbstractJoint
from ..loads import AbstractControl, AbstractLoad, total_wrench
from ..potentials._marker import Marker
from . import _dynamics as dynamics
from . import _kinematics as kinematics
from . import _newton_euler as newton_euler
from ._articulated import articulated, free_rates
from ._christoffel import christoffel
from ._coordinates import difference, given_numbers, moved_by, of_state, random_numbers
from ._coriolis import coriolis
from ._efforts import body_wrenches
from ._inputs import as_coordinates, as_key, as_row
from ._inverse_kinematics import Reached, as_target, reached
from ._kinematics import Posture, Q, V
from ._loops import beyond_the_tree
from ._nodes import Nodes, nodes_of
from ._spatial import applied, halves, joined, twist_at
from ._structure import Slot, Structure
from ._sweeps import each

if TYPE_CHECKING:
    from .._system import System


OPEN = 1e-3
"""How far joints of a state may be open, as those of long runs drift, relative to one plus its size."""


class OpenChain(Printable, Checked):
    r"""A system whose joints form a tree, in its joint coordinates.

    The vector $q$ holds the coordinates of all joints: an angle, a way, or the quaternion of a ball joint; of
    a body without a joint those that its freedom leaves, for a free one its position and its quaternion. The
    vector $v$ holds their rates, for a quaternion the angular velocity in the turning body: $\dot q = v$
    elsewhere. `slots` says where they stand.

    Everything here is a pure function of these vectors: `jax.jit`, `jax.vmap` and `jax.grad` work on it.
    Called on arrays it runs in native code on a CPU. Arrays of NumPy, numbers and lists give arrays of NumPy,
    those of JAX give such of JAX. Arguments with further axes in front, `q` of shape `(1000, nq)`, are many
    states, computed side by side on all cores; an argument without them is the same for all states.
    `of_state` and `inverse_kinematics` take one state.

    $$ a(q)\,\dot v + \Gamma(q)\,v\,v + g(q) = \tau + Q(t, q, v) $$

    with the metric tensor $a$, the symbols $\Gamma$ of `christoffel`, the slopes $g$ of all potentials,
    forces $\tau$ in the joints and those of the system's loads, $Q$.

    Args:
        system: bodies and joints.
        cut: whether to leave out what holds the system beyond a tree of joints: joints that close loops,
            drives and couplings. `simulate` keeps them, see `pt.coordinates.Joint`.
        nodes: what was found of it before; sought when left out.

    Raises:
        InputError: there is something beyond the tree, and `cut` is not given; or a freedom that is a
            function of time.

    Example:
        >>> import poinsot as pt
        >>> rod = pt.RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.01), name="rod")
        >>> hinge = pt.joints.Revolute("ground", "rod", at=(0, 0, 0.5), axis=(0, 1, 0), name="hinge")
        >>> chain = pt.OpenChain(pt.System(rod, joints=[hinge]))
        >>> torque = chain.inverse_dynamics([0.3], [0.0], [1.0])
    """

    system: "System"
    nodes: Nodes

    def __init__(self, system: "System", *, cut: bool = False, nodes: Nodes | None = None):
        self.system = system
        if nodes is None:
            _check_system(system, cut)
        self.nodes = nodes_of(system) if nodes is None else nodes

    def __repr__(self) -> str:
        """Names of the system and of its joints, and how many numbers they have."""
        parts = {"system": self.system.name, "joints": [slot.name for slot in self.slots]}
        return shown(self, parts | {"q_size": self.q_size, "v_size": self.v_size})

    def in_brief(self) -> str:
        """As a part of another: the name of the system."""
        return f"OpenChain({self.system.name!r})"

    def with_own_params(self) -> "OpenChain":
        """The same chain with the parameters of its system in every function that takes them."""
        return filled(self, self.system.params)

    @property
    def structure(self) -> Structure:
        """The shape of the tree."""
        return self.nodes.structure

    @property
    def slots(self) -> tuple[Slot, ...]:
        """Where the numbers of each joint stand."""
        return self.structure.slots

    @property
    def q_size(self) -> int:
        """Number of coordinates."""
        return self.structure.q_size

    @property
    def v_size(self) -> int:
        """Number of rates, the degrees of freedom."""
        return self.structure.v_size

    @property
    def q_labels(self) -> tuple[str, ...]:
        """A name for each coordinate."""
        return self.structure.labels[0]

    @property
    def v_labels(self) -> tuple[str, ...]:
        """A name for each rate."""
        return self.structure.labels[1]

    @checked
    def coordinates(self, values: Mapping[str, Any] | None = None) -> Q:
        """The vector $q$ with the coordinates of some joints, by name; the others are zero, or unturned.

        Args:
            values: a number for each joint with one coordinate, else as many as it has: for a ball joint a
                quaternion or a rotation vector, for a free body its position and one of these.
        """
        return given_numbers(self.structure, values, "coordinates")

    @checked
    def rates(self, values: Mapping[str, Any] | None = None) -> V:
        """The vector $v$ with the rates of some joints, by name; the others are zero."""
        return given_numbers(self.structure, values, "rates")

    def random(self, key: Array | int) -> tuple[Q, V]:
        """Coordinates anywhere, ways between -1 and 1, and normally distributed rates.

        Args:
            key: of `jax.random`, or a whole number as its seed.
        """
        return random_numbers(self.structure, as_key(key))

    @of_states(q=1, by=1)
    def moved(self, q: Numbers, by: Numbers) -> Q:
        """Coordinates after all rates have acted for a unit of time: quaternions turn, others add."""
        return moved_by(self.structure, self._q(q), self._v(by, "by"))

    @of_states(q=1, to=1)
    def difference(self, q: Numbers, to: Numbers) -> V:
        """Rates that bring coordinates to others in a unit of time, the inverse of `moved`.

        Of angles it is the plain difference, which may be more than a turn; quaternions turn the shorter way.
        """
        return difference(self.structure, self._q(q), self._q(to, "to"))

    @of_states(q=1, v=1)
    def coordinate_rates(self, q: Numbers, v: Numbers) -> Q:
        r"""The derivative $\dot q$ at rates $v$."""
        return kinematics.coordinate_rates(self.structure, self._q(q), self._v(v))

    @of_states(q=1, v=1)
    def state(self, q: Numbers, v: Numbers) -> State:
        """The physical state of all bodies, as `simulate` takes it."""
        posture, (velocity, Omega) = self._motion(self._q(q), self._v(v))
        return State(
            position=posture.x,
            quaternion=from_matrix(posture.R),
            velocity=velocity,
            angular_velocity=Omega,
        )

    @checked
    def of_state(self, state: State, t: Numbers = 0.0) -> tuple[Q, V]:
        """Coordinates and rates of a physical state whose joints are closed; angles within half a turn.

        Raises:
            InputError: it is no state of these bodies, or its joints are open.
        """
        self.system.check_state(t, state, what="the state", closed=None if self._cut else OPEN)
        return _of_state(self, t, state)

    def of_poses(self, t: Numbers, x: Array, R: Array, velocity: Array, Omega: Array) -> tuple[Q, V]:
        """Coordinates and rates of poses and velocities of all bodies; angles within half a turn."""
        state = State(position=x, quaternion=from_matrix(R), velocity=velocity, angular_velocity=Omega)
        return of_state(self, t, state)

    def wrenches(self, x: Array, R: Array, tau: V) -> tuple[Array, Array]:
        r"""Forces in space and torques in the body frames that forces $\tau$ in the joints make.

        In a body without a joint they act on the body from outside: a force at its mass centre, a torque in
        its body frame.
        """
        return body_wrenches(self.system, self.structure, x, R, tau)

    @of_states(q=1)
    def pose(self, q: Numbers, frame: str) -> tuple[Float[Array, "3"], Float[Array, "3 3"]]:
        """Place and rotation matrix of a frame of the system, or of a body, in space."""
        marker = self._frame(frame)
        posture = self._posture(self._q(q))
        return marker.place(posture.x, posture.R), marker.directions(posture.R)

    @of_states(q=1)
    def jacobian(self, q: Numbers, frame: str) -> Float[Array, "6 nv"]:
        r"""Velocity of the origin of a frame, then its angular velocity, at a unit of each rate; in space."""
        marker, posture = self._frame(frame), self._posture(self._q(q))
        turn, slide = halves(posture.columns)
        if marker.body is None:
            return jnp.zeros((6, self.v_size))
        arms = marker.place(posture.x, posture.R)[None] - posture.points[self.structure.node_of]
        moves = jnp.asarray(self.structure.moves[:, marker.body], dtype=float)[:, None]
        columns = moves * joined(slide + jnp.cross(turn, arms), turn)
        return columns[self.structure.column_of].T

    @of_states(q=1)
    def axes(self, q: Numbers) -> Float[Array, "nv 3"]:
        r"""Unit vectors $e_\alpha$ along which each rate turns or slides, in space."""
        turn, slide = halves(self._posture(self._q(q)).columns)
        turning = jnp.sum(turn * turn, axis=1, keepdims=True) > 0.5
        return jnp.where(turning, turn, slide)[self.structure.column_of]

    @of_states(q=1, v=1)
    def velocity(self, q: Numbers, v: Numbers, frame: str) -> Float[Array, "6"]:
        """Velocity of the origin of a frame, then its angular velocity, in space."""
        return self._frame_motion(q, v, jnp.zeros(self.v_size), frame)[0]

    @of_states(q=1, v=1, a=1)
    def acceleration(self, q: Numbers, v: Numbers, a: Numbers, frame: str) -> Float[Array, "6"]:
        """Acceleration of the origin of a frame, then its angular acceleration, in space."""
        return self._frame_motion(q, v, a, frame)[1]

    def _frame_motion(self, q: Numbers, v: Numbers, a: Numbers, frame: str) -> tuple[Array, Array]:
        marker, posture = self._frame(frame), self._posture(self._q(q))
        if marker.body is None or self.structure.carriers[marker.body] < 0:
            return jnp.zeros(6), jnp.zeros(6)
        node = self.structure.carriers[marker.body]
        moved = kinematics.movement(self.structure, posture, self._v(v))
        rates = kinematics.accelerations(self.structure, posture, moved, self._v(a, "a"))
        arm = hat(marker.place(posture.x, posture.R) - posture.points[node])
        turn, velocity = halves(twist_at(moved.after[node], arm))
        turning, falling = halves(twist_at(rates[node], arm))
        return joined(velocity, turn), joined(falling + jnp.cross(turn, velocity), turning)

    @of_states(q=1)
    def metric(self, q: Numbers) -> Float[Array, "nv nv"]:
        r"""The metric tensor $a_{\alpha\beta}$, or mass matrix: kinetic energy is half of $v\cdot a v$."""
        return dynamics.metric(self.nodes, self._posture(self._q(q)))

    @of_states(q=1, v=1)
    def momenta(self, q: Numbers, v: Numbers) -> V:
        r"""Generalised momenta $a(q)\,v$ of the rates."""
        posture = self._posture(self._q(q))
        moved = kinematics.movement(self.structure, posture, self._v(v))
        return dynamics.pulled(self.structure, posture, dynamics.momenta(self.nodes, posture, moved))

    @of_states(q=1)
    def christoffel(self, q: Numbers) -> Float[Array, "nv nv nv"]:
        r"""Christoffel symbols of the first kind, $\Gamma_{\alpha\beta,\gamma}$, in closed form.

        For the rates of quaternions, which are no derivatives of coordinates, they are the coefficients of
        the terms of inertia that are quadratic in the rates, symmetric in the first two indices.
        """
        return christoffel(self.nodes, self._posture(self._q(q)))

    @of_states(q=1, v=1)
    def coriolis(self, q: Numbers, v: Numbers) -> Float[Array, "nv nv"]:
        r"""The Coriolis matrix $C$: velocity forces are $C v$, and $\dot a - 2 C$ is antisymmetric.

        $$ C_{\gamma\beta} = \sum_\alpha \Gamma_{\alpha\beta,\gamma}\,v_\alpha, \qquad
           C v = \Gamma v v, \qquad \dot a = C + C^T $$

        The first holds without quaternions. Their rates are no derivatives of coordinates: there $C$ has what
        makes the others true, the coefficients of the connection of the metric in directions of the rates.
        """
        q, v = self._q(q), self._v(v)
        posture = self._posture(q)
        return coriolis(self.nodes, posture, kinematics.movement(self.structure, posture, v))

    @of_states(q=1, t=0)
    def gravity(self, q: Numbers, t: Numbers = 0.0) -> V:
        """Slopes of the potential energy along the rates: what holds the chain still."""
        posture = self._posture(self._q(q))
        return -dynamics.pulled(self.structure, posture, self._potential_wrenches(t, posture))

    @of_states(q=1, v=1, t=0)
    def energy(self, q: Numbers, v: Numbers, t: Numbers = 0.0) -> Scalar:
        """Kinetic plus potential energy."""
        posture = self._posture(self._q(q))
        moved = kinematics.movement(self.structure, posture, self._v(v))
        kinetic = dynamics.kinetic_energy(self.nodes, posture, moved)
        return kinetic + self.system.pose_potential(t, posture.x, posture.R)

    @of_states(q=1, v=1, a=1, t=0)
    def inverse_dynamics(self, q: Numbers, v: Numbers, a: Numbers, t: Numbers = 0.0) -> V:
        r"""Forces $\tau$ in the joints that an acceleration $\dot v$ takes (recursive Newton-Euler)."""
        q, v, a = self._q(q), self._v(v), self._v(a, "a")
        posture = self._posture(q)
        return self._needed(t, q, posture, v, a)

    @of_states(q=1, v=1, tau=1, t=0)
    def forward_dynamics(self, q: Numbers, v: Numbers, tau: Numbers | None = None, t: Numbers = 0.0) -> V:
        r"""Acceleration $\dot v$ at forces $\tau$ in the joints, none when left out (articulated bodies)."""
        q, v = self._q(q), self._v(v)
        forces = jnp.zeros(self.v_size) if tau is None else self._v(tau, "tau")
        posture = self._posture(q)
        missing = forces - self._needed(t, q, posture, v, jnp.zeros(self.v_size))
        return free_rates(self.structure, articulated(self.nodes, posture), missing)

    @checked
    @of_states(q=1, v=1, tau=1, t=0)
    def linearise(
        self, q: Numbers, v: Numbers, tau: Numbers | None = None, t: Numbers = 0.0
    ) -> tuple[Float[Array, "n n"], Float[Array, "n nv"]]:
        r"""Matrices of the motion next to $y = (q, v)$: $\delta\dot y = A\,\delta y + B\,\delta\tau$."""
        q, v = self._q(q), self._v(v)
        forces = jnp.zeros(self.v_size) if tau is None else self._v(tau, "tau")

        def field(y, forces):
            q, v = y[: self.q_size], y[self.q_size :]
            return jnp.concatenate([self.coordinate_rates(q, v), self.forward_dynamics(q, v, forces, t)])

        return jax.jacfwd(field, argnums=(0, 1))(jnp.concatenate([q, v]), forces)

    @checked
    def inverse_kinematics(
        self, target: Any, frame: str, start: Numbers, *, tolerance: float = 1e-10, steps: int = 200
    ) -> Reached:
        """Coordinates near a start at which a frame has a given pose, by damped least squares.

        Args:
            target: a place in space, or a place and a rotation: a matrix or a quaternion.
            frame: name of a frame or body.
            start: coordinates to begin from.
            tolerance: of the place, and of the angle.
            steps: most iterations.

        Returns:
            The coordinates, what is left of the error, whether it is below the tolerance, and the number of
            iterations. A target out of reach is approached as far as possible.
        """
        self._frame(frame)
        begin = as_coordinates(self.structure, start, "start")
        return _reached(
            self,
            as_target(target),
            frame,
            begin,
            as_positive(tolerance, "tolerance"),
            as_count(steps, "steps"),
        )

    def of_momenta(self, q: Q, momenta: V) -> V:
        r"""Rates of generalised momenta, $a(q)^{-1}\pi$, by articulated bodies."""
        return free_rates(self.structure, articulated(self.nodes, self._posture(q)), momenta)

    def energy_slope(self, t, q: Q, v: V) -> V:
        """Derivative of the kinetic energy, less the potential energy, along each rate at constant rates."""
        posture = self._posture(q)
        moved = kinematics.movement(self.structure, posture, v)
        kinetic = dynamics.kinetic_slope(self.nodes, posture, moved)
        return kinetic + dynamics.pulled(self.structure, posture, self._potential_wrenches(t, posture))

    def load(self, t, q: Q, v: V) -> V:
        """Generalised forces of the loads of the system along the rates; zero without them."""
        posture = self._posture(q)
        on_bodies = jnp.zeros(self.v_size)
        if self._loads_on_bodies:
            moved = kinematics.movement(self.structure, posture, v)
            wrenches = self._load_wrenches(t, posture, *self._velocities(posture, moved))
            on_bodies = dynamics.pulled(self.structure, posture, wrenches)
        return on_bodies + self._efforts(t, q, v)

    def _needed(self, t: Numbers, q: Q, posture: Posture, v: V, a: V) -> V:
        """Forces in the joints beside potentials and loads."""
        given = self._potential_wrenches(t, posture)
        if self._loads_on_bodies:
            moved = kinematics.movement(self.structure, posture, v)
            given = given + self._load_wrenches(t, posture, *self._velocities(posture, moved))
        taken = newton_euler.own_forces(self.nodes, posture, v, a)
        missing = taken - newton_euler.given_forces(self.nodes, posture, given)
        return newton_euler.along_columns(self.structure, posture, missing) - self._efforts(t, q, v)

    @property
    def _loads_on_bodies(self) -> list[AbstractLoad]:
        """Loads that are given as forces on bodies, with the system's parameters in them."""
        return [load for load in self._filled_loads if not isinstance(load, AbstractControl)]

    @property
    def _filled_loads(self) -> tuple[AbstractLoad, ...]:
        return filled(self.system.loads, self.system.params)

    def _efforts(self, t: Numbers, q: Q, v: V) -> V:
        """Forces of all controllers."""
        controls = [load for load in self._filled_loads if isinstance(load, AbstractControl)]
        return sum((one.efforts(t, q, v) for one in controls), start=jnp.zeros(self.v_size))

    def _potential_wrenches(self, t: Numbers, posture: Posture) -> dynamics.Wrenches:
        r"""Forces $-V_x$ and moments $-\sum_k d_k\times V_{d_k}$ of all potentials."""
        slope, directors = jax.grad(self.system.pose_potential, argnums=(1, 2))(t, posture.x, posture.R)

        def wrench(R, directors, slope):
            return joined(-jnp.sum(jnp.cross(R, directors, axis=-2), axis=-1), -slope)

        return each(self.structure.parents, wrench, posture.R, directors, slope)

    def _load_wrenches(
        self, t: Numbers, posture: Posture, velocity: Array, Omega: Array
    ) -> dynamics.Wrenches:
        """Moments about the mass centres and forces of the loads on bodies, in space; there must be one."""
        force, torque = total_wrench(self._loads_on_bodies, t, posture.x, posture.R, velocity, Omega)
        return joined(applied(posture.R, torque), force)

    def _posture(self, q: Q) -> Posture:
        return kinematics.posture(self.nodes, q)

    def _motion(self, q: Q, v: V) -> tuple[Posture, tuple[Array, Array]]:
        posture = self._posture(q)
        moved = kinematics.movement(self.structure, posture, v)
        return posture, self._velocities(posture, moved)

    def _velocities(self, posture: Posture, moved: kinematics.Movement) -> tuple[Array, Array]:
        """Velocities of the mass centres in space, and angular velocities in the body frames."""
        twists = twist_at(kinematics.of_bodies(self.structure, moved.after), posture.levers)
        turn, velocity = halves(twists)
        return velocity, turned_back(posture.R, turn)

    @property
    def _cut(self) -> bool:
        """Whether the system has more than the tree."""
        return bool(_further(self.system))

    def _frame(self, name: str) -> Marker:
        if isinstance(name, str) and name in self.system.frames:
            return self.system.frames[name]
        if isinstance(name, str) and name in self.system.names:
            return Marker(self.system.names.index(name))
        known = (*self.system.frames, *self.system.names)
        hint = did_you_mean(name, known, f"there are {', '.join(known[:12])}")
        raise InputError(f"no frame is called {quoted(name)}; {hint}")

    def _q(self, q: Numbers, field: str = "q") -> Q:
        return as_row(q, field, self.q_labels)

    def _v(self, v: Numbers, field: str = "v") -> V:
        return as_row(v, field, self.v_labels)


_of_state, _reached = jitted(of_state), jitted(reached)


def _further(system: "System") -> Sequence[Any]:
    """Joints that close loops, drives and couplings."""
    return () if system.linkage is None else beyond_the_tree(system.linkage)


def _check_system(system: Any, cut: bool) -> None:
    """Refuse what is no system, and loops, drives and couplings unless they are to be left out."""
    from .._system import System

    if not isinstance(system, System):
        raise InputError(f"system of OpenChain = {quoted(system)}; it must be a pt.System")
    further = () if cut else _further(system)
    if further:
        closes = "closes a loop" if isinstance(further[0], AbstractJoint) else "moves joints"
        raise InputError(
            f"{further[0].label} {closes}, and an open chain has nothing that holds it so; take "
            "OpenChain(system, cut=True) for the tree without it, or simulate in pt.coordinates.Joint()"
        )
