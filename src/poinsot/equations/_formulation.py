"""A system in coordinates and a form of the equations: what is integrated, and what it means."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from poinsot.coordinates import (
    AbstractCoordinates,
    AbstractOrientation,
    Directors,
    EulerAngles,
    Group,
    Joint,
    Quaternions,
    as_coordinates,
)
from poinsot.core import (
    AbstractConstrained,
    AbstractProblem,
    Hamiltonian,
    InputError,
    Packed,
    Printable,
    State,
    UserFunction,
    checked,
    each_body,
)
from poinsot.core import Group as GroupProblem
from poinsot.equations._bodies import Bodies, Flat, distinct
from poinsot.equations._form_state import FormState
from poinsot.equations._forms import FORMS, JOINT_FORMS, MULTIPLIER, Form, Rates
from poinsot.equations._joint_space import UnitLength, joint_refusal, joint_velocities
from poinsot.equations._motion import Motion, View
from poinsot.equations._second_order import SecondOrder
from poinsot.equations._watched import OfConstraints, OfJoints, OfMomenta, OfMotion, joined
from poinsot.model import (
    MANY,
    ROW,
    AbstractSystem,
    AnyLinkage,
    OpenChain,
    System,
    compact,
    free_wrench,
    joint_forces,
)
from poinsot.model.open_chain import Nodes, beyond_the_tree, nodes_of
from poinsot.rotation import extracted_quaternion, normalise

SAME = 1e-10
"""How far what is seen of two equal states may differ, relative to one plus its size."""
MOMENTA = ("p_x", "p_y", "p_z", "L_x", "L_y", "L_z")
"""Names of the components of linear and angular momentum in reports."""


class Formulation(Printable):
    """A system with coordinates and a form: the problem for an integrator, and the way back to the bodies."""

    derived: ClassVar[tuple[str, ...]] = ("problem",)

    bodies: Bodies
    problem: AbstractProblem
    form: str = eqx.field(static=True)

    def start(self, state: State, t=0.0) -> State:
        """The problem's state at a physical state of the system; that of a run goes on where the run was."""
        self.bodies.system.check_state(t, state)
        x, quat, v, Omega = self.bodies.system.live(t, state)
        c = each_body(self.bodies.coordinates.from_quaternion)(quat)
        q, rate = self.bodies.join(x, c), self.bodies.join(v, self.bodies.velocity(c, Omega))
        start = _form(self.bodies.coordinates, self.form).start(self.bodies, t, q, rate)
        if not isinstance(state, FormState) or not self._has_form_of(state, start):
            return start
        # Of a body with another inertia the same momenta are another motion: then what is seen counts.
        same = self._shows(t, state.own, state)
        return State(**{name: jnp.where(same, state.own[name], value) for name, value in start.items()})

    def _has_form_of(self, state: FormState, start: State) -> bool:
        """Whether a state has numbers of these coordinates and this form, as many as the start."""
        shapes = [{name: value.shape for name, value in one.items()} for one in (state.own, start)]
        named = (state.coordinates, state.form) == (repr(self.bodies.coordinates), self.form)
        return named and shapes[0] == shapes[1]

    def _shows(self, t, own: State, state: State) -> Bool[Array, ""]:
        """Whether a state of the problem shows a physical state, to round-off."""
        position, rotation, velocity, angular_velocity = self.poses(t, *self.rates(t, self.problem.pack(own)))
        quaternion = normalise(extracted_quaternion(rotation))
        sides = jnp.sign(jnp.sum(quaternion * state.quaternion, axis=-1, keepdims=True))
        pairs = (
            (position, state.position),
            (sides * quaternion, state.quaternion),
            (velocity, state.velocity),
            (angular_velocity, state.angular_velocity),
        )
        near = [jnp.max(jnp.abs(a - b)) <= SAME * (1.0 + jnp.max(jnp.abs(b))) for a, b in pairs]
        return jnp.all(jnp.stack(near))

    @property
    def looped(self) -> bool:
        """Whether many joints are gone through in loops, one after the other."""
        return self.bodies.looped

    def rates(self, t, y: Packed) -> Rates:
        """Coordinates, their rates and the body angular velocities at a packed state."""
        return _form(self.bodies.coordinates, self.form).rates(self.bodies, t, self.problem.unpack(y))

    def residuals(self, t, y: Packed) -> tuple[Float[Array, "m turning"], Float[Array, "m turning"]]:
        """Residuals of the internal constraints and their rates, for each rotating body.

        The rates are those of the whole momentum where the mass can be inverted: a part of it across the
        constraints moves no body, but it shows here.
        """
        c, c_rate = self.turning(t, y)
        return jax.jvp(each_body(self.bodies.coordinates.constraint), (c,), (c_rate,))

    def turning(self, t, y: Packed) -> tuple[Float[Array, "n turning"], Float[Array, "n turning"]]:
        """Coordinates of the rotating bodies and the rates that `residuals` are of."""
        problem = self.problem
        q, rate, _ = self.rates(t, y)
        if isinstance(problem, AbstractConstrained) and problem.regular and self.bodies.nodes is None:
            rate = problem.dHdp(*problem.split(y))
        return self.bodies.split(q)[1], self.bodies.split(rate)[1]

    def motion(self, t, y: Packed) -> Motion:
        """What can be seen of all bodies at a packed state."""
        return Motion(**self.parts(t, y, tuple(entry.name for entry in fields(Motion))))

    def parts(self, t, y: Packed, names: Sequence[str]) -> dict[str, Array]:
        """These parts of the motion, by name, and nothing computed for the others."""
        view = View(self, t, y)
        return {name: getattr(view, name) for name in names}

    def momenta(self, t, y: Packed) -> Float[Array, "6"]:
        """Linear and angular momentum at a packed state."""
        view = View(self, t, y)
        return jnp.concatenate([view.linear_momentum, view.angular_momentum])

    def energy(self, t, y: Packed) -> Array:
        """Kinetic and potential energy of what moves, as the form has it and its report shows it."""
        problem = self.problem
        if isinstance(problem, Hamiltonian):
            return problem.energy(t, *problem.split(y))
        assert isinstance(problem, (AbstractConstrained, SecondOrder, GroupProblem))
        return problem.energy(t, y)

    def poses(self, t, q: Flat, rate: Flat, Omega: Array) -> tuple[Array, Array, Array, Array]:
        """Positions, rotations, velocities and angular velocities of all bodies."""
        bodies, system = self.bodies, self.bodies.system
        x, c = bodies.split(q)
        R = bodies.rotation(c)
        return *system.poses(t, x, R), *system.rates(t, x, R, bodies.split(rate)[0], Omega)

    def seen(self, t, parts) -> Motion:
        """The motion at the parts of a state, as a user's function of the problem is given them."""
        return self.motion(t, joined(parts))

    def counted(self, t, parts) -> dict[str, Array] | None:
        """Coordinates of the joints in the tree by name, with angles that count turns.

        None in coordinates of the bodies, where angles are known up to whole turns.
        """
        if self.bodies.nodes is None:
            return None
        q, _ = self.joint_coordinates(t, joined(parts), self.bodies.chain)
        return {slot.name: q[slot.q[0] : sum(slot.q)] for slot in self.bodies.chain.slots}

    def power(self, t, y: Packed) -> Array:
        """Power of the loads, of drives and of time's direct effect on the energy."""
        if self._along_tree:
            return self._joint_power(t, *self.joint_coordinates(t, y, self.bodies.chain))
        bodies = self.bodies
        q, rate, Omega = self.rates(t, y)
        v = bodies.split(rate)[0]
        power = self._drive_power(t, q, v, Omega)
        if not bodies.system.autonomous:
            power = power + jax.grad(bodies.potential)(t, q)
        wrench = bodies.load_wrench(t, q, v, Omega)
        if wrench is None:
            return power
        return power + jnp.sum(wrench[0] * v) + jnp.sum(wrench[1] * Omega)

    def power_and_rate(self, t, y: Packed) -> tuple[Array, Array]:
        """The power and its rate.

        In joint coordinates that along the motion of coordinates and rates, whatever the form integrates.
        """
        one = jnp.ones_like(t)
        if not self._along_tree:
            return jax.jvp(self.power, (t, y), (one, self.problem.vector_field(t, y)))
        chain = self.bodies.chain
        q, v = self.joint_coordinates(t, y, chain)
        rates = chain.coordinate_rates(q, v), chain.forward_dynamics(q, v, None, t)
        return jax.jvp(self._joint_power, (t, q, v), (one, *rates))

    @property
    def _along_tree(self) -> bool:
        """Whether coordinates and rates of the joints say all about the motion."""
        linkage = self.bodies.system.linkage
        return self.bodies.nodes is not None and (linkage is None or not beyond_the_tree(linkage))

    def joint_coordinates(self, t, y: Packed, chain: OpenChain) -> tuple[Array, Array]:
        """Coordinates and rates of the joints along their tree; of poses with angles within half a turn."""
        if self.bodies.nodes is None:
            return chain.of_poses(t, *self.poses(t, *self.rates(t, y)))
        state = self.problem.unpack(y)
        return state.q, state.v if "v" in state.names else joint_velocities(self.bodies, state)

    def _joint_power(self, t, q: Array, v: Array) -> Array:
        """Power of the loads and of time's direct effect on the potential, along the joints."""
        chain = self.bodies.chain
        load = jnp.sum(chain.load(t, q, v) * v)
        if self.bodies.system.autonomous:
            return load
        return load + jax.grad(lambda t: chain.energy(q, jnp.zeros_like(v), t))(t)

    def _drive_power(self, t, q: Flat, v: Array, Omega: Array) -> Array:
        r"""Power $-\lambda\cdot g_t$ of what moves joints as a function of time."""
        bodies, linkage, held = self.bodies, self.bodies.system.linkage, self.bodies.joints
        if held is None or linkage is None or not linkage.driven:
            return jnp.zeros(())
        x, R = bodies.pose(q)
        wrench = free_wrench(bodies.system, t, x, R, v, Omega)
        forces = joint_forces(held, t, x, R, bodies.join(v, Omega), wrench)
        moved = held.rates(t, x, R, jnp.zeros_like(wrench))
        pairs = zip(forces, moved, strict=True)
        return -sum((jnp.sum(force * rate) for force, rate in pairs), start=jnp.zeros(()))

    def multipliers(self, t, q: Flat, rate: Flat) -> Float[Array, "k turning"]:
        """Multipliers of the rotating bodies, by post-processing."""
        if not isinstance(self.bodies.coordinates, AbstractCoordinates):
            return jnp.zeros((0, self.bodies.turning))
        return self.bodies.acceleration(t, q, rate)[1]

    def of_all(self, values: Float[Array, "m turning"]) -> Float[Array, "body m"]:
        """One row for each body, zero for those that do not rotate."""
        system = self.bodies.system
        rows = jnp.zeros((system.count, values.shape[0]))
        return rows.at[np.array(system.rotating, dtype=int)].set(values.T)

    def watched(self, state: State, t=0.0) -> "Formulation":
        """The same, with all that the motion from this state conserves among the problem's invariants."""
        kept = np.asarray(self.bodies.system.symmetries(t, state))
        names = [name for name, conserved in zip(MOMENTA, kept, strict=True) if conserved]
        # The momenta along space axes; and, for what the equations themselves keep, the constraints.
        invariants = {name: UserFunction(OfMomenta(self, MOMENTA.index(name)), True, True) for name in names}
        if self.bodies.coordinates.constraints and self.bodies.turning:
            invariants["constraint"] = UserFunction(OfConstraints(self, False), True, True)
            if self.form.startswith("index"):
                invariants["constraint rate"] = UserFunction(OfConstraints(self, True), True, True)
        nodes, linkage = self.bodies.nodes, self.bodies.system.linkage
        if nodes is not None and nodes.structure.balls:
            # Joint coordinates have to keep the length of quaternions.
            invariants["constraint"] = UserFunction(UnitLength(self.bodies), True, True)
        # No joint of the tree can open in joint coordinates.
        if linkage is not None and (nodes is None or beyond_the_tree(linkage)):
            invariants["joints"] = UserFunction(OfJoints(self, False), True, True)
            invariants["joint rates"] = UserFunction(OfJoints(self, True), True, True)
        invariants |= {
            name: UserFunction(OfMotion(self, name), True, True) for name in self.bodies.system.invariants
        }
        coordinates, form = self.bodies.coordinates, self.form
        problem = _form(coordinates, form).problem(self.bodies, invariants)
        return Formulation(self.bodies, problem, form)

    def users_invariants(self, t, y: Packed) -> dict[str, Any]:
        """Values of the user's invariants at a packed state, by name."""
        system = self.bodies.system
        if not system.invariants:
            return {}
        motion = self.motion(t, y)
        return {name: function(t, motion, system.params) for name, function in system.invariants.items()}


@checked
def formulate(system: AbstractSystem, coordinates: AbstractOrientation | str, form: str) -> Formulation:
    """A system in coordinates and a form of the equations.

    Args:
        system: the bodies and what acts on them.
        coordinates: of the rotations, one of `pt.coordinates` or its name.
        form: "hamiltonian", "index3", "index2", "index1", "index0", "null_space" or "group"; in joint
            coordinates "hamiltonian", "recursive", "covariant", "index3" or "index2", and with loops, drives
            or couplings "index3", "index2", "index1" or "index0".

    Raises:
        InputError: when they do not go together.
    """
    chosen: Any = as_coordinates(coordinates)
    form = FORMS.name_of(form)
    reason = refusal(system, chosen, form)
    if reason is not None:
        raise InputError(reason)
    bodies = Bodies(system, chosen, _tree(system, chosen), _joints(system, chosen))
    return Formulation(bodies, _form(chosen, form).problem(bodies, {}), form)


def refusal(system: AbstractSystem, coordinates: AbstractOrientation, form: str) -> str | None:
    """Why these coordinates and this form cannot serve a system, or None."""
    if isinstance(coordinates, Joint):
        return coordinates.refusal(form, system.inertia) or joint_refusal(system, form)
    if system.light:
        return (
            f"body {system.light[0]!r} is light, and has equations in joint coordinates only; take "
            "pt.coordinates.Joint()"
        )
    if form in ("recursive", "covariant"):
        return f"the form {form!r} is one of joint coordinates; take pt.coordinates.Joint()"
    joined = system.linkage is not None
    if joined and form == "hamiltonian":
        reason = _joined_refusal(coordinates)
        if reason is not None:
            return reason
    if form in ("index3", "index2", "index1") and coordinates.constraints == 0 and not joined:
        name = type(coordinates).__name__
        return f"{name} has no constraints, so no form {form!r}; take 'index0', 'null_space' or 'hamiltonian'"
    sigma = getattr(coordinates, "sigma", None)
    if form == "hamiltonian" and sigma is not None:
        return (
            f"sigma = {sigma!r} has no place in the form 'hamiltonian', which has no inertia across the "
            "constraints; leave sigma out, or take a form with multipliers"
        )
    for moments in distinct(system.inertia):
        reason = coordinates.refusal(form, moments)
        if reason is not None:
            return reason
    return None


def _joined_refusal(coordinates: AbstractOrientation) -> str | None:
    """Why these coordinates have no form "hamiltonian" with joints, or None."""
    if isinstance(coordinates, Directors):
        return (
            "joints have no place in the form 'hamiltonian' of Directors, whose steps need not end at "
            "rotations; take 'index3', or Quaternions()"
        )
    if getattr(coordinates, "I0", None) is not None:
        return "I0 has a multiplier for its length; with joints take 'index3', or Quaternions() without I0"
    return None


def _tree(system: AbstractSystem, coordinates: AbstractOrientation) -> Nodes | None:
    """The tree of joints, in joint coordinates."""
    return nodes_of(system) if isinstance(coordinates, Joint) and isinstance(system, System) else None


def _joints(system: AbstractSystem, coordinates: AbstractOrientation) -> AnyLinkage | None:
    """The joints; short chains run several times as fast written out, but for those on the group."""
    return compact(system.linkage, ROW if isinstance(coordinates, Group) else MANY)


def _form(coordinates: AbstractOrientation, form: str) -> Form:
    """The form of that name; some coordinates have forms of their own under it."""
    if form == "hamiltonian" and isinstance(coordinates, Quaternions) and coordinates.I0 is not None:
        return MULTIPLIER
    if isinstance(coordinates, Joint) and form in JOINT_FORMS:
        return JOINT_FORMS[form]
    return FORMS[form]


def preferences(coordinates: Any, joined: bool = False) -> tuple[str, ...]:
    """Forms in the order in which they are tried when none is named, for bodies with joints or without."""
    if isinstance(coordinates, Group):
        return ("group",)
    if isinstance(coordinates, Joint):
        return ("hamiltonian", "recursive", "covariant", "index3", "index0", "index2", "index1")
    # With joints most methods keep rotations by multipliers only.
    first, last = ((), ("hamiltonian",)) if joined else (("hamiltonian",), ())
    if isinstance(coordinates, EulerAngles):
        return (*first, "null_space", "index0", "index3", "index2", "index1", *last)
    return (*first, "index3", "null_space", "index2", "index0", "index1", *last)
