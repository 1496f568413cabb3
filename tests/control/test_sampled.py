"""Sampled controllers: forces that are held exactly, periods that do not fit, energy balance, gradients."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt

DT, PERIOD = 0.01, 0.05
ANYTHING: Any = 3.0
NAMES = ("shoulder", "elbow")


@cache
def chain() -> pt.OpenChain:
    return pt.OpenChain(pt.library.two_link_arm())


@cache
def law() -> pt.control.PDGravity:
    return pt.control.PDGravity(chain(), kp=(12.0, 3.0), kd=(3.0, 0.5), reference=[0.7, -0.4])


def run(period: float = PERIOD, dt: float | None = DT, **choices: Any) -> Any:
    given = {"integrator": "rk4", "coordinates": "joint", "form": "recursive", "t1": 0.5} | choices
    return pt.simulate(
        chain().system,
        chain().system.start,
        dt=dt,
        control=pt.control.Sampled(law(), period),
        progress=False,
        **given,
    )


def by_hand() -> tuple[np.ndarray, np.ndarray]:
    """States and forces of runs of one period each, with constant torques in the joints."""
    state, rows, forces = chain().system.start, [np.zeros((1, 4))], []
    for k in range(10):
        q, v = chain().of_state(state)
        forces.append(np.asarray(law().efforts(k * PERIOD, q, v)))
        torques = [pt.loads.JointTorque(name, one) for name, one in zip(NAMES, forces[-1], strict=True)]
        part: Any = pt.simulate(
            chain().system.with_terms(loads=torques),
            state,
            t1=PERIOD,
            dt=DT,
            integrator="rk4",
            coordinates="joint",
            form="recursive",
            progress=False,
        )
        rows.append(np.concatenate([part.q, part.v], axis=1)[1:])
        state = part.final
    return np.concatenate(rows), np.array(forces)


@pytest.mark.slow
def test_forces_are_held_exactly_between_samples():
    whole = run()
    efforts = whole.efforts()
    rows, forces = by_hand()
    np.testing.assert_allclose(np.concatenate([whole.q, whole.v], axis=1), rows, rtol=0, atol=1e-12)
    np.testing.assert_allclose(efforts[::5][:10], forces, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(efforts[:50], np.repeat(efforts[:50:5], 5, axis=0))
    assert np.max(np.abs(np.diff(efforts[:50:5], axis=0))) > 0.1
    assert whole.attributes["kernel"] == "native"


def test_states_between_steps_and_the_balance_of_energy():
    whole = run()
    between = run(save_at=[0.012, 0.05, 0.117, 0.3])
    fine = run(dt=0.001)
    np.testing.assert_allclose(between.q[1], fine.q[12], atol=1e-7)
    np.testing.assert_allclose(between.q[3], fine.q[117], atol=1e-7)
    for one in (whole, between, fine):
        balance = one.energy - one.work
        assert np.max(np.abs(balance - balance[0])) < (1e-10 if one is fine else 1e-6)
    assert abs(whole.work[-1]) > 1.0
    np.testing.assert_allclose(between.work[-1], whole.work[30], atol=1e-9)


@pytest.mark.slow
def test_a_short_period_comes_near_to_no_sampling():
    continuous = pt.simulate(
        chain().system,
        chain().system.start,
        t1=0.5,
        dt=DT,
        control=law(),
        coordinates="joint",
        integrator="rk4",
    )
    gaps = [np.max(np.abs(run(period, dt=2.5e-3).q[-1] - continuous.q[-1])) for period in (0.02, 0.01)]
    assert gaps[0] > 1e-3
    assert 1.6 < gaps[0] / gaps[1] < 2.4


@pytest.mark.slow
@pytest.mark.parametrize("coordinates", ["joint", "group"])
def test_other_forms_hold_the_same_forces(coordinates):
    given = {"coordinates": coordinates, "form": None}
    ours = run(dt=2.5e-3, **given, integrator="gauss4" if coordinates == "joint" else "rk4")
    np.testing.assert_allclose(ours.position, run(dt=2.5e-3).position, rtol=0, atol=1e-6)


@pytest.mark.slow
def test_gradients_go_through_samples():
    def end(gain):
        loop = pt.control.Sampled(pt.control.PDGravity(chain(), gain, 4.0, jnp.array([0.7, -0.4])), PERIOD)
        grid: Any = {"dt": DT, "steps": 20, "save_every": 20, "coordinates": "joint", "form": "recursive"}
        return pt.solve(chain().system, "rk4", chain().system.start, control=loop, **grid).position[-1, 1, 0]

    slope = jax.jit(jax.grad(end))(20.0)
    values = jax.jit(end)
    assert abs(slope - (values(20.01) - values(19.99)) / 0.02) < 1e-6 * abs(slope)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: run(period=0.025),
            r"0.025 of Sampled is 2.5 steps of dt = 0.01; .* take dt = 0.0125",
        ),
        (lambda: run(period=0.004), "is 0.4 steps of dt"),
        (lambda: run(period=-1.0), "period of Sampled = -1.0; it must be positive"),
        (lambda: run(dt=None, integrator="dormand-prince853"), "control is sampled, which takes fixed steps"),
        (lambda: pt.control.Sampled(ANYTHING, 0.1), "law of Sampled"),
        (
            lambda: chain().system.with_terms(loads=[pt.control.Sampled(law(), 0.1)]),
            r"loads\[0\] = Sampled.*; it must be one of pt.loads",
        ),
    ],
)
def test_what_is_refused(call, said):
    with pytest.raises(pt.InputError, match=said):
        call()
