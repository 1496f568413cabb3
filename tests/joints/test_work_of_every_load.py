"""The energy balance counts what loads of every kind do, each by itself."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.simulation._body_trajectory import BALANCE

J, L, V = pt.joints, pt.loads, pt.potentials
ERROR = 1e-10
"""Of the balance: ten times what the solver is asked for; energies are of size one to ten."""


def rising(t, s):
    """A force in space."""
    return s * jnp.stack([jnp.sin(t), 1.0 + t, t])


def motor(t, angle, rate, s):
    """A torque of time, angle and rate."""
    return s * (1.0 + angle - 0.3 * rate * t)


def cylinder(position, rate, s):
    """A force of position and rate."""
    return s * (1.5 - position * rate)


def wind(t, x, R, v, Omega, s):
    """Forces that whirl and grow with the speed, and torques against the spin."""
    whirl = jnp.stack([-x[:, 1], x[:, 0], jnp.sin(t) + 0.0 * x[:, 0]], axis=1)
    return s * (whirl - v * jnp.sum(v * v, axis=1, keepdims=True)), -s * Omega


LOADS = {
    "linear-damping": lambda s: L.LinearDamping(0.5 * s, 0.3 * s),
    "force": lambda s: L.Force(rising, point=(0.1, 0.2, 0.3), body="ball", params=3.0 * s),
    "thrust": lambda s: L.thrust(s * np.array([2.0, -1.0, 3.0]), (0.4, 0.0, 0.1), body="rod"),
    "torque": lambda s: L.Torque(s * np.array([0.3, 0.8, -0.2]), body="ball"),
    "damper": lambda s: L.Damper((0.0, 2.0, 0.0), V.Marker("rod", (0.3, 0.0, 0.0)), damping=2.0 * s),
    "joint-torque": lambda s: L.JointTorque("hinge", motor, params=s),
    "joint-force": lambda s: L.JointForce("rail", cylinder, params=s),
    "joint-damper": lambda s: L.JointDamper("hinge", 0.5 * s),
    "function": lambda s: L.Function(wind, params=0.5 * s),
}
SPRINGS = {
    "spring": lambda s: V.Spring((0, 1, 0), V.Marker("rod", (0.3, 0, 0)), stiffness=4 * s, rest_length=0.5),
    "joint-spring": lambda s: V.JointSpring("hinge", 3.0 * s, 0.4),
    "linear-bushing": lambda s: V.LinearBushing(
        V.Marker("rod"), V.Marker("ball"), stiffness=s * np.array([3.0, 5.0, 4.0])
    ),
    "torsional-bushing": lambda s: V.TorsionalBushing(
        V.Marker("rod"), V.Marker("ball"), stiffness=s * np.array([1.0, 2.0, 1.5])
    ),
}
CASES = {name: (name,) for name in LOADS} | {
    "spring-damper": ("spring", "damper"),
    "torsional spring-damper": ("joint-spring", "joint-damper"),
    "bushing": ("linear-bushing", "torsional-bushing", "linear-damping"),
}


def with_only(kinds: tuple[str, ...]) -> pt.System:
    """A rod on a hinge on a cart on a rail, and a ball in the air; other terms have no strength."""
    loads, potentials = (
        [make(jnp.asarray(float(name in kinds))) for name, make in terms.items()]
        for terms in (LOADS, SPRINGS)
    )
    return pt.System(
        [
            pt.RigidBody(2.0, (1.0, 1.0, 1.0), name="cart"),
            pt.RigidBody(1.0, (0.1, 0.2, 0.25), name="rod"),
            pt.RigidBody(1.5, (0.3, 0.4, 0.5), name="ball"),
        ],
        joints=[
            J.Prismatic("ground", "cart", at=(0, 0, 0), axis=(1, 0, 0), name="rail"),
            J.Revolute("cart", "rod", at_first=(0, 0, 0), at_second=(-0.7, 0, 0), name="hinge"),
        ],
        loads=loads,
        potentials=potentials,
    )


def test_every_kind_is_here():
    assert set(LOADS) == {*L.REGISTRY, "function"}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_energy_changes_by_the_work_of_the_load(case):
    """The balance is as exact as the solver; the energy is not constant, nor is it without the springs."""
    system = with_only(CASES[case])
    rough = system.state(
        position=[(0, 0, 0), (0.7, 0, 0), (0.5, 0.4, -0.3)],
        angular_velocity=[(0, 0, 0), (0, 0, 0), (0.6, -0.4, 0.9)],
        velocity=[(0, 0, 0), (0, 0, 0), (0.3, -0.2, 0.5)],
    )
    start = system.assemble(rough, velocity={"rail": 0.5, "hinge": 1.0})
    run: Any = pt.simulate(
        system, start, t1=1.0, coordinates="group", integrator="dormand-prince8", rtol=1e-11, atol=1e-11,
        progress=False,
    )  # fmt: skip
    balance = run.conserved[BALANCE]
    assert np.ptp(balance) < ERROR
    assert np.ptp(run.work) > 0.05 and np.ptp(run.energy) > 0.05
    np.testing.assert_allclose(run.energy - run.energy[0], run.work, atol=ERROR)
    assert run.report()[BALANCE].largest_deviation < ERROR
    stored = [
        float(system.pose_potential(t, x, R))
        for t, x, R in zip(run.t, run.position, run.rotation, strict=True)
    ]
    sprung = any(name in SPRINGS for name in CASES[case])
    assert np.ptp(balance - stored) > 0.05 if sprung else np.ptp(stored) == 0.0
