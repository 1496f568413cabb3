"""Potential energies against formulas written anew, finite differences, and what they declare."""

from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.model import RigidBody, System, potentials
from poinsot.model.potentials import AbstractInvariantPotential, Marker
from poinsot.rotation import exp, vee
from quickly import quickly

RNG = np.random.default_rng(3)
TURNS = np.asarray(exp(jnp.asarray(RNG.standard_normal((4, 3)))))
X, R = RNG.standard_normal((2, 3)), TURNS[:2]
"""Poses of two bodies."""

BODIES = (RigidBody(2.0, TURNS[2] @ np.diag([2.0, 3.0, 4.0]) @ TURNS[2].T), RigidBody(0.5, (1.0, 1.5, 2.0)))
INERTIAS = [np.asarray(body.inertia_matrix) for body in BODIES]
P1, P2, F = np.array([0.3, -0.2, 0.9]), np.array([1.0, 0.4, -0.7]), np.array([0.5, 2.0, -1.0])
A1, A2 = TURNS[2], TURNS[3]
K = np.array([2.0, 3.0, 4.5])


def spring(x, R):
    return 0.5 * 7.0 * (np.linalg.norm(x[1] + R[1] @ P2 - x[0] - R[0] @ P1) - 0.8) ** 2


def linear_bushing(x, R):
    u = (R[0] @ A1).T @ (x[1] + R[1] @ P2 - x[0] - R[0] @ P1)
    return 0.5 * np.sum(K * u**2)


def torsional_bushing(x, R):
    relative = (R[0] @ A1).T @ R[1] @ A2
    return sum(0.5 * (K.sum() - 2 * k) * (1 - relative[i, i]) for i, k in enumerate(K))


def gravity_gradient(x, R):
    total = 0.0
    for mass, J, pos, rot in zip((2.0, 0.5), INERTIAS, x - F, R, strict=True):
        r = np.linalg.norm(pos)
        J_space = rot @ J @ rot.T
        total += -3.0 * mass / r - 3.0 / (2 * r**3) * (np.trace(J) - 3 * pos @ J_space @ pos / r**2)
    return total


CASES = {
    "uniform gravity": (
        potentials.UniformGravity((0.5, 0.0, -9.81)),
        lambda x, R: -sum(m * (0.5 * p[0] - 9.81 * p[2]) for m, p in zip((2.0, 0.5), x, strict=True)),
    ),
    "gravity of one": (potentials.UniformGravity(bodies=[1]), lambda x, R: 0.5 * 9.81 * x[1, 2]),
    "heavy top": (potentials.HeavyTop(2.5, body=1), lambda x, R: 2.5 * R[1, 2, 2]),
    "tilted top": (
        potentials.HeavyTop(2.5, axis=(0, 3, 0), up=(0, 1, 1)),
        lambda x, R: 2.5 * (R[0, 1, 1] + R[0, 2, 1]) / np.sqrt(2),
    ),
    "gravity gradient": (potentials.GravityGradient(3.0, centre=F), gravity_gradient),
    "spring": (
        potentials.Spring(Marker(0, P1), Marker(1, P2), stiffness=7.0, rest_length=0.8),
        spring,
    ),
    "spring to space": (
        potentials.Spring(F, Marker(0, P1), stiffness=7.0),
        lambda x, R: 3.5 * np.sum((x[0] + R[0] @ P1 - F) ** 2),
    ),
    "linear bushing": (
        potentials.LinearBushing(Marker(0, P1, A1), Marker(1, P2), stiffness=K),
        linear_bushing,
    ),
    "bushing on the ground": (
        potentials.LinearBushing(F, Marker(1), stiffness=K),
        lambda x, R: 0.5 * np.sum(K * (x[1] - F) ** 2),
    ),
    "torsional bushing": (
        potentials.TorsionalBushing(Marker(0, P1, A1), Marker(1, P2, A2), stiffness=K),
        torsional_bushing,
    ),
    "constant force": (
        potentials.ConstantForce(F, point=P2, body=1),
        lambda x, R: -F @ (x[1] + R[1] @ P2),
    ),
    "function": (
        lambda x, R: jnp.sum(jnp.sin(x)) + R[0, 0, 1] ** 3,
        lambda x, R: np.sin(x).sum() + R[0, 0, 1] ** 3,
    ),
    "function of time": (
        lambda t, x, R: t * x[1, 2] * R[1, 2, 0],
        lambda x, R: 0.7 * x[1, 2] * R[1, 2, 0],
    ),
    "of one body": (
        potentials.of_body(lambda x, R, k: k * (x @ R[:, 1]), body=1, params=4.0),
        lambda x, R: 4.0 * x[1] @ R[1, :, 1],
    ),
    "of invariants": (
        potentials.OfInvariants(
            lambda x, R: jnp.stack([x[0] @ x[1], R[0, 2, 2]]), lambda c: c[0] ** 3 + c[1]
        ),
        lambda x, R: (x[0] @ x[1]) ** 3 + R[0, 2, 2],
    ),
}
OPAQUE = {"function", "function of time", "of one body"}
TERMS = {name: System(BODIES, potentials=[term]).potentials[0] for name, (term, _) in CASES.items()}
FREE_OF_SPACE = {"spring", "linear bushing", "torsional bushing"}
"""Terms between bodies: a common rigid motion does not change them."""


@pytest.mark.parametrize("name", CASES)
def test_energy_and_gradient(name):
    """Off the rotations too: R is only near one, as in the stages of many integrators."""
    formula = CASES[name][1]
    near = R + 0.1 * np.random.default_rng(4).standard_normal(R.shape)
    value, slopes = quickly(jax.value_and_grad(TERMS[name].energy, (1, 2)))(0.7, X, near)
    assert float(value) == pytest.approx(formula(X, near), rel=1e-13)
    h = 1e-5
    for which, slope in enumerate(slopes):
        for place in np.ndindex(slope.shape):
            ends = []
            for side in (h, -h):
                poses = [X.copy(), near.copy()]
                poses[which][place] += side
                ends.append(formula(*poses))
            assert float(slope[place]) == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=2e-8)


@pytest.mark.parametrize("name", CASES)
def test_declared_invariants_have_degree_two(name):
    term = TERMS[name]
    if name in OPAQUE:
        assert not isinstance(term, AbstractInvariantPotential)
        return
    assert isinstance(term, AbstractInvariantPotential)
    assert float(term.energy_of(term.invariants(jnp.asarray(X), jnp.asarray(R)))) == pytest.approx(
        CASES[name][1](X, R), rel=1e-13
    )
    draw = np.random.default_rng(5)
    dx, dR = draw.standard_normal(X.shape), draw.standard_normal(R.shape)
    values = np.array([term.invariants(jnp.asarray(X + s * dx), jnp.asarray(R + s * dR)) for s in range(4)])
    third = np.array([-1.0, 3.0, -3.0, 1.0]) @ values
    assert np.max(np.abs(third)) < 1e-11 * np.max(np.abs(values))


@pytest.mark.parametrize("name", [name for name, term in TERMS.items() if term.bodies is not None])
def test_which_bodies_it_couples(name):
    """Other bodies have no slope; those it names have one."""
    term = TERMS[name]
    slope_x, slope_R = jax.grad(term.energy, (1, 2))(0.7, jnp.asarray(X), jnp.asarray(R))
    moved = {i for i in range(2) if np.any(slope_x[i]) or np.any(slope_R[i])}
    assert moved == set(term.bodies or ())


@pytest.mark.parametrize("name", [name for name in CASES if name not in OPAQUE])
def test_rigid_motion_of_all(name):
    """Energies of relative position stay when all bodies move together; the others are the control."""
    turn, shift = TURNS[3], np.array([0.4, -1.0, 2.0])
    before = float(TERMS[name].energy(0.0, jnp.asarray(X), jnp.asarray(R)))
    after = float(TERMS[name].energy(0.0, jnp.asarray(X @ turn.T + shift), jnp.asarray(turn @ R)))
    assert (abs(after - before) < 1e-12 * (1 + abs(before))) == (name in FREE_OF_SPACE)


def test_heavy_top_torque():
    """Body torque mgl (R32, -R31, 0), from -vee(R^T V_R - V_R^T R)."""
    slope = np.asarray(jax.grad(TERMS["heavy top"].energy, 2)(0.0, jnp.asarray(X), jnp.asarray(R)))[1]
    torque = -np.asarray(vee(jnp.asarray(R[1].T @ slope - slope.T @ R[1])))
    np.testing.assert_allclose(torque, 2.5 * np.array([R[1, 2, 1], -R[1, 2, 0], 0.0]), atol=1e-14)


def test_gravity_gradient_torque():
    """3 mu / r^3 n x J n, in the body frame."""
    slope = np.asarray(jax.grad(TERMS["gravity gradient"].energy, 2)(0.0, jnp.asarray(X), jnp.asarray(R)))[0]
    torque = -np.asarray(vee(jnp.asarray(R[0].T @ slope - slope.T @ R[0])))
    r = np.linalg.norm(X[0] - F)
    n = R[0].T @ (X[0] - F) / r
    np.testing.assert_allclose(torque, 9.0 / r**3 * np.cross(n, INERTIAS[0] @ n), rtol=1e-12)


def test_gravity_gradient_is_second_order_in_size():
    """Against the sum over particles: halving the body leaves an eighth of the difference."""
    draw = np.random.default_rng(6)
    masses, points = draw.uniform(0.5, 1.0, 6), draw.standard_normal((6, 3))
    pos = np.array([12.0, -5.0, 9.0])

    def difference(size):
        body = RigidBody.from_particles(masses, size * points)
        assert body.particles is not None
        term = System(body, potentials=[potentials.GravityGradient(1.0)]).potentials[0]
        exact = -sum(
            m / np.linalg.norm(pos + R[0] @ rho)
            for m, rho in zip(masses, np.asarray(body.particles.points), strict=True)
        )
        return float(term.energy(0.0, jnp.asarray(pos[None]), jnp.asarray(R[:1]))) - exact

    # The next order makes the ratio differ from 8 in proportion to the size: 0.23 at size 1/2, 0.03 at 1/16.
    assert difference(1 / 16) / difference(1 / 32) == pytest.approx(8.0, abs=0.2)


def test_torsional_bushing_is_linear_for_small_angles():
    term = potentials.TorsionalBushing((0, 0, 0), Marker(0), stiffness=K)
    angle = 1e-3 * np.array([1.0, -2.0, 0.5])
    energy = term.energy(0.0, jnp.zeros((1, 3)), exp(jnp.asarray(angle))[None])
    assert float(energy) == pytest.approx(0.5 * np.sum(K * angle**2), rel=1e-5)
    about_two = term.energy(0.0, jnp.zeros((1, 3)), exp(jnp.array([0.0, 2.0, 0.0]))[None])
    assert float(about_two) == pytest.approx(K[1] * (1 - np.cos(2.0)), rel=1e-14)


def test_spring_at_zero_length_has_a_slope():
    term = potentials.Spring((0, 0, 0), Marker(0), stiffness=2.0)
    slope = jax.grad(term.energy, 1)(0.0, jnp.zeros((1, 3)), jnp.eye(3)[None])
    np.testing.assert_array_equal(slope, np.zeros((1, 3)))


def test_parameters_have_gradients():
    def energy(mgl):
        top = System(BODIES[0], potentials=[potentials.HeavyTop(mgl)])
        return top.potentials[0].energy(0.0, jnp.asarray(X[:1]), jnp.asarray(R[:1]))

    assert float(jax.grad(energy)(3.0)) == pytest.approx(R[0, 2, 2], rel=1e-15)


def _system(term):
    return lambda: System(BODIES, potentials=[term])


BAD = {
    "no function": (_system(3.0), r"potentials\[0\] = 3.0; it must be one of pt.potentials or a function"),
    "not a list": (lambda: System(BODIES, potentials=cast(Any, len)), "it must be a list"),
    "vector": (_system(lambda x, R: x[0]), r"potentials\[0\] returns numbers of shape \(3,\)"),
    "signature": (_system(lambda x: 0.0), r"must take \(x, R\), \(t, x, R\)"),
    "parameters": (_system(lambda x, R, k: 0.0), r"takes parameters.*Function\(f, params=...\)"),
    "a field of three numbers": (
        lambda: pt.System(pt.RigidBody(1.0, (1, 1, 1)), potentials=[pt.potentials.Field(lambda x, R: x)]),
        r"potentials\[0\]: function of Field returns shape \(3,\); it must return one number",
    ),
    "wrong inside": (_system(lambda x, R: x[0] @ jnp.ones(4)), r"potentials\[0\] cannot be evaluated: "),
    "no such body": (
        _system(potentials.HeavyTop(1.0, body=2)),
        "about body 2; of 2 bodies the last is body 1",
    ),
    "no such mass": (_system(potentials.GravityGradient(1.0, bodies=[5])), "is about body 5"),
    "same body": (
        lambda: potentials.Spring(Marker(0), Marker(0), stiffness=1),
        "both ends of Spring are on body 0",
    ),
    "both in space": (lambda: potentials.Spring((0, 0, 0), (1, 0, 0), stiffness=1), "both ends.*in space"),
    "end": (lambda: potentials.Spring((0, 0), Marker(0), stiffness=1), "an end of Spring"),
    "direction": (lambda: potentials.HeavyTop(1.0, axis=(0, 0, 0)), "axis of HeavyTop is zero"),
    "place": (lambda: potentials.HeavyTop(1.0, body=-1), "body of HeavyTop = -1"),
    "places": (lambda: potentials.UniformGravity(bodies=[]), r"bodies of UniformGravity = \[\]"),
    "degree": (
        _system(potentials.OfInvariants(lambda x, R: jnp.sum(x**2, keepdims=True)[0] ** 2, jnp.sum)),
        r"potentials\[0\] has invariants that are not polynomials of degree two",
    ),
    "no invariants": (
        lambda: potentials.OfInvariants(cast(Any, 1.0), jnp.sum),
        "invariants of OfInvariants = 1.0",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_refused_with_one_clear_line(case):
    make, text = BAD[case]
    with pytest.raises(pt.InputError, match=text) as caught:
        make()
    assert "\n" not in str(caught.value)
