"""Methods that impose constraints: order, geometry, long runs, against independent references."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from constrained_cases import (
    CHAIN,
    DOUBLE,
    EULER_TENSOR,
    FREE_CHAIN,
    GRAVITY,
    INERTIA,
    OMEGA,
    SPHERICAL,
    SPHERICAL_START,
    START_QUATERNION,
    WEIGHT,
    Index2,
    QuaternionTop,
    SymmetricChain,
    chain_start,
    director_start,
    director_top,
    double_field,
    double_pendulum,
    quaternion_start,
    quaternion_top,
    rotation,
    surface_symplecticity,
    top_field,
)
from scipy.integrate import solve_ivp

import poinsot as pt
from long_suite import of_the_long_suite
from poinsot.analysis import order_estimate, reversibility
from poinsot.analysis._travel import travel
from poinsot.core import Constrained, StepInfo
from poinsot.integrators import Composition, GaussLegendre, LobattoIIIC, RadauIIA
from poinsot.integrators.constrained import (
    ConstrainedGauss,
    ConstrainedLobatto,
    ConstrainedRungeKutta,
    Rattle,
)
from poinsot.integrators.energy_momentum import EnergyMomentum
from poinsot.integrators.variational import Variational
from quickly import quickly

ULP = 2.0**-52
RADAU3 = ConstrainedRungeKutta(RadauIIA(2).tableau)
METHODS = {
    "rattle": Rattle(),
    "variational": Variational(),
    "energy-momentum": EnergyMomentum(),
    "radau": RADAU3,
    "spark": ConstrainedGauss(2),
}
each_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
TOP = QuaternionTop(float(INERTIA.mean()))
SINGULAR_TOP = QuaternionTop(0.0)
ANGLES, RATES = np.array([1.0, -0.5]), np.array([0.5, 1.0])
TWICE = Index2(V=lambda q: GRAVITY * (2.0 * q[1] + q[3]), g=DOUBLE.g.function, mass=DOUBLE.mass)


@cache
def double_reference():
    """Quarters of one second of the double pendulum, from its angles."""
    times = [0.25, 0.5, 0.75, 1.0]
    y0 = np.concatenate([ANGLES, RATES])
    angles = solve_ivp(double_field, (0.0, 1.0), y0, "DOP853", times, rtol=1e-13, atol=1e-14).y.T
    states = [double_pendulum(y[:2], y[2:]) for y in angles]
    return pt.State(q=jnp.stack([s.q for s in states]), p=jnp.stack([s.p for s in states]))


ORDERS = {
    "rattle": (DOUBLE, Rattle()),
    "variational": (DOUBLE, Variational()),
    "energy-momentum": (DOUBLE, EnergyMomentum()),
    "radau 3, index 3": (DOUBLE, RADAU3),
    "radau 3, index 2": (TWICE, RADAU3),
    "radau 5, index 3": (DOUBLE, ConstrainedRungeKutta(RadauIIA(3).tableau)),
    "lobatto 4, index 3": (DOUBLE, ConstrainedRungeKutta(LobattoIIIC(3).tableau)),
    "spark gauss 4": (DOUBLE, ConstrainedGauss(2)),
    "spark gauss 6": (DOUBLE, ConstrainedGauss(3)),
    "spark lobatto 4": (DOUBLE, ConstrainedLobatto(3)),
    "spark lobatto 6": (DOUBLE, ConstrainedLobatto(4)),
    "rattle, composed": (DOUBLE, Composition(Rattle(), "suzuki4")),
    "variational, composed": (DOUBLE, Composition(Variational(), "suzuki4")),
}


@pytest.mark.parametrize(
    ("problem", "method"),
    of_the_long_suite(ORDERS, {"rattle", "variational", "energy-momentum", "spark gauss 6"}),
)
def test_order_in_positions_and_momenta(problem, method):
    start = double_pendulum(ANGLES, RATES)
    # Order 6 reaches the error of the reference with more steps.
    steps = (32, 64, 128, 256) if method.order < 6 else (32, 48, 64, 96)
    estimate = order_estimate(problem, method, start, 1.0, reference=double_reference(), steps=steps)
    assert estimate.slope["q"] == pytest.approx(method.order, abs=0.15)
    assert estimate.slope["p"] == pytest.approx(method.order, abs=0.15)


class Unprojected(Constrained):
    """Leaves momenta as they are."""

    def __init__(self, **given):
        super().__init__(**given)

    def tangent_momentum(self, t, q, p):
        return p


@pytest.mark.slow
def test_radau_without_projection_loses_the_order_of_momenta():
    """Radau IIA at index 3 by itself: order 2s - 1 in positions, s in velocities."""
    bare = Unprojected(V=DOUBLE.V.function, g=DOUBLE.g.function, mass=DOUBLE.mass)
    start = double_pendulum(ANGLES, RATES)
    estimate = order_estimate(
        bare, RADAU3, start, 1.0, reference=double_reference(), steps=(32, 64, 128, 256)
    )
    assert estimate.slope["q"] == pytest.approx(3.0, abs=0.15)
    assert estimate.slope["p"] == pytest.approx(2.0, abs=0.15)


@cache
def top_reference():
    y0 = np.concatenate([START_QUATERNION, OMEGA])
    end = solve_ivp(top_field, (0.0, 1.0), y0, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return np.asarray(rotation(jnp.asarray(end[:4])))


TOPS = {
    "rattle, quaternions": (Rattle(), TOP, TOP.turning()),
    "rattle, mass function": (Rattle(), quaternion_top(), quaternion_start()),
    "rattle, directors": (Rattle(), director_top(), director_start()),
    "variational, quaternions": (Variational(), TOP, TOP.turning()),
    "variational, singular mass": (Variational(), SINGULAR_TOP, SINGULAR_TOP.turning()),
    "variational, directors": (Variational(), director_top(), director_start()),
}


@pytest.mark.parametrize(
    ("method", "problem", "start"),
    of_the_long_suite(TOPS, {"rattle, directors", "variational, singular mass"}),
)
def test_heavy_top_converges_to_eulers_equations(method, problem, start):
    errors = []
    for steps in (100, 200):
        run = travel(problem, method, problem.pack(start), 1.0 / steps, steps)
        assert run.ok
        q = problem.split(run.y)[0]
        R = rotation(q) if q.size == 4 else q.reshape(3, 3).T
        errors.append(np.max(np.abs(R - top_reference())))
    # To any other limit than the reference the ratio would tend to one.
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def test_rattle_in_directors_is_that_of_rotation_matrices():
    """The matrix form with the multipliers of the constraint R^T R = 1, solved to round-off."""
    D, h = EULER_TENSOR, 0.02
    weights = np.outer(D, D) / np.add.outer(D, D)
    start = director_start()
    R, P = np.asarray(start.q).reshape(3, 3).T, np.asarray(start.p).reshape(3, 3).T
    slope = np.zeros((3, 3))
    slope[2, 2] = WEIGHT
    for _ in range(5):
        free = R + (h * P - 0.5 * h * h * slope) / D
        R1, multipliers = free, weights * (free.T @ free - np.eye(3)) / h**2
        for _ in range(60):
            R1 = free - h * h * R @ multipliers / D
            multipliers = multipliers + weights * (R1.T @ R1 - np.eye(3)) / h**2
        half = P - 0.5 * h * slope - h * R @ multipliers
        pushed = half - 0.5 * h * slope
        mixed = R1.T @ pushed / D
        R, P = R1, pushed - R1 @ (weights * (mixed + mixed.T))
    run = travel(director_top(), Rattle(), director_top().pack(start), h, 5)
    q, p = director_top().split(run.y)
    np.testing.assert_allclose(q.reshape(3, 3).T, R, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(p.reshape(3, 3).T, P, rtol=0.0, atol=1e-12)


GEOMETRY = {
    "rattle, constant mass": (Rattle(), DOUBLE, double_pendulum(ANGLES, RATES)),
    "rattle, general": (Rattle(), TOP, TOP.turning()),
    "variational": (Variational(), DOUBLE, double_pendulum(ANGLES, RATES)),
    "variational, general": (Variational(), TOP, TOP.turning()),
    "variational, singular mass": (Variational(), SINGULAR_TOP, SINGULAR_TOP.turning()),
    "spark gauss": (ConstrainedGauss(2), DOUBLE, double_pendulum(ANGLES, RATES)),
    "spark gauss, general": (ConstrainedGauss(3), TOP, TOP.turning()),
    "spark lobatto": (ConstrainedLobatto(4), DOUBLE, double_pendulum(ANGLES, RATES)),
    "spark lobatto, general": (ConstrainedLobatto(3), TOP, TOP.turning()),
    "composed": (Composition(Rattle(), "suzuki4"), DOUBLE, double_pendulum(ANGLES, RATES)),
}


@pytest.mark.parametrize(
    ("method", "problem", "start"),
    of_the_long_suite(GEOMETRY, {"rattle, constant mass"}),
)
def test_symplectic_on_the_surface_and_symmetric(method, problem, start):
    assert method.symplectic and method.symmetric
    for h in (0.05, 0.02):
        assert surface_symplecticity(problem, method, start, h) < 1e-13
    assert reversibility(problem, method, start, 0.05) < 1e-13


@pytest.mark.parametrize(
    ("spark", "other"),
    [(ConstrainedLobatto(2), Rattle()), (ConstrainedGauss(1), Variational())],
    ids=["rattle", "variational"],
)
def test_least_stages_are_methods_that_have_other_names(spark, other):
    """Solved by another iteration, so that equal steps are no matter of course."""
    y = DOUBLE.pack(double_pendulum(ANGLES, RATES))
    one, two = (travel(DOUBLE, method, y, 0.05, 20) for method in (spark, other))
    assert one.ok and two.ok
    np.testing.assert_allclose(one.y, two.y, rtol=0.0, atol=1e-12)
    assert np.max(np.abs(one.y - y)) > 0.1


@pytest.mark.slow
def test_what_is_not_symplectic_is_seen_not_to_be():
    start = double_pendulum(ANGLES, RATES)
    assert not RADAU3.symplectic and not EnergyMomentum().symplectic
    assert surface_symplecticity(DOUBLE, RADAU3, start, 0.05) > 1e-6
    assert surface_symplecticity(DOUBLE, EnergyMomentum(), start, 0.05) > 1e-6
    assert surface_symplecticity(DOUBLE, Rattle(), start, 0.05, ambient=True) > 1e-3
    assert reversibility(DOUBLE, RADAU3, start, 0.05) > 1e-6
    assert reversibility(DOUBLE, EnergyMomentum(), start, 0.05) < 1e-13


@pytest.mark.parametrize("method", [Rattle(), Variational()], ids=["rattle", "variational"])
def test_constraints_and_momenta_stay_at_round_off_for_long(method):
    y, h = FREE_CHAIN.pack(chain_start()), 0.01
    short = travel(FREE_CHAIN, method, y, h, 10_000)
    run = travel(FREE_CHAIN, method, y, h, 100_000)
    assert run.ok
    assert float(run.deviation["constraint"]) < 4 * ULP
    assert float(run.deviation["rate"]) < 16 * ULP
    assert float(run.deviation["linear"]) < 1e5 * ULP
    assert float(run.deviation["bilinear"]) < 1e5 * ULP
    energy = [float(one.deviation["energy"]) for one in (short, run)]
    assert 1e-6 < energy[0] <= energy[1] < 1.2 * energy[0], "bounded, and no trend"


@pytest.mark.slow
def test_energy_momentum_keeps_energy_and_what_the_gradient_respects():
    y, h, steps = FREE_CHAIN.pack(chain_start()), 0.02, 10_000
    opaque = travel(FREE_CHAIN, EnergyMomentum(), y, h, steps)
    symmetric = travel(SymmetricChain(**CHAIN), EnergyMomentum(), y, h, steps)
    for run in (opaque, symmetric):
        assert run.ok and float(run.deviation["energy"]) < steps * ULP * 10.0
        assert float(run.deviation["constraint"]) < 4 * ULP
        assert float(run.deviation["rate"]) > 1e-6, "velocities are not held"
    for name in ("linear", "bilinear"):
        assert float(symmetric.deviation[name]) < steps * ULP
        assert float(opaque.deviation[name]) > 1e-8


@pytest.mark.slow
def test_radau_keeps_linear_momentum_alone():
    run = travel(FREE_CHAIN, RADAU3, FREE_CHAIN.pack(chain_start()), 0.02, 2_000)
    assert float(run.deviation["linear"]) < 2e3 * ULP
    assert float(run.deviation["bilinear"]) > 1e-8 and float(run.deviation["energy"]) > 1e-8
    assert float(run.deviation["constraint"]) < 4 * ULP and float(run.deviation["rate"]) < 16 * ULP


@pytest.mark.parametrize(("spin", "sigma"), [(0.95, 0.0), (1.4, 0.8)])
def test_turn_about_a_principal_axis_in_closed_form(spin, sigma):
    """Momentum of a turn by theta: ((J - sigma) sin(theta) + 4 sigma sin(theta/2)/2) / h."""
    h, J = 0.1, INERTIA[2]
    top = QuaternionTop(sigma, weight=0.0)
    start = top.turning(jnp.array([1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, spin / h]))
    run = travel(top, Variational(), top.pack(start), h, 20)
    assert run.ok
    q = top.split(travel(top, Variational(), top.pack(start), h, 1).y)[0]
    theta = 2.0 * np.arctan2(float(q[3]), float(q[0]))
    momentum = (J - sigma) * np.sin(theta) + 2.0 * sigma * np.sin(0.5 * theta)
    np.testing.assert_allclose(momentum, J * spin, rtol=1e-14)


def test_a_singular_mass_carries_no_more_than_one_radian():
    top = QuaternionTop(0.0, weight=0.0)
    start = top.turning(jnp.array([1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 10.5]))
    run = travel(top, Variational(), top.pack(start), 0.1, 1)
    assert int(run.result) == pt.Result.stage_equations_not_converged


def end(method, x):
    """A number after some steps, of a state, a parameter and a step size."""
    problem = SPHERICAL.with_params({"g": x[6]})
    y = problem.pack(pt.State(q=x[:3], p=x[3:6]))
    carry = method.init(problem, 0.0, x[7], y)
    total = StepInfo.explicit(())
    for k in range(3):
        y, carry, info = method.step(problem, k * x[7], x[7], y, carry)
        total = total.then(info)
    return y, total.result


@pytest.mark.parametrize(
    "method", of_the_long_suite({name: (method,) for name, method in METHODS.items()}, {"variational"})
)
def test_gradients_batches_and_failing_lanes(method):
    start = np.concatenate([SPHERICAL_START.q, SPHERICAL_START.p, [1.5 * GRAVITY, 0.05]])
    weights = jnp.array([0.8, -0.6, 0.3, 0.2, 0.5, -0.4])
    value = quickly(lambda x: jnp.sum(weights * end(method, x)[0]))
    gradient = quickly(jax.grad(lambda x: jnp.sum(weights * end(method, x)[0])))(jnp.asarray(start))
    # Along the surface: the start may not leave it.
    q, across = start[:3], np.array([0.3, -0.2, 0.5])
    along = np.cross(across, q)
    turn = np.concatenate([along, np.cross(across, start[3:6]), [0.4, 0.01]])

    def moved(s):
        c, d = np.cos(s * np.linalg.norm(across)), np.sin(s * np.linalg.norm(across))
        axis = across / np.linalg.norm(across)
        spin = lambda v: c * v + d * np.cross(axis, v) + (1.0 - c) * axis * (axis @ v)  # noqa: E731
        return np.concatenate([spin(start[:3]), spin(start[3:6]), start[6:] + s * turn[6:]])

    difference = (value(moved(1e-5)) - value(moved(-1e-5))) / 2e-5
    np.testing.assert_allclose(gradient @ turn, difference, rtol=1e-6)

    lanes = jnp.asarray(np.stack([moved(s) for s in (0.0, 0.1, 0.2)]))
    batched = quickly(jax.vmap(lambda x: end(method, x)))
    together, results = batched(lanes)
    assert np.all(results == 0)
    np.testing.assert_allclose(together[0] @ weights, value(lanes[0]), rtol=0.0, atol=64 * ULP)
    broken, results = batched(lanes.at[1, 7].set(1e160))
    assert np.array_equal(np.asarray(results) != 0, [False, True, False])
    assert np.array_equal(broken[0], together[0]) and np.array_equal(broken[2], together[2])


def pendulum_state(angle, rate):
    """Cartesian state of a plane pendulum of mass 2 and length 1."""
    return pt.State(
        q=[np.sin(angle), -np.cos(angle)], p=[2.0 * rate * np.cos(angle), 2.0 * rate * np.sin(angle)]
    )


@pytest.mark.slow
@each_method
def test_order_with_loads_and_time(method):
    """A pendulum whose weight varies, in a drag proportional to its velocity."""
    problem = Constrained(
        V=lambda t, q: (1.0 + 0.5 * jnp.sin(2.0 * t)) * 10.0 * q[1],
        g=lambda q: 0.5 * (jnp.sum(q * q) - 1.0)[None],
        mass=2.0,
        force=lambda q, v: -0.6 * v,
    )

    def field(t, y):
        return [y[1], -(1.0 + 0.5 * np.sin(2.0 * t)) * 5.0 * np.sin(y[0]) - 0.3 * y[1]]

    y = solve_ivp(field, (0.3, 1.3), [1.0, 0.5], "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    estimate = order_estimate(
        problem,
        method,
        pendulum_state(1.0, 0.5),
        1.3,
        t0=0.3,
        reference=pendulum_state(*y),
        steps=(32, 64, 128, 256),
    )
    assert estimate.slope["q"] == pytest.approx(method.order, abs=0.15)
    assert estimate.slope["p"] == pytest.approx(method.order, abs=0.15)


def test_refusals_say_what_fits():
    hamiltonian = pt.Hamiltonian(lambda q, p: 0.5 * (p[0] ** 2 + q[0] ** 2))
    for method in (Rattle(), EnergyMomentum()):
        assert "singular" in str(method.refusal(SINGULAR_TOP))
    for method in (Rattle(), Variational(), EnergyMomentum()):
        assert "index3" in str(method.refusal(TWICE))
        assert method.refusal(DOUBLE) is None
    assert RADAU3.refusal(TWICE) is None and RADAU3.refusal(DOUBLE) is None
    assert Variational().refusal(SINGULAR_TOP) is None
    assert EnergyMomentum().refusal(hamiltonian) is None
    assert "'constrained'" in str(Rattle().refusal(hamiltonian))
    with pytest.raises(ValueError, match="stiffly accurate"):
        ConstrainedRungeKutta(GaussLegendre(2).tableau)
