"""Constraints that depend on time: a pendulum on a moving support beside its angle."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from deviations import deviation

GRAVITY, SWING, PACE, START, SPIN = 9.81, 0.3, 3.0, 0.7, -0.4


def support(t):
    """Place of the support, which goes to and fro and up and down."""
    return jnp.array([SWING * jnp.sin(PACE * t), 0.2 * SWING * jnp.cos(2.0 * PACE * t)])


def pendulum(mass: Any = 2.0, **options) -> pt.Constrained:
    """A point at unit distance from the support, in the plane."""
    return pt.Constrained(
        V=lambda q, params: params["m"] * GRAVITY * q[1],
        g=lambda t, q: 0.5 * (jnp.sum((q - support(t)) ** 2) - 1.0)[None],
        mass=mass,
        params={"m": 2.0},
        **options,
    )


def along(angle, rate, t):
    """Position and velocity of the point."""
    where = np.array([np.sin(angle), -np.cos(angle)])
    across = np.array([np.cos(angle), np.sin(angle)])
    base = np.array([SWING * np.sin(PACE * t), 0.2 * SWING * np.cos(2.0 * PACE * t)])
    drift = np.array([SWING * PACE * np.cos(PACE * t), -0.4 * SWING * PACE * np.sin(2.0 * PACE * t)])
    return base + where, drift + rate * across


def shaken(t):
    """Acceleration of the support."""
    return -(PACE**2) * np.array([SWING * np.sin(PACE * t), 0.8 * SWING * np.cos(2.0 * PACE * t)])


def by_angle(t1: float):
    """Position and velocity at the end, from the equation of the angle."""

    def rates(t, y):
        apparent = np.array([0.0, -GRAVITY]) - shaken(t)
        return [y[1], apparent @ [np.cos(y[0]), np.sin(y[0])]]

    angle, rate = solve_ivp(
        rates, (0.0, t1), [START, SPIN], method="DOP853", rtol=1e-13, atol=1e-13
    ).y[:, -1]  # fmt: skip
    return angle, rate, along(angle, rate, t1)


def start():
    q, v = along(START, SPIN, 0.0)
    return pt.State(q=q, p=2.0 * v)


methods = pt.integrators
RADAU, LOBATTO = (
    methods.ConstrainedRungeKutta(one.tableau)
    for one in (methods.RadauIIA(stages=2), methods.LobattoIIIC(stages=3))
)
METHODS = [
    pytest.param(methods.Rattle(), 2.0, 2, id="rattle"),
    pytest.param(
        methods.Rattle(), lambda q: 2.0 * jnp.eye(2), 2, id="rattle-implicit", marks=pytest.mark.slow
    ),
    pytest.param(methods.Variational(), 2.0, 2, id="variational"),
    pytest.param(methods.EnergyMomentum(), 2.0, 2, id="energy-momentum"),
    pytest.param(
        methods.Composition(methods.Rattle(), "suzuki4"), 2.0, 4, id="rattle-4", marks=pytest.mark.slow
    ),
    pytest.param(RADAU, 2.0, 3, id="radau"),
    pytest.param(LOBATTO, 2.0, 4, id="lobatto", marks=pytest.mark.slow),
    pytest.param(methods.ConstrainedGauss(2), 2.0, 4, id="gauss-4"),
    pytest.param(methods.ConstrainedGauss(3), 2.0, 6, id="gauss-6", marks=pytest.mark.slow),
    pytest.param(methods.ConstrainedLobatto(3), 2.0, 4, id="lobatto-4", marks=pytest.mark.slow),
    pytest.param(methods.ConstrainedLobatto(4), 2.0, 6, id="lobatto-6", marks=pytest.mark.slow),
    pytest.param(
        methods.Composition(methods.Rattle(), "kahan-li6"), 2.0, 6, id="rattle-6", marks=pytest.mark.slow
    ),
    pytest.param(
        methods.Composition(methods.Rattle(), "kahan-li8"), 2.0, 8, id="rattle-8", marks=pytest.mark.slow
    ),
]


@pytest.mark.parametrize(("integrator", "mass", "order"), METHODS)
def test_order_on_a_moving_support(integrator, mass, order):
    _, _, (place, velocity) = by_angle(1.0)
    problem, errors = pendulum(mass), []
    # What EnergyMomentum has across the surface alternates.
    holds = not isinstance(integrator, methods.EnergyMomentum)
    for steps in (40, 80) if order <= 4 else (10, 20):
        run = pt.simulate(problem, start(), t1=1.0, dt=1.0 / steps, integrator=integrator, progress=False)
        assert deviation(run, "constraint") < 1e-13
        assert not holds or deviation(run, "constraint rate") < 1e-12
        off = [run.q[-1] - place] + ([0.5 * run.p[-1] - velocity] if holds else [])
        errors.append(np.max(np.abs(off)))
    assert order - 0.3 < np.log2(errors[0] / errors[1]) < order + 0.5


@pytest.mark.slow
def test_support_that_stands_still_is_another_motion():
    """The control; and only there the energy is among what is kept."""
    _, _, (place, _) = by_angle(1.0)
    still = pt.Constrained(
        V=lambda q: 2.0 * GRAVITY * q[1],
        g=lambda q: 0.5 * (jnp.sum((q - support(0.0)) ** 2) - 1.0)[None],
        mass=2.0,
    )
    state = still.consistent(start())
    run = pt.simulate(still, state, t1=1.0, dt=1.0 / 80, integrator=methods.Rattle(), progress=False)
    assert np.max(np.abs(run.q[-1] - place)) > 0.1
    assert "energy" in still.first_integrals(0.0, still.pack(state))
    assert "energy" not in pendulum().first_integrals(0.0, still.pack(state))


def test_multiplier_is_the_tension_and_states_are_projected_onto_the_moving_surface():
    angle, rate, (place, velocity) = by_angle(0.5)
    problem = pendulum()
    y = problem.pack(pt.State(q=place, p=2.0 * velocity))
    rod = np.array([np.sin(angle), -np.cos(angle)])
    tension = 2.0 * (rate**2 + rod @ (np.array([0.0, -GRAVITY]) - shaken(0.5)))
    np.testing.assert_allclose(problem.observables(0.5, y)["multipliers"], [tension], rtol=1e-12)
    drifted = y + jnp.array([1e-3, -2e-3, 3e-3, 1e-3])
    projected = problem.project(0.5, drifted, "both")
    q, p = problem.split(projected)
    assert abs(problem.constraint(0.5, q)[0]) < 1e-15 and abs(problem.constraint(0.0, q)[0]) > 1e-2
    assert abs(problem.constraint_rate(0.5, q, p / 2.0)[0]) < 1e-15
    # Wrong at this time: what a surface at rest would make of the momentum.
    assert abs(jnp.sum((q - support(0.5)) * p)) > 0.1
    off = problem.inconsistency(0.5, projected)
    assert max(float(value) for value in off.values()) < 1e-12


@pytest.mark.slow
def test_solvers_of_the_stabilised_form_take_time():
    pytest.importorskip("sksundae")
    _, _, (place, velocity) = by_angle(1.0)
    run = pt.simulate(
        pendulum(), start(), t1=1.0, integrator=methods.Ida(), rtol=1e-9, atol=1e-9, progress=False
    )
    assert np.max(np.abs(run.q[-1] - place)) < 1e-6
    assert np.max(np.abs(0.5 * run.p[-1] - velocity)) < 1e-6
