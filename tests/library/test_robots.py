"""Robots of the library: a cart with a pole beside its equations, arms at rest and in long runs."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.integrators import GaussLegendre

QUICK: Any = {"compiler_options": {"xla_backend_optimization_level": 0}}


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


def swung(start: pt.State, t1: float, dt: float, steps: int) -> np.ndarray:
    """Change of the energy of the arm with seven axes in a free motion."""
    run = pt.simulate(
        pt.library.seven_axis_arm(),
        start,
        t1=t1,
        dt=dt,
        coordinates="joint",
        form="hamiltonian",
        integrator=GaussLegendre(2),
        save_every=steps,
        progress=False,
    )
    return np.asarray(run.energy) - run.energy[0]


@pytest.mark.slow
def test_the_energy_of_a_swinging_arm_has_no_trend():
    arm = pt.library.seven_axis_arm()
    hanging = arm.joint_state({"axis2": np.pi - 0.4, "axis4": 0.3, "axis6": 0.2})
    change = swung(hanging, 100.0, 1e-3, 100)
    assert np.max(np.abs(change)) < 1e-9
    tenths = [np.max(np.abs(part)) for part in np.array_split(change[1:], 10)]
    assert max(tenths[5:]) < 3.0 * max(tenths[:5])


@pytest.mark.slow
def test_the_energy_of_a_thrown_arm_is_of_fourth_order():
    start = pt.library.seven_axis_arm().start
    errors = [np.max(np.abs(swung(start, 1.0, dt, round(1e-2 / dt)))) for dt in (1e-3, 5e-4)]
    assert 14.0 < errors[0] / errors[1] < 18.0
