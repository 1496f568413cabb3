"""Units of length, mass and time, and a chain in them: the same motion in numbers of order one."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from poinsot.core import Checked, InputError, Printable, State
from poinsot.core.types import Rot, Scalar, Vec3

from ._bonds import AbstractBond, AbstractParticleBond, PoseBond
from ._chain import Chain
from ._checks import Numbers, as_positive
from ._particles import Particles
from ._rigid_body import RigidBody
from .ends import End
from .freedom import AbstractFreedom, Clamped, FixedPoint, Guided, Prescribed
from .loads import AbstractLoad
from .potentials import AbstractInvariantPotential, AbstractPair, AbstractPosePair, AbstractPotential


class Units(Printable, Checked):
    r"""Units L, M and $\tau$ in which a chain is measured.

    With $x = L\,\tilde x$, $t = \tau\,\tilde t$ and masses in units of M, the twin of a chain has

    $$ \tilde v(\tilde s) = \frac{\tau^2}{M L^2}\,v(L^2 \tilde s), \qquad
       \tilde J = \frac{J}{M L^2}, \qquad \tilde F = \frac{\tau^2}{M L}\,F, \qquad
       \tilde d(\tilde t) = \frac{1}{L}\,d(\tau \tilde t), $$

    and its motion is that of the chain: $x(t) = L\,\tilde x(t/\tau)$, with the same rotations.

    Args:
        length: L.
        mass: M.
        time: $\tau$.

    Example:
        >>> import poinsot as pt
        >>> argon = pt.Units(length=3.4e-10, mass=6.63e-26, time=2.2e-12)
        >>> argon.energy
        Array(1.58...e-21, dtype=float64)
    """

    length: Scalar
    mass: Scalar
    time: Scalar

    def __init__(self, length: Numbers, mass: Numbers, time: Numbers):
        self.length = as_positive(length, "length of Units")
        self.mass = as_positive(mass, "mass of Units")
        self.time = as_positive(time, "time of Units")

    @property
    def velocity(self) -> Scalar:
        r"""$L/\tau$."""
        return self.length / self.time

    @property
    def force(self) -> Scalar:
        r"""$M L/\tau^2$."""
        return self.mass * self.velocity / self.time

    @property
    def energy(self) -> Scalar:
        r"""$M L^2/\tau^2$, also that of torques."""
        return self.mass * self.velocity * self.velocity

    @property
    def inertia(self) -> Scalar:
        """$M L^2$."""
        return self.mass * self.length * self.length

    def scaled(self, chain: Chain) -> Chain:
        """The twin of a chain in these units; users' invariants, which have none, are left out."""
        if not isinstance(chain, Chain):
            raise InputError(f"scaled takes a pt.Chain, got {type(chain).__name__}")
        potential = [self._potential(bond) for bond in chain.neighbours.bonds]
        first, last = (self._end(end) for end in chain.ends)
        return Chain(
            self._body(chain.body),
            chain.count,
            chain.spacing / self.length,
            potential,
            (first, last) if chain.closure == "open" else chain.closure,
            neighbours=chain.neighbours.order,
            potentials=[self._term(term) for term in chain.potentials],
            loads=[_ScaledLoad(load, self) for load in chain.loads],
            params=chain.params,
            name=chain.name,
        )

    def scaled_state(self, state: State) -> State:
        """A state of a chain, as one of its twin."""
        return self._converted(state, 1.0 / self.length, 1.0 / self.velocity, self.time)

    def unscaled_state(self, state: State) -> State:
        """A state of the twin, as one of the chain."""
        return self._converted(state, self.length, self.velocity, 1.0 / self.time)

    def _converted(self, state: State, length, velocity, spin) -> State:
        return State(
            position=length * jnp.asarray(state.position),
            quaternion=state.quaternion,
            velocity=velocity * jnp.asarray(state.velocity),
            angular_velocity=spin * jnp.asarray(state.angular_velocity),
        )

    def _body(self, body: RigidBody) -> RigidBody:
        """Part by part rather than made anew, so that the principal axes stay as they are."""
        sizes = body.mass / self.mass, body.moments / self.inertia
        scaled = eqx.tree_at(lambda one: (one.mass, one.moments), body, sizes)
        if body.centre is not None:
            scaled = eqx.tree_at(lambda one: one.centre, scaled, body.centre / self.length)
        if body.particles is not None:
            made_of = Particles(body.particles.masses / self.mass, body.particles.points / self.length)
            scaled = eqx.tree_at(lambda one: one.particles, scaled, made_of)
        return scaled

    def _potential(self, bond: AbstractBond) -> AbstractPair | AbstractPosePair:
        if isinstance(bond, AbstractParticleBond):
            return _ScaledPair(bond.pair_potential, self.length * self.length, 1.0 / self.energy)
        assert isinstance(bond, PoseBond)
        return _ScaledPose(bond.pose, self.length, 1.0 / self.energy)

    def _term(self, term: AbstractPotential) -> AbstractPotential:
        if isinstance(term, AbstractInvariantPotential):
            return _ScaledInvariantTerm(term, self)
        return _ScaledTerm(term, self)

    def _end(self, end: End) -> End:
        force = None if end.force is None else end.force / self.force
        return End(None if end.freedom is None else self._freedom(end.freedom), force)

    def _freedom(self, free: AbstractFreedom) -> AbstractFreedom:
        if isinstance(free, Clamped):
            return eqx.tree_at(lambda held: held.position, free, free.position / self.length)
        if isinstance(free, FixedPoint):
            places = free.point / self.length, free.at / self.length
            return eqx.tree_at(lambda pin: (pin.point, pin.at), free, places)
        if isinstance(free, Guided):
            return Guided(_ScaledPath(free.path, self))
        if isinstance(free, Prescribed):
            return Prescribed(_ScaledMotion(free.motion, self))
        return free


class _ScaledPair(AbstractPair):
    """A pair potential of squared distances in a unit, in a unit of energy."""

    pair: AbstractPair
    square: Scalar
    factor: Scalar

    def value(self, s: Array) -> Array:
        return self.factor * self.pair.value(self.square * s)

    def slope(self, s: Array) -> Array:
        return self.factor * self.square * self.pair.slope(self.square * s)


class _ScaledPose(AbstractPosePair):
    """A potential of relative pose, likewise."""

    pose: AbstractPosePair
    length: Scalar
    factor: Scalar

    def energy(self, d: Vec3, R1: Rot, R2: Rot) -> Scalar:
        return self.factor * self.pose.energy(self.length * d, R1, R2)


class _ScaledPath(eqx.Module):
    """A path in units of length and time."""

    path: Callable
    units: Units

    def __call__(self, t) -> Vec3:
        return jnp.asarray(self.path(self.units.time * t)) / self.units.length


class _ScaledMotion(eqx.Module):
    """A motion in units of length and time."""

    motion: Callable
    units: Units

    def __call__(self, t) -> tuple[Vec3, Rot]:
        position, rotation = self.motion(self.units.time * t)
        return jnp.asarray(position) / self.units.length, rotation


class _ScaledTerm(AbstractPotential):
    """A potential energy in units of length, time and energy."""

    term: AbstractPotential
    units: Units

    @property
    def takes_time(self) -> bool:
        return self.term.takes_time

    @property
    def bodies(self) -> tuple[int, ...] | None:
        return self.term.bodies

    @property
    def separable(self) -> bool:
        return self.term.separable

    def energy(self, t, x: Array, R: Array) -> Scalar:
        return self.term.energy(self.units.time * t, self.units.length * x, R) / self.units.energy


class _ScaledInvariantTerm(AbstractInvariantPotential):
    """A potential energy with declared invariants, likewise."""

    term: AbstractInvariantPotential
    units: Units

    @property
    def bodies(self) -> tuple[int, ...] | None:
        return self.term.bodies

    @property
    def separable(self) -> bool:
        return self.term.separable

    def invariants(self, x: Array, R: Array) -> Array:
        return self.term.invariants(self.units.length * x, R)

    def energy_of(self, c: Array) -> Scalar:
        return self.term.energy_of(c) / self.units.energy


class _ScaledLoad(AbstractLoad):
    """A load in units of length, mass and time."""

    load: AbstractLoad
    units: Units

    @property
    def takes_time(self) -> bool:
        return self.load.takes_time

    @property
    def bodies(self) -> tuple[int, ...] | None:
        return self.load.bodies

    def wrench(self, t, x: Array, R: Array, v: Array, Omega: Array) -> tuple[Array, Array]:
        units = self.units
        force, torque = self.load.wrench(
            units.time * t, units.length * x, R, units.velocity * v, Omega / units.time
        )
        return force / units.force, torque / units.energy
