"""Steps with joints and loads that depend on velocities: order, symmetry, derivatives, singular places."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as pt
from poinsot.kernels import once

G = 9.81
TORQUE, DAMPING = 2.0, 0.4


def motor(t, angle, rate, damping):
    """A torque that falls with the rate."""
    return TORQUE - damping * rate


def rod() -> Any:
    """A rod on a hinge at its end, under its weight and a motor: velocities of the two are not alike."""
    body = pt.RigidBody(1.0, (0.01, 0.2, 0.2), name="rod")
    pin = pt.joints.Revolute("ground", "rod", at_first=(0, 0, 0), at_second=(-0.5, 0, 0), name="pin")
    torque = pt.loads.JointTorque("pin", motor, params=jnp.asarray(DAMPING))
    weight = pt.potentials.UniformGravity((0.0, -G, 0.0))
    system = pt.System([body], joints=[pin], loads=[torque], potentials=[weight])
    return system.recommending(system.assemble(velocity={"pin": 2.0}), 0.01)


def ran(system: Any, start: pt.State, t1: float, **options) -> Any:
    return pt.simulate(system, start, t1=t1, coordinates="group", progress=False, **options)


def orders(system: Any, t1: float, method: Any, steps: tuple[int, int], exact) -> float:
    """Power of the step by which the error of the positions falls."""
    errors = [
        np.max(np.abs(ran(system, system.start, t1, dt=t1 / n, integrator=method).position[-1] - exact))
        for n in steps
    ]
    return float(np.log2(errors[0] / errors[1]) / np.log2(steps[1] / steps[0]))


def test_a_motor_that_slows_down_leaves_the_step_of_order_two():
    def rates(t, y):
        return [y[1], (TORQUE - DAMPING * y[1] - 0.5 * G * np.cos(y[0])) / 0.45]

    angle = solve_ivp(rates, (0.0, 1.0), [0.0, 2.0], method="DOP853", rtol=1e-12, atol=1e-12).y[0, -1]
    system = rod()
    exact = 0.5 * np.array([np.cos(angle), np.sin(angle), 0.0])
    assert orders(system, 1.0, "lie-rattle", (50, 100), exact) == pytest.approx(2.0, abs=0.1)


@once
def stepped(problem, y, h):
    method = pt.integrators.LieRattle()
    return method.step(problem, 0.0, h, y, method.init(problem, 0.0, h, y))[0]


def test_a_step_back_undoes_a_step():
    system = rod()
    formulation = pt.formulate(system, "group", "group")
    problem: Any = formulation.problem
    y = problem.pack(formulation.start(system.start))
    ahead = stepped(problem, y, 0.05)
    assert np.max(np.abs(ahead - y)) > 0.01
    np.testing.assert_allclose(stepped(problem, ahead, -0.05), y, rtol=0, atol=1e-14)


def damped_bars() -> Any:
    """A four-bar of hinges in space, with conditions to spare, dampers in hinges and one between points."""
    return pt.library.four_bar().with_terms(
        loads=[
            pt.loads.JointDamper("B", 1.5),
            pt.loads.JointTorque("A", motor, params=jnp.asarray(0.8)),
            pt.loads.Damper((3.0, 1.0, 0.0), pt.potentials.Marker("coupler", (0.4, 0.0, 0.0)), damping=2.0),
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "order", "steps"),
    [(None, 2, (250, 500)), ("suzuki4", 4, (100, 200))],
    ids=["plain", "composed"],
)
def test_dampers_in_a_loop_leave_the_order(scheme, order, steps):
    system = damped_bars()
    tight: Any = {"integrator": "dormand-prince8", "rtol": 1e-12, "atol": 1e-12}
    exact = ran(system, system.start, 1.0, **tight).position[-1]
    plain = ran(pt.library.four_bar(), system.start, 1.0, **tight).position[-1]
    assert np.max(np.abs(plain - exact)) > 0.1, "the dampers matter"
    method: Any = pt.integrators.LieRattle()
    method = method if scheme is None else pt.integrators.Composition(method, scheme)
    assert orders(system, 1.0, method, steps, exact) == pytest.approx(order, abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("make", [rod, damped_bars], ids=["rod", "loop"])
def test_derivatives_of_steps_with_loads(make):
    """In a factor of the first momenta and in the step, beside differences."""
    system = make()
    formulation = pt.formulate(system, "group", "group")
    problem: Any = formulation.problem
    start = formulation.start(system.start)
    weights = jnp.asarray(np.random.default_rng(3).standard_normal(start.x.shape))

    @jax.jit
    def end(given):
        size, dt = given
        state = pt.State(x=start.x, p=size * start.p, g=start.g, m=size * start.m)
        run = pt.solve(problem, pt.integrators.LieRattle(), state, dt=dt, steps=3, save_every=3)
        return jnp.sum(weights * run.state.x[-1])

    at = jnp.array([1.0, 0.02])
    slopes = jax.grad(end)(at)
    for k, h in enumerate((1e-5, 1e-6)):
        shift = h * np.eye(2)[k]
        difference = float(end(at + shift) - end(at - shift)) / (2 * h)
        assert abs(difference) > 1e-3
        assert float(slopes[k]) == pytest.approx(difference, rel=1e-6)


@pytest.mark.slow
def test_a_damped_loop_passes_its_level_positions():
    """Where forces along the bars grow beyond bounds: loads must not see their round-off."""
    bars = pt.library.parallelogram().with_terms(
        loads=[pt.loads.JointDamper("A0", 0.02), pt.loads.JointTorque("A1", motor, params=jnp.asarray(0.1))]
    )
    formulation = pt.formulate(bars, "group", "group")
    speeds = np.linspace(0.3, 2.0, 8)
    starts = [formulation.start(pt.library.parallelogram(speed).start) for speed in speeds]
    together = jax.tree.map(lambda *parts: np.stack(parts), *starts)
    for dt, steps in ((1e-2, 600), (1e-3, 4000)):
        runs = pt.ensemble(
            formulation.problem, "lie-rattle", together, dt=dt, steps=steps, save_every=steps, progress=False
        )
        assert np.all(np.asarray(runs.result) == 0)
