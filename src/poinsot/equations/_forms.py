"""The forms of the equations by name: the problem each makes of bodies, and what it takes for velocities."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from poinsot.core import AbstractProblem, Group, Hamiltonian, Registry, State, UserFunction, each_body
from poinsot.equations._bodies import Bodies, Flat, Rates
from poinsot.equations._canonical_joints import CanonicalJoints
from poinsot.equations._constrained_bodies import ConstrainedBodies
from poinsot.equations._hamiltonian import BodiesEnergy, BodiesLoad
from poinsot.equations._index_reduced import IndexReduced, NullSpace
from poinsot.equations._joint_loops import ConstrainedJoints, looped_second_order
from poinsot.equations._joint_null_space import JointNullSpace
from poinsot.equations._joint_space import (
    joint_hamiltonian,
    joint_momenta,
    joint_rates,
    joint_second_order,
    of_joint_momenta,
    of_joint_rates,
)
from poinsot.equations._multiplier_form import MultiplierRates
from poinsot.equations._second_order import SecondOrder
from poinsot.model import AbstractSystem

Invariants = dict[str, UserFunction]


@dataclass(frozen=True)
class Form:
    """One form of the equations of motion."""

    problem: Callable[[Bodies, Invariants], AbstractProblem]
    """The problem an integrator sees."""
    start: Callable[[Bodies, Any, Flat, Flat], State]
    """Its state at a time, coordinates and their rates."""
    rates: Callable[[Bodies, Any, State], Rates]
    """Coordinates, their rates and the body angular velocities at its state, without the forces."""


def _momenta(bodies: Bodies, t, q: Flat, rate: Flat) -> State:
    """Momenta of the mass matrix of the coordinates."""
    return State(q=q, p=bodies.momentum(q, rate))


def _of_momenta(bodies: Bodies, t, state: State) -> Rates:
    return state.q, bodies.tangent_velocity(state.q, state.p), _spins(bodies, state.q, state.p)


def _spins(bodies: Bodies, q: Flat, p: Flat) -> Float[Array, "3 turning"]:
    r"""Body angular velocities $J^{-1} T(q)^T p$ of momenta."""
    c, momentum = bodies.split(q)[1], bodies.split(p)[1]
    return each_body(bodies.coordinates.free_momentum)(c, momentum) / bodies.system.inertia


def _free_momenta(bodies: Bodies, t, q: Flat, rate: Flat) -> State:
    r"""Momenta without a part across the constraints: $p\cdot\dot q = m\cdot\Omega$ for every rate."""
    c = bodies.split(q)[1]
    v, c_rate = bodies.split(rate)
    m = bodies.system.inertia * bodies.omega(c, c_rate)
    return State(q=q, p=bodies.join(bodies.system.masses[None] * v, bodies.lifted(c, m)))


def _of_free_momenta(bodies: Bodies, t, state: State) -> Rates:
    return state.q, BodiesEnergy(bodies).velocity(state.q, state.p), _spins(bodies, state.q, state.p)


def _rates(bodies: Bodies, t, q: Flat, rate: Flat) -> State:
    return State(q=q, v=rate)


def _of_rates(bodies: Bodies, t, state: State) -> Rates:
    return state.q, state.v, bodies.omega(bodies.split(state.q)[1], bodies.split(state.v)[1])


def _null_space(bodies: Bodies, invariants: Invariants) -> SecondOrder:
    rates = NullSpace(bodies) if bodies.system.linkage is None else JointNullSpace(bodies)
    return SecondOrder(rates, invariants)


def _body_velocities(bodies: Bodies, t, q: Flat, rate: Flat) -> State:
    """Velocities and body angular velocities; with joints, rates along their tree."""
    twist = bodies.twist(q, rate)
    joined = bodies.system.linkage is not None
    return State(q=q, v=JointNullSpace(bodies).reduced(t, q, twist) if joined else twist)


def _of_body_velocities(bodies: Bodies, t, state: State) -> Rates:
    joined = bodies.system.linkage is not None
    twist = JointNullSpace(bodies).twist(t, state.q, state.v) if joined else state.v
    return state.q, bodies.rate(state.q, twist), bodies.split(twist)[1]


def _body_momenta(bodies: Bodies, t, q: Flat, rate: Flat) -> State:
    x, g = bodies.split(q)
    v, g_rate = bodies.split(rate)
    m = bodies.system.inertia * bodies.omega(g, g_rate)
    return State(x=x, p=bodies.system.masses[None] * v, g=g, m=m)


def _of_body_momenta(bodies: Bodies, t, state: State) -> Rates:
    v, Omega = state.p / bodies.system.masses[None], state.m / bodies.system.inertia
    return bodies.join(state.x, state.g), bodies.join(v, bodies.velocity(state.g, Omega)), Omega


def _multiplier(bodies: Bodies, t, q: Flat, rate: Flat) -> State:
    return State(q=q, v=bodies.momentum(q, rate))


def _of_multiplier(bodies: Bodies, t, state: State) -> Rates:
    return state.q, MultiplierRates(bodies).velocity(state.q, state.v), _spins(bodies, state.q, state.v)


def _hamiltonian(bodies: Bodies, invariants: Invariants) -> Hamiltonian | CanonicalJoints:
    if bodies.system.linkage is not None:
        return CanonicalJoints(bodies, invariants)
    energy = BodiesEnergy(bodies)
    force = None if bodies.conservative else UserFunction(BodiesLoad(energy), True, True)
    return Hamiltonian(energy, force=force, invariants=invariants)


class _OfSystem(eqx.Module):
    """A method of a system as a function. Unlike a bound method of equinox it can be pickled."""

    system: AbstractSystem
    method: str = eqx.field(static=True)

    def __call__(self, *at):
        return getattr(self.system, self.method)(*at)


def _group(bodies: Bodies, invariants: Invariants) -> Group:
    system = bodies.system
    return Group(
        system.masses,
        system.inertia,
        _OfSystem(system, "potential"),
        element=bodies.coordinates,
        load=None if system.conservative else _OfSystem(system, "load"),
        autonomous=system.autonomous,
        joints=bodies.joints,
        local=system.local_wrench,
        invariants=invariants,
    )


FORMS: Registry[Form] = Registry(
    "form",
    {
        "hamiltonian": Form(_hamiltonian, _free_momenta, _of_free_momenta),
        "index3": Form(lambda bodies, watched: ConstrainedBodies(bodies, 3, watched), _momenta, _of_momenta),
        "index2": Form(lambda bodies, watched: ConstrainedBodies(bodies, 2, watched), _momenta, _of_momenta),
        "index1": Form(
            lambda bodies, watched: SecondOrder(IndexReduced(bodies, False), watched), _rates, _of_rates
        ),
        "index0": Form(
            lambda bodies, watched: SecondOrder(IndexReduced(bodies, True), watched), _rates, _of_rates
        ),
        "null_space": Form(_null_space, _body_velocities, _of_body_velocities),
        "group": Form(_group, _body_momenta, _of_body_momenta),
        "recursive": Form(partial(joint_second_order, covariant=False), joint_rates, of_joint_rates),
        "covariant": Form(partial(joint_second_order, covariant=True), joint_rates, of_joint_rates),
    },
)
"""What `form=` takes."""

MULTIPLIER = Form(
    lambda bodies, watched: SecondOrder(MultiplierRates(bodies), watched), _multiplier, _of_multiplier
)
"""What "hamiltonian" is in quaternions with a radial inertia."""

JOINT_FORMS: dict[str, Form] = {
    "hamiltonian": Form(joint_hamiltonian, joint_momenta, of_joint_momenta),
    "index3": Form(
        lambda bodies, watched: ConstrainedJoints(bodies, 3, watched), joint_momenta, of_joint_momenta
    ),
    "index2": Form(
        lambda bodies, watched: ConstrainedJoints(bodies, 2, watched), joint_momenta, of_joint_momenta
    ),
    "index1": Form(partial(looped_second_order, eliminated=False), joint_rates, of_joint_rates),
    "index0": Form(partial(looped_second_order, eliminated=True), joint_rates, of_joint_rates),
}
"""What these are in joint coordinates."""
