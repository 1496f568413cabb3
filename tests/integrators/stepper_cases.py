"""One integrator for every stepper, and small problems they all solve, shared by the contract tests."""

import jax.numpy as jnp

import poinsot as pt
from poinsot.integrators import (
    RK4,
    Composition,
    GaussLegendre,
    LobattoIIIAB,
    SimplifiedNewton,
    Splitting,
    StormerVerlet,
    SymplecticEulerA,
    SymplecticEulerB,
)

STEPPERS = {
    "explicit": RK4(),
    "fixed point": GaussLegendre(2),
    "newton": GaussLegendre(2, solver=SimplifiedNewton()),
    "partitioned": LobattoIIIAB(3),
    "euler": SymplecticEulerA(),
    "verlet": StormerVerlet(),
    "composition": Composition(StormerVerlet(), "suzuki4"),
    "pair": Composition(SymplecticEulerA(), "mclachlan4-pair", adjoint=SymplecticEulerB()),
    "kick first": Splitting("blanes-moan4"),
    "drift first": Splitting("yoshida4", first="T"),
}


def _modified_pendulum(q, p, params):
    return 0.5 * p[0] ** 2 - params["g"] * jnp.cos(q[0]) * (1.0 - p[0] / 6.0)


def _kinetic(p):
    return 0.5 * p[0] ** 2


def _potential(q, params):
    return -params["g"] * jnp.cos(q[0])


def _driven(t, q, p):
    return 0.5 * p[0] ** 2 - (1.0 + 0.5 * jnp.sin(2.0 * t)) * jnp.cos(q[0]) * (1.0 - p[0] / 6.0)


def _driven_kinetic(t, p):
    return 0.5 * (1.0 + 0.3 * jnp.cos(t)) * p[0] ** 2


def _driven_potential(t, q):
    return -(1.0 + 0.5 * jnp.sin(2.0 * t)) * jnp.cos(q[0])


PARAMS = {"g": 1.3}
PENDULUM = pt.Hamiltonian(_modified_pendulum, params=PARAMS)
SEPARABLE_PENDULUM = pt.Hamiltonian(T=_kinetic, V=_potential, params=PARAMS)
PENDULUM_LANES = pt.Hamiltonian(_modified_pendulum, params=PARAMS, vectorised=True)
SEPARABLE_LANES = pt.Hamiltonian(T=_kinetic, V=_potential, params=PARAMS, vectorised=True)
DRIVEN = pt.Hamiltonian(_driven)
SEPARABLE_DRIVEN = pt.Hamiltonian(T=_driven_kinetic, V=_driven_potential)


def fitting(integrator, general, separable):
    """The problem that suits an integrator."""
    return separable if integrator.needs == "separable" else general
