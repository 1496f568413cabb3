"""Jointed systems beside independent equations of motion: states, orders, joint forces, loops."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from deviations import deviation

G = 9.81
LINKAGE = pt.library.two_body_linkage()


def ran(system, t1, dt=None, integrator: Any = "lie-rattle", start=None, **options):
    start = system.start if start is None else start
    given: Any = {"progress": False} | ({} if dt is None else {"dt": dt}) | options
    return pt.simulate(system, start, t1=t1, coordinates="group", integrator=integrator, **given)


def hat(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def linkage_by_hand(t1: float) -> np.ndarray:
    """Positions of Example C at the end, from all equations and the joint force in one dense system."""
    mass, J, k = (10.0, 20.0), np.diag([41.6, 11.6, 50.0]), 1e4
    arms = np.array([[1.0, 2.0, -3.0], [5.0, -6.0, -7.0]])

    def rates(t, y):
        x, R = y[:6].reshape(2, 3), y[6:24].reshape(2, 3, 3)
        v, w = y[24:30].reshape(2, 3), y[30:].reshape(2, 3)
        M = np.zeros((15, 15))
        b = np.zeros(15)
        for i, sign in enumerate((1.0, -1.0)):
            M[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = mass[i] * np.eye(3)
            M[6 + 3 * i : 9 + 3 * i, 6 + 3 * i : 9 + 3 * i] = J
            across = np.hstack([sign * np.eye(3), -sign * R[i] @ hat(arms[i])])
            columns = [*range(3 * i, 3 * i + 3), *range(6 + 3 * i, 9 + 3 * i)]
            M[12:, columns] = across
            M[np.ix_(columns, range(12, 15))] = across.T
            b[6 + 3 * i : 9 + 3 * i] = -np.cross(w[i], J @ w[i])
            b[12:] -= sign * R[i] @ np.cross(w[i], np.cross(w[i], arms[i]))
        b[:3] = -k * x[0]
        a = np.linalg.solve(M, b)[:12]
        turning = [R[i] @ hat(w[i]) for i in range(2)]
        return np.concatenate([v.ravel(), np.ravel(turning), a])

    start = LINKAGE.start
    R = np.asarray(pt.rotation.to_matrix(start.quaternion))
    y = np.concatenate(
        [np.ravel(part) for part in (start.position, R, start.velocity, start.angular_velocity)]
    )
    end = solve_ivp(rates, (0.0, t1), y, method="DOP853", rtol=1e-13, atol=1e-12).y[:, -1]
    return end[:6].reshape(2, 3)


def test_linkage_of_two_bodies():
    right = linkage_by_hand(0.25)
    adaptive = ran(LINKAGE, 0.25, integrator="dormand-prince8", rtol=1e-12, atol=1e-12)
    assert np.max(np.abs(adaptive.position[-1] - right)) < 1e-8
    errors = [np.max(np.abs(ran(LINKAGE, 0.25, 0.25 / n).position[-1] - right)) for n in (1000, 2000)]
    assert 3.5 < errors[0] / errors[1] < 4.5 and errors[1] < 1e-2
    composed = pt.integrators.Composition(pt.integrators.LieRattle(), "suzuki4")
    fourth = [np.max(np.abs(ran(LINKAGE, 0.25, 0.25 / n, composed).position[-1] - right)) for n in (250, 500)]
    assert 12.0 < fourth[0] / fourth[1] < 20.0


@pytest.mark.slow
def test_energy_and_joint_of_the_linkage_over_many_steps():
    run = ran(LINKAGE, 4.0, 2e-4, save_every=20)
    report = run.report()
    assert deviation(run, "joints") < 1e-12 and deviation(run, "joint rates") < 1e-8
    halves = np.split(run.energy[: len(run) // 2 * 2] - run.energy[0], 2)
    low, high = (np.ptp(half) for half in halves)
    assert high < 2.0 * low, "no trend"
    for momentum in ("L_x", "L_y", "L_z"):
        assert report[momentum].verdict != "drifting"


def test_rod_on_a_hinge_is_a_pendulum_and_its_joint_force_that_of_the_formula():
    """A rod of length 2 on a hinge at its end, let go from the level."""
    rod = pt.RigidBody(3.0, (0.01, 1.0, 1.0), name="rod")
    hinge = pt.joints.Revolute("ground", "rod", at=(-1.0, 0.0, 0.0), axis=(0, 0, 1), name="hinge")
    system = pt.System([rod], joints=[hinge], potentials=[pt.potentials.UniformGravity((0, -G, 0))])
    start = system.state()
    run = ran(system, 1.0, integrator="dormand-prince8", rtol=1e-12, atol=1e-12, start=start)
    end = solve_ivp(
        lambda t, y: [y[1], -3.0 * G * np.cos(y[0]) / 4.0], (0, 1), [0.0, 0.0], rtol=1e-12, atol=1e-13
    ).y[:, -1]
    assert np.max(np.abs(run.position[-1, 0] - [np.cos(end[0]) - 1.0, np.sin(end[0]), 0.0])) < 1e-9
    # At the start the hinge bears a quarter of the weight, m g - m (3/4) g: the force on the rod.
    formulation = pt.formulate(system, "group", "group")
    problem = formulation.problem
    assert isinstance(problem, pt.core.Group)
    forces = problem.joint_forces(0.0, problem.pack(formulation.start(start)))
    np.testing.assert_allclose(forces[0][:3], [0.0, 3.0 * G / 4.0, 0.0], atol=1e-8)


def test_wheel_on_an_axle_through_the_origin_turns_on():
    """Nothing moves from the origin and nothing acts: no position or force says how large the system is."""
    wheel = pt.RigidBody(0.2, (1e-3, 2e-3, 1e-3), name="wheel")
    axle = pt.joints.Revolute("ground", "wheel", at=(0.0, 0.0, 0.0), axis=(0.6, 0.0, 0.8), name="axle")
    system = pt.System([wheel], joints=[axle])
    run: Any = ran(system, 0.1, 1e-3, start=system.state(angular_velocity=[(36.0, 0.0, 48.0)]))
    assert run.result.ok
    np.testing.assert_allclose(run.joint("axle").angle, 60.0 * run.t, atol=1e-12)


@pytest.mark.slow
def test_parallelogram_passes_its_level_positions_at_order_two():
    """IFToMM A02: redundant conditions throughout, and a rank that drops whenever the bars are level."""
    bars = pt.library.parallelogram()
    angle = solve_ivp(
        lambda t, y: [y[1], -1.2 * G * np.cos(y[0])], (0, 10), [np.pi / 2, -1.0],
        method="DOP853", rtol=1e-13, atol=1e-13,
    ).y[0, -1]  # fmt: skip
    errors = []
    for dt in (1e-3, 5e-4, 2.5e-4):
        run = ran(bars, 10.0, dt, save_every=round(0.01 / dt))
        assert run.result.ok and np.min(np.abs(run.rotation[:, 0, 1, 0])) < 0.01, "level on its way"
        assert deviation(run, "joints") < 1e-13
        tip = run.position[-1, bars.index("level0")] - [0.5, 0.0, 0.0]
        errors.append(np.max(np.abs(tip - [np.cos(angle), np.sin(angle), 0.0])))
    assert errors[0] < 2.5e-5
    assert all(3.6 < a / b < 4.4 for a, b in zip(errors, errors[1:], strict=False))


@pytest.mark.slow
def test_rods_on_ball_joints_conserve_what_they_should():
    rods = pt.library.rod_pendulum(5)
    coarse, fine = (ran(rods, 2.0, dt, save_every=round(0.02 / dt)) for dt in (2e-3, 1e-3))
    report = fine.report()
    names = [row.name for row in report.rows]
    assert "L_z" in names and "L_x" not in names and "p_x" not in names, "held by the ground"
    assert deviation(fine, "joints") < 1e-13
    assert report["L_z"].verdict == "exact to round-off"
    assert 3.5 < np.ptp(coarse.energy) / np.ptp(fine.energy) < 4.5


@pytest.mark.slow
def test_a_free_ring_keeps_its_momenta_though_conditions_are_redundant():
    """Four bars hinged to a ring that flies and turns: forces without effect must not grow."""
    bars = [pt.RigidBody(1.0, (0.01, 0.1, 0.1), name=f"bar{i}") for i in range(4)]
    hinges = [
        pt.joints.Revolute(f"bar{i}", f"bar{(i + 1) % 4}", at_first=(0.5, 0, 0), at_second=(-0.5, 0, 0))
        for i in range(4)
    ]
    ring = pt.System(bars, joints=hinges)
    draw = np.random.default_rng(1)
    start = ring.assemble(
        ring.state(
            position=[(0.5, 0, 0), (1, 0.5, 0), (0.5, 1, 0), (0, 0.5, 0)],
            rotation=np.stack([pt.rotation.about_z(0.5 * np.pi * i) for i in range(4)]),
            velocity=draw.standard_normal((4, 3)),
            angular_velocity=draw.standard_normal((4, 3)),
        )
    )
    run = ran(ring, 20.0, 0.02, start=start)
    assert deviation(run, "joints") < 1e-13 and deviation(run, "joint rates") < 1e-12
    for momentum in ("p_x", "p_y", "p_z", "L_x", "L_y", "L_z"):
        assert deviation(run, momentum) < 1e-12, momentum
    assert deviation(run, "energy") < 1e-5
