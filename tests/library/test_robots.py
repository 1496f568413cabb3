"""Robots of the library: a cart with a pole beside its equations, arms at rest and in long runs."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.analysis._symplecticity import step_derivative
from poinsot.integrators import RK4, GaussLegendre
from quickly import QUICK


@eqx.filter_jit(**QUICK)
def _falling(chain: pt.OpenChain, q, v, tau, frame: str):
    return chain.forward_dynamics(q, v, tau), chain.pose(q, frame), chain.gravity(q)


def test_the_cart_pole_moves_as_its_equations_say():
    M, m, length = 1.3, 0.4, 0.9
    x, angle, rate, push = 0.2, 0.7, 1.4, 2.0
    chain = pt.OpenChain(pt.library.cart_pole(M, m, length))
    q, v = chain.coordinates({"rails": x, "hinge": angle}), chain.rates({"rails": 0.3, "hinge": rate})
    found, (tip, _), _ = _falling(chain, q, v, jnp.array([push, 0.0]), "tip")
    half = 0.5 * length
    matrix = [[M + m, m * half * np.cos(angle)], [m * half * np.cos(angle), 4.0 / 3.0 * m * half**2]]
    forces = [push + m * half * rate**2 * np.sin(angle), m * 9.81 * half * np.sin(angle)]
    np.testing.assert_allclose(found, np.linalg.solve(matrix, forces), rtol=1e-13)
    np.testing.assert_allclose(tip, [x + length * np.sin(angle), 0.0, length * np.cos(angle)], atol=1e-14)


@pytest.mark.slow
def test_arms_are_in_balance_where_they_should_be():
    arm = pt.OpenChain(pt.library.seven_axis_arm())
    rest, (hand, _), torque = _falling(arm, np.zeros(7), np.zeros(7), np.zeros(7), "hand")
    np.testing.assert_allclose(hand, [0.0, 0.0, 1.41], atol=1e-14)
    assert np.max(np.abs(rest)) < 1e-12 and np.max(np.abs(torque)) < 1e-12
    *_, bent = _falling(arm, np.full(7, 0.3), np.zeros(7), np.zeros(7), "hand")
    assert np.max(np.abs(bent)) > 10.0
    scara = pt.OpenChain(pt.library.scara())
    q = scara.coordinates({"shoulder": 0.5 * np.pi, "elbow": 0.5 * np.pi, "quill": (-0.1, 0.3)})
    _, (tool, _), slopes = _falling(scara, q, np.zeros(4), np.zeros(4), "tool")
    np.testing.assert_allclose(tool, [-0.25, 0.35, 0.25], atol=1e-14)
    np.testing.assert_allclose(slopes, [0.0, 0.0, -20.0, 0.0], atol=1e-12)


def test_the_two_link_arm_has_the_metric_of_the_textbooks():
    m1, m2, l1, l2 = 1.3, 0.7, 0.9, 0.6
    chain = pt.OpenChain(pt.library.two_link_arm(m1, m2, l1, l2))
    metric, weight, (hand, _) = _metric(chain, np.array([0.4, 1.1]), "hand")
    cosine = np.cos(1.1)
    a12 = m2 * (l2**2 / 3.0 + 0.5 * l1 * l2 * cosine)
    a11 = m1 * l1**2 / 3.0 + m2 * (l1**2 + l2**2 / 3.0 + l1 * l2 * cosine)
    np.testing.assert_allclose(metric, [[a11, a12], [a12, m2 * l2**2 / 3.0]], rtol=1e-13)
    lower = 9.81 * m2 * 0.5 * l2 * np.cos(1.5)
    np.testing.assert_allclose(weight, [lower + 9.81 * (0.5 * m1 + m2) * l1 * np.cos(0.4), lower], rtol=1e-13)
    np.testing.assert_allclose(
        hand, [l1 * np.cos(0.4) + l2 * np.cos(1.5), l1 * np.sin(0.4) + l2 * np.sin(1.5), 0.0], atol=1e-14
    )


@eqx.filter_jit(**QUICK)
def _metric(chain: pt.OpenChain, q, frame: str):
    return chain.metric(q), chain.gravity(q), chain.pose(q, frame)


def test_the_double_pendulum_hangs_and_starts_where_it_is_told():
    hanging = pt.OpenChain(pt.library.double_pendulum(angles=(0.0, 0.0)))
    _, weight, (tip, _) = _metric(hanging, np.array([-0.5 * np.pi, 0.0]), "tip")
    np.testing.assert_allclose(tip, [0.0, -2.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(weight, 0.0, atol=1e-14)
    raised = pt.library.double_pendulum(angles=(0.5 * np.pi, 0.0))
    np.testing.assert_allclose(raised.start.position, [[0.5, 0, 0], [1.5, 0, 0]], atol=1e-15)


@eqx.filter_jit(**QUICK)
def _dropped(chain: pt.OpenChain, state, t, frame: str):
    q, v = chain.of_state(state)
    mass = chain.system.body_masses[:, None]
    still = jnp.zeros_like(v)
    falling = chain.forward_dynamics(q, still)
    rates = chain.acceleration(q, still, falling, frame)
    centre = jnp.sum(mass * state.position, axis=0) / jnp.sum(mass)
    return chain.pose(q, frame)[0], falling, rates, centre, jnp.sum(mass)


@pytest.mark.slow
def test_the_quadruped_falls_as_one_body_when_it_is_still():
    robot = pt.library.quadruped()
    chain = pt.OpenChain(robot)
    assert (chain.q_size, chain.v_size, len(robot.names)) == (19, 18, 13)
    place, falling, rates, centre, mass = _dropped(chain, robot.start, 0.0, "front_left_foot")
    # Thigh 45 degrees ahead, shank 45 degrees back: the foot is below the thigh's hinge.
    np.testing.assert_allclose(place, [0.2, 0.16, -0.2 * np.sqrt(2.0)], atol=1e-14)
    assert abs(mass - (8.0 + 4.0 * 1.6)) < 1e-14
    np.testing.assert_allclose(falling, [0.0, 0.0, -9.81, *np.zeros(15)], atol=1e-10)
    np.testing.assert_allclose(rates, [0.0, 0.0, -9.81, 0.0, 0.0, 0.0], atol=1e-10)
    np.testing.assert_allclose(centre[:2], 0.0, atol=0.05)


@pytest.mark.slow
def test_the_quadruped_kicks_and_keeps_its_momenta():
    robot = pt.library.quadruped()
    run: Any = pt.simulate(
        robot,
        robot.start,
        t1=0.5,
        dt=1e-3,
        save_every=50,
        coordinates="joint",
        form="hamiltonian",
        integrator=GaussLegendre(2),
        progress=False,
    )
    mass = 14.4
    drop = run.linear_momentum - run.linear_momentum[0] - mass * run.t[:, None] * np.array([[0, 0, -9.81]])
    assert np.max(np.abs(drop)) < 1e-10
    assert np.max(np.abs(run.energy - run.energy[0])) < 1e-8
    assert np.max(np.abs(np.linalg.norm(run.q[:, 3:7], axis=1) - 1.0)) < 1e-14


def swung(start: pt.State, t1: float, dt: float, every: int, integrator: Any) -> Any:
    """A free motion of the arm with seven axes."""
    grid: Any = {"t1": t1, "dt": dt, "save_every": every, "progress": False}
    return pt.simulate(
        pt.library.seven_axis_arm(),
        start,
        coordinates="joint",
        form="hamiltonian",
        integrator=integrator,
        **grid,
    )


def off(run: Any) -> np.ndarray:
    """Change of the energy over the largest kinetic energy, which no zero of the potential moves."""
    masses = np.array([float(body.mass) for body in pt.library.seven_axis_arm().bodies])
    potential = 9.81 * np.sum(masses * np.asarray(run.position)[..., 2], axis=1)
    kinetic = np.asarray(run.energy) - potential
    assert np.min(kinetic) > -1e-12
    return (np.asarray(run.energy) - run.energy[0]) / np.max(kinetic)


HANGING: Any = {"axis2": np.pi - 0.4, "axis4": 0.3, "axis6": 0.2}
TWISTED: Any = {"axis2": np.pi - 0.2, "axis3": 0.1, "axis4": 0.2, "axis5": -0.1, "axis6": 0.2}


@pytest.mark.slow
def test_the_energy_of_an_arm_swinging_in_a_plane_has_no_trend():
    start = pt.library.seven_axis_arm().joint_state(HANGING)
    run = swung(start, 100.0, 1e-3, 100, GaussLegendre(2))
    change = np.abs(off(run))
    assert np.max(change) < 1e-9
    tenths = [np.max(part) for part in np.array_split(change[1:], 10)]
    assert max(tenths[5:]) < 1.5 * max(tenths[:5])
    assert run.report()["energy"].verdict == "bounded"
    worse = swung(start, 100.0, 1e-3, 100, RK4())
    assert worse.report()["energy"].verdict == "drifting"


@pytest.mark.slow
def test_the_energy_of_an_arm_that_twists_has_no_trend_either():
    """All axes turn, some at thirty radians a second: the error is larger than in a plane, and stays."""
    start = pt.library.seven_axis_arm().joint_state(TWISTED, rates={"axis7": 0.1})

    def trend(integrator: Any) -> float:
        run = swung(start, 100.0, 1e-3, 50, integrator)
        assert np.min(np.ptp(run.q, axis=0)) > 0.3
        change = off(run)
        assert np.max(np.abs(change)) < 1e-7
        return float(abs(np.polyfit(run.t, change, 1)[0]) * 100.0)

    assert trend(GaussLegendre(2)) < 1e-9
    assert trend(RK4()) > 1e-8


@pytest.mark.slow
def test_the_energy_of_a_thrown_arm_is_of_fourth_order():
    start = pt.library.seven_axis_arm().start
    errors = [
        np.max(np.abs(off(swung(start, 1.0, dt, round(1e-2 / dt), GaussLegendre(2))))) for dt in (1e-3, 5e-4)
    ]
    assert 14.0 < errors[0] / errors[1] < 18.0


@pytest.mark.slow
def test_a_step_of_the_arm_is_symplectic():
    """The defect itself, without a scale, in coordinates and canonical momenta of all seven joints."""
    arm = pt.library.seven_axis_arm()
    formulation = pt.formulate(arm, "joint", "hamiltonian")
    problem: Any = formulation.problem
    chain = pt.OpenChain(arm)
    y = problem.pack(formulation.start(chain.state(*chain.random(jax.random.key(3)))))
    omega = np.kron([[0.0, 1.0], [-1.0, 0.0]], np.eye(7))

    def defect(integrator: Any) -> float:
        D, result = step_derivative(problem, integrator, jnp.zeros(()), jnp.asarray(0.02), y)
        assert int(result) == 0
        return float(np.max(np.abs(D.T @ omega @ D - omega)))

    assert defect(GaussLegendre(2)) < 1e-12
    assert defect(RK4()) > 1e-6


def untracked(loop: pt.control.ComputedTorque, dt: float) -> float:
    """How far the arm with seven axes comes off the reference of its controller within a second."""
    arm = pt.library.seven_axis_arm()
    run: Any = pt.simulate(
        arm,
        arm.joint_state(),
        t1=1.0,
        dt=dt,
        control=loop,
        coordinates="joint",
        form="recursive",
        integrator="rk4",
        progress=False,
    )
    return float(np.max(np.abs(run.q - np.asarray(jax.vmap(loop.reference)(run.t)[0]))))


@pytest.mark.slow
def test_computed_torque_tracks_a_quintic_with_all_seven_axes():
    path = pt.control.quintic(np.zeros(7), [0.8, -0.5, 0.4, 1.1, -0.7, 0.6, 1.5], 1.0)
    loop = pt.control.ComputedTorque(pt.library.seven_axis_arm(), kp=25.0, kd=10.0, reference=path)
    errors = [untracked(loop, dt) for dt in (0.05, 0.025, 0.0125)]
    assert errors[0] > 1e-8
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 4.0, atol=0.3)
    heavier = pt.library.seven_axis_arm().with_terms([pt.potentials.UniformGravity((0, 0, -1.0))])
    wrong = pt.control.ComputedTorque(heavier, kp=25.0, kd=10.0, reference=path)
    assert untracked(wrong, 0.0125) > 1e-3, "a model that is wrong shows"
