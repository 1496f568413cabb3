"""Forms of the equations in joint coordinates: what no joint needs a multiplier for."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from poinsot.core import (
    AbstractEnergy,
    AbstractImplicit,
    Hamiltonian,
    InputError,
    Printable,
    Projection,
    State,
    UserFunction,
)
from poinsot.equations._bodies import Bodies, Flat, Rates
from poinsot.equations._second_order import SecondOrder
from poinsot.kernels import is_long
from poinsot.model import AbstractSystem, OpenChain, System
from poinsot.model.joints import AbstractJoint
from poinsot.model.open_chain import (
    along_rates,
    beyond_the_tree,
    lifted,
    nodes_of,
    normalised,
    quaternion_places,
    quaternion_slope,
)


class JointSpace(Printable):
    """The numbers of joint coordinates: coordinates $q$, and rates $v$ or momenta $p$."""

    bodies: Bodies

    @property
    def chain(self) -> OpenChain:
        """The system along its tree."""
        return self.bodies.chain

    @property
    def system(self) -> AbstractSystem:
        """The system."""
        return self.bodies.system

    @property
    def size(self) -> int:
        """Length of the vector $q$."""
        return self.chain.q_size

    @property
    def conservative(self) -> bool:
        """Whether no load acts."""
        return self.system.conservative

    @property
    def autonomous(self) -> bool:
        """Whether time does not enter."""
        return self.system.autonomous

    @property
    def looped(self) -> bool:
        """Whether recursions go along many joints in loops."""
        return is_long(self.chain.structure.parents)

    def clearance(self, q: Flat) -> Array | None:
        """Joint coordinates reach everywhere."""
        return None

    @property
    def projectable(self) -> bool:
        """Whether there are quaternions."""
        return bool(self.chain.structure.balls)


class JointRates(Printable):
    r"""Rates and accelerations of joint coordinates.

    $$ \dot q = T(q)\,v, \qquad a(q)\,\dot v = Q - g(q) - \Gamma(q)\,v\,v $$

    Args:
        bodies: the system along its tree.
        covariant: by metric tensor and Christoffel symbols; else by articulated bodies.
    """

    bodies: JointSpace
    covariant: bool = eqx.field(static=True)

    @property
    def height(self) -> int:
        """Three rates of a rotation."""
        return 3

    @property
    def pivots(self) -> bool:
        """Whether a linear system with the metric tensor is solved."""
        return self.covariant

    def __call__(self, t, q: Flat, v: Flat) -> tuple[Flat, Flat]:
        """Rates of coordinates and of their rates."""
        chain = self.bodies.chain
        if not self.covariant:
            return chain.coordinate_rates(q, v), chain.forward_dynamics(q, v, None, t)
        symbols = chain.christoffel(q)
        inertia = jnp.sum(symbols * (v[:, None] * v[None])[:, :, None], axis=(0, 1))
        forces = chain.load(t, q, v) - chain.gravity(q, t) - inertia
        return chain.coordinate_rates(q, v), jnp.linalg.solve(chain.metric(q), forces)

    def project(self, t, q: Flat, v: Flat, what: Projection) -> tuple[Flat, Flat]:
        """Quaternions of unit length; rates have nothing across them."""
        return normalised(self.bodies.chain.structure, q) if what in ("position", "both") else q, v

    def energy(self, t, q: Flat, v: Flat) -> Array:
        """Kinetic plus potential energy."""
        return self.bodies.chain.energy(q, v, t)

    def implicit_form(self) -> AbstractImplicit | None:
        """None: there are no multipliers."""
        return None


class JointEnergy(AbstractEnergy):
    r"""The Hamiltonian in joint coordinates and their momenta.

    $$ H = \tfrac12\,\pi\cdot a(q)^{-1}\pi + V(q), \qquad \pi = T(q)^T p $$

    Of the quaternions of ball joints and free bodies only the direction enters $a$ and $V$, and $T^T p =
    \tfrac12\operatorname{Im}(\bar q\,p)$: their $|q|^2$ and $q\cdot p$ are quadratic invariants, which every
    symplectic Runge-Kutta method keeps to round-off.
    """

    space: JointSpace

    @property
    def takes_time(self) -> bool:
        """Whether time enters the potential."""
        return not self.space.autonomous

    def rates(self, q: Flat, p: Flat) -> Flat:
        r"""Rates $v = a^{-1}\pi$."""
        chain = self.space.chain
        return chain.of_momenta(q, along_rates(chain.structure, q, p))

    def value(self, t, q: Flat, p: Flat, params: Any) -> Array:
        """The energy."""
        chain = self.space.chain
        kinetic = 0.5 * jnp.sum(self.rates(q, p) * along_rates(chain.structure, q, p))
        return kinetic + chain.energy(q, jnp.zeros(chain.v_size), t)

    def dp(self, t, q: Flat, p: Flat, params: Any) -> Flat:
        """Gradient in the momenta."""
        return self.space.chain.coordinate_rates(q, self.rates(q, p))

    def dq(self, t, q: Flat, p: Flat, params: Any) -> Flat:
        r"""Gradient in the coordinates: $-\partial_q(K - V) + v\cdot\partial_q(T^T p)$ at constant rates."""
        chain, v = self.space.chain, self.rates(q, p)
        slope = lifted(chain.structure, q, chain.energy_slope(t, q, v))
        return quaternion_slope(chain.structure, p, v) - slope

    @property
    def projectable(self) -> bool:
        """Whether there are quaternions."""
        return self.space.projectable

    def project(self, q: Flat, p: Flat, what: Projection) -> tuple[Flat, Flat]:
        """Quaternions of unit length, momenta without a part along them."""
        structure = self.space.chain.structure
        if what in ("position", "both"):
            q = normalised(structure, q)
        if what in ("velocity", "both"):
            p = lifted(structure, q, along_rates(structure, q, p))
        return q, p


class JointLoad(eqx.Module):
    """Generalised force of the loads at coordinates and momenta."""

    energy: JointEnergy

    def __call__(self, t, q: Flat, p: Flat, params: Any) -> Flat:
        """The loads at the rates that belong to the momenta."""
        chain = self.energy.space.chain
        return lifted(chain.structure, q, chain.load(t, q, self.energy.rates(q, p)))


class UnitLength(eqx.Module):
    """How far the quaternions of ball joints and free bodies are from unit length, as an invariant."""

    bodies: Bodies

    def __call__(self, t, q: Flat, *further: Any) -> Array:
        """Half of the squared length, less one half, of each."""
        quats = q[quaternion_places(self.bodies.chain.structure)]
        return 0.5 * (jnp.sum(quats * quats, axis=1) - 1.0)


def joint_hamiltonian(bodies: Bodies, invariants: dict[str, UserFunction]) -> Hamiltonian:
    """The problem in coordinates and momenta."""
    energy = JointEnergy(JointSpace(bodies))
    force = None if bodies.conservative else UserFunction(JointLoad(energy), True, True)
    return Hamiltonian(energy, force=force, invariants=invariants)


def joint_momenta(bodies: Bodies, t, q: Flat, rate: Flat) -> State:
    """Coordinates and momenta of positions and rotations of the bodies and their rates."""
    chain = bodies.chain
    own, v = _of_bodies(bodies, t, q, rate)
    return State(q=own, p=lifted(chain.structure, own, chain.momenta(own, v)))


def joint_velocities(bodies: Bodies, state: State) -> Flat:
    """Rates of the joints at coordinates and momenta."""
    return JointEnergy(JointSpace(bodies)).rates(state.q, state.p)


def of_joint_momenta(bodies: Bodies, t, state: State) -> Rates:
    """Positions and rotations of the bodies and their rates."""
    return _to_bodies(bodies, t, state.q, joint_velocities(bodies, state))


def joint_rates(bodies: Bodies, t, q: Flat, rate: Flat) -> State:
    """Coordinates and their rates of positions and rotations of the bodies and their rates."""
    own, v = _of_bodies(bodies, t, q, rate)
    return State(q=own, v=v)


def of_joint_rates(bodies: Bodies, t, state: State) -> Rates:
    """Positions and rotations of the bodies and their rates."""
    return _to_bodies(bodies, t, state.q, state.v)


def joint_second_order(
    bodies: Bodies, invariants: dict[str, UserFunction], *, covariant: bool
) -> SecondOrder:
    """The problem in coordinates and their rates."""
    rates: Any = JointRates(JointSpace(bodies), covariant)
    return SecondOrder(rates, invariants)


def _of_bodies(bodies: Bodies, t, q: Flat, rate: Flat) -> tuple[Flat, Flat]:
    x, quats = bodies.split(q)
    v, quat_rates = bodies.split(rate)
    return bodies.chain.of_state(bodies.system.from_live(t, x, quats, v, bodies.omega(quats, quat_rates)), t)


def _to_bodies(bodies: Bodies, t, q: Flat, v: Flat) -> Rates:
    x, quats, velocity, Omega = bodies.system.live(t, bodies.chain.state(q, v))
    return bodies.join(x, quats), bodies.join(velocity, bodies.velocity(quats, Omega)), Omega


def joint_refusal(system: AbstractSystem, form: str) -> str | None:
    """Why a system cannot be in joint coordinates and a form, or None."""
    if not isinstance(system, System):
        return f"{type(system).__name__} has no joints, so no joint coordinates; take pt.System"
    further = () if system.linkage is None else beyond_the_tree(system.linkage)
    if further and not form.startswith("index"):
        does = "closes a loop" if isinstance(further[0], AbstractJoint) else "moves joints"
        return f"{further[0].label} {does}, and the form {form!r} has no multiplier for it; take 'index3'"
    if form in ("index1", "index0") and not further:
        return (
            f"no loop, drive or coupling holds the joints, so there is no form {form!r}; take 'recursive', "
            "'covariant' or 'hamiltonian'"
        )
    try:
        nodes_of(system)
    except InputError as error:
        return str(error)
    return None
