"""Torques, forces, springs and dampers in joints: against equations by hand, and in the balance of energy."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.simulation._body_trajectory import BALANCE

J, L, V = pt.joints, pt.loads, pt.potentials
G = 9.81
TIGHT: Any = {"integrator": "dormand-prince8", "rtol": 1e-11, "atol": 1e-11, "coordinates": "group"}


@cache
def cart() -> pt.System:
    """A rod on a hinge on a cart: a motor torque, a hinge spring and dampers, a rail with a force."""
    bodies = [
        pt.RigidBody(2.0, (1.0, 1.0, 1.0), name="cart"),
        pt.RigidBody(1.0, (0.01, 0.2, 0.2), name="rod"),
    ]
    joints = [
        J.Prismatic("ground", "cart", at=(0, 0, 0), axis=(1, 0, 0), name="rail"),
        J.Revolute("rod", "cart", at_first=(-0.7, 0, 0), at_second=(0, 0, 0), axis=(0, 0, 1), name="hinge"),
    ]
    loads = [
        L.JointTorque(
            "hinge", lambda t, angle, rate, k: k["a"] * np.cos(2.0) * angle - 0.3 * rate - k["b"] * t
        ),
        L.JointForce("rail", lambda t, position, rate: 1.5 - 0.4 * position * rate),
        L.JointDamper("rail", 0.25),
        L.JointDamper("hinge", 0.15),
        L.Damper((0.0, 2.0, 0.0), V.Marker("rod", (0.3, 0.0, 0.0)), damping=0.6),
    ]
    springs = [V.UniformGravity((0, -G, 0)), V.JointSpring("hinge", 1.2, 0.4), V.JointSpring("rail", 0.8)]
    numbers = {"a": 0.5, "b": 0.2}
    return pt.System(bodies, joints=joints, potentials=springs, loads=loads, params=numbers, name="cart")


@cache
def ran() -> Any:
    start = cart().state(position=[(0, 0, 0), (0.7, 0, 0)])
    return pt.simulate(cart(), start, t1=1.0, progress=False, **TIGHT)


def by_hand(t1: float) -> np.ndarray:
    """Position of the cart and angle of the rod, with their rates: two equations of Lagrange."""
    m, M, a, inertia = 1.0, 2.0, 0.7, 0.2

    def rates(t, y):
        s, th, ds, dth = y
        c = -th  # The hinge counts from the rod to the cart.
        torque = 0.5 * np.cos(2.0) * c - 0.3 * -dth - 0.2 * t - 0.15 * -dth - 1.2 * (c - 0.4)
        force = 1.5 - 0.4 * s * ds - 0.25 * ds - 0.8 * s
        along, across = np.array([np.cos(th), np.sin(th)]), np.array([-np.sin(th), np.cos(th)])
        point = np.array([s, 0.0]) + (a + 0.3) * along
        line = (point - [0.0, 2.0]) / np.linalg.norm(point - [0.0, 2.0])
        drag = -0.6 * line * (line @ (np.array([ds, 0.0]) + (a + 0.3) * dth * across))
        mass = np.array([[M + m, -m * a * np.sin(th)], [-m * a * np.sin(th), inertia + m * a**2]])
        right = np.array([
            force + m * a * np.cos(th) * dth**2 + drag[0],
            -torque - m * G * a * np.cos(th) + (a + 0.3) * (drag @ across),
        ])  # fmt: skip
        return [ds, dth, *np.linalg.solve(mass, right)]

    return solve_ivp(rates, (0, t1), np.zeros(4), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


@pytest.mark.slow
def test_motion_beside_equations_by_hand():
    run = ran()
    rail, hinge = run.joint("rail"), run.joint("hinge")
    found = [rail.position[-1], -hinge.angle[-1], rail.rate[-1], -hinge.rate[-1]]
    np.testing.assert_allclose(found, by_hand(1.0), atol=1e-8)


@pytest.mark.slow
def test_energy_balance_counts_what_loads_do():
    run = ran()
    balance = run.conserved[BALANCE]
    assert np.ptp(run.energy) > 0.5 and np.ptp(balance) < 1e-7


def test_springs_in_joints_conserve_the_energy():
    """Without loads: a potential, so that a symplectic method keeps its energy bounded."""
    rod = pt.RigidBody(1.0, (0.01, 0.2, 0.2), name="rod")
    pin = J.Revolute("ground", "rod", at_first=(0, 0, 0), at_second=(-0.5, 0, 0), name="pin")
    system = pt.System([rod], joints=[pin], potentials=[V.JointSpring("pin", 3.0, 0.5)])
    run: Any = pt.simulate(
        system, system.state(position=(0.5, 0, 0)), t1=20.0, dt=0.02, integrator="lie-rattle",
        coordinates="group", progress=False,
    )  # fmt: skip
    # A torsional pendulum about 0.5 with frequency sqrt(3 / 0.45).
    angle = run.joint("pin").angle
    np.testing.assert_allclose(angle, 0.5 - 0.5 * np.cos(np.sqrt(3 / 0.45) * run.t), atol=5e-3)
    assert np.ptp(run.energy) < 0.02**2 * 3 / 0.45 * run.energy[0], "of second order"
    halves = np.split(run.energy[1:], 2)
    assert abs(np.mean(halves[1]) - np.mean(halves[0])) < 0.02 * np.ptp(run.energy), "no trend"


BAD = {
    "loads[0] JointTorque is about joint 'motr', which is none; there are rail, hinge": L.JointTorque(
        "motr", 1.0
    ),
    "Prismatic joint 'rail' of ground and cart, which has no angle; take JointForce": L.JointTorque(
        "rail", 1.0
    ),
    "coordinate = 'angle'; Prismatic joint 'rail' of ground and cart has the way position": L.JointForce(
        "rail", 1.0, "angle"
    ),
}


@pytest.mark.parametrize("line", BAD)
def test_one_clear_line(line):
    system = cart()
    with pytest.raises(pt.InputError) as caught:
        system.with_terms(loads=[BAD[line]])
    assert line in str(caught.value) and "\n" not in str(caught.value)
