"""Joints that are open, and coordinates that have left their constraints: what each form keeps of them."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.equations import Formulation
from poinsot.kernels import once

LINKAGE = pt.library.two_body_linkage()
COORDINATES = {
    "quaternions": pt.coordinates.Quaternions(),
    "sigma": pt.coordinates.Quaternions(sigma="mean"),
    "columns": pt.coordinates.Directors(),
    "rows": pt.coordinates.Directors(constraints="rows"),
    "scaled": pt.coordinates.Directors(sigma="mean"),
    "euler-angles": pt.coordinates.EulerAngles("xyz"),
}
QUICK = {("columns", "index0")}
CASES = [
    pytest.param(kind, form, marks=() if (kind, form) in QUICK else pytest.mark.slow)
    for kind in COORDINATES
    for form in ("index0", "index1")
]


@cache
def hinged() -> pt.System:
    """A crank that a drive turns, with two bodies on skew axes behind it: conditions bend, and take time."""
    names = ("crank", "arm", "hand")
    bodies = [pt.RigidBody(1.0, (0.3, 0.2, 0.25), name=name) for name in names]
    J = pt.joints
    system = pt.System(
        bodies,
        joints=[
            J.Revolute("ground", "crank", at=(0, 0, 0), axis=(0, 0.2, 1), name="motor"),
            J.Universal("crank", "arm", at=(0.5, 0, 0.1), axis=(0, 1, 0), name="wrist"),
            J.Revolute("arm", "hand", at=(1, 0.1, 0.1), axis=(1, 0.3, 0), name="last"),
            J.Drive("motor", lambda t: 0.4 * jnp.sin(3.0 * t)),
        ],
        reference={name: ((0.4 * k, 0.1, 0.2), (1, 0, 0, 0)) for k, name in enumerate(names)},
        potentials=[pt.potentials.UniformGravity()],
    )
    start = system.assemble(velocity={"motor": 1.2, "last": -2.0})
    return system.recommending(start, 1e-3)


@once
def _second_rates(formulation: Formulation, t, y):
    """Rates and second rates of the gaps along the equations, and what the equations say."""
    problem: Any = formulation.problem
    (q, v), one = problem.split(y), jnp.ones_like(t)
    field = problem.split(problem.vector_field(t, y))

    def rate(t, q, v):
        return jax.jvp(problem.rates.bodies.gaps, (t, q), (one, v))[1]

    return (v, *field, *jax.jvp(rate, (t, q, v), (one, *field)))


def drifted(system: pt.System, coordinates: str, form: str, by: float):
    """Rates and second rates of the gaps, and accelerations, with every number of the state changed."""
    formulation = pt.formulate(system, COORDINATES[coordinates], form)
    y = formulation.problem.pack(formulation.start(system.start, 0.0))
    y = y + by * np.random.default_rng(3).normal(size=y.shape)
    v, v_again, acceleration, rate, bend = _second_rates(formulation, jnp.asarray(0.0), y)
    np.testing.assert_array_equal(v, v_again)
    return rate, bend, acceleration


@pytest.mark.parametrize(("coordinates", "form"), CASES)
def test_open_gaps_keep_their_rate_off_the_constraints(coordinates, form):
    rate, bend, acceleration = drifted(LINKAGE, coordinates, form, 1e-2)
    assert np.max(np.abs(rate)) > 1e-3, "open and moving"
    assert np.max(np.abs(bend)) < 1e-13 * np.max(np.abs(acceleration))


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_conditions_that_bend_and_take_time_keep_their_rate(coordinates):
    system = hinged()
    rate, bend, acceleration = drifted(system, coordinates, "index0", 1e-3)
    assert np.max(np.abs(rate)) > 1e-4
    assert np.max(np.abs(bend)) < 1e-12 * np.max(np.abs(acceleration))


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", ["quaternions", "sigma", "columns", "rows", "scaled"])
def test_multipliers_balance_the_forces_off_the_constraints(coordinates):
    """The equations as they stand: mass, multipliers of the coordinates and forces of the joints."""
    formulation = pt.formulate(LINKAGE, COORDINATES[coordinates], "index1")
    problem: Any = formulation.problem
    bodies = problem.rates.bodies
    y = problem.pack(formulation.start(LINKAGE.start, 0.0))
    q, v = problem.split(y + 1e-3 * np.random.default_rng(3).normal(size=y.shape))

    def pulled(constraint, force):
        return jax.vjp(constraint, q)[1](force)[0]

    def lagrangian_force():
        """What the kinetic energy alone asks for, less what the potential gives."""
        a, multipliers, forces = bodies.acceleration(0.0, q, v, eliminated=False)
        kinetic, rate = jax.grad(bodies.kinetic, argnums=(0, 1)), (v, a)
        momentum = jax.jvp(lambda q, v: kinetic(q, v)[1], (q, v), rate)[1]
        inertia = momentum - kinetic(q, v)[0]
        joints = pulled(lambda q: bodies.gaps(0.0, q), jnp.concatenate(forces))
        internal = pulled(bodies.constraint, multipliers.reshape(-1))
        return inertia, internal, joints, bodies.potential_force(0.0, q)

    inertia, internal, joints, force = jax.jit(lagrangian_force)()
    assert np.max(np.abs(internal)) > 1e-2 * np.max(np.abs(inertia))
    np.testing.assert_allclose(inertia + internal, force + joints, atol=1e-10 * np.max(np.abs(inertia)))
