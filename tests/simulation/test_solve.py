"""The pure solver: batches, derivatives, failures in lanes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from quickly import quickly

GAUSS = pt.integrators.GaussLegendre(3)


def oscillator(t, q, p, params):
    return 0.5 * p @ p + 0.5 * params * q @ q


PROBLEM = pt.Hamiltonian(oscillator, params=1.0)
START = pt.State(q=[1.0, 0.2], p=[0.3, -0.5])


def final(problem, start, dt=0.1, steps=20):
    return pt.solve(problem, GAUSS, start, dt=dt, steps=steps).q[-1]


def test_equals_simulate():
    solution = pt.solve(PROBLEM, GAUSS, START, dt=0.1, steps=40, save_every=4)
    trajectory = pt.simulate(PROBLEM, START, t1=4.0, dt=0.1, integrator=GAUSS, save_every=4)
    np.testing.assert_allclose(solution.q, trajectory.q, atol=1e-15)
    np.testing.assert_array_equal(solution.t, trajectory.t)
    assert int(solution.result) == 0 and int(solution.steps) == 40


def test_derivatives_against_finite_differences():
    def by_params(k):
        return final(PROBLEM.with_params(k), START)

    def by_start(q0):
        return final(PROBLEM, pt.State(q=jnp.stack([q0, jnp.asarray(0.2)]), p=START.p))

    def by_step(dt):
        return final(PROBLEM, START, dt=dt)

    for function, at in ((by_params, 1.3), (by_start, 1.0), (by_step, 0.1)):
        x, eps = jnp.asarray(at), 1e-5
        numeric = (function(x + eps) - function(x - eps)) / (2 * eps)
        np.testing.assert_allclose(quickly(jax.jacfwd(function))(x), numeric, rtol=1e-7)
        np.testing.assert_allclose(quickly(jax.jacrev(function))(x), numeric, rtol=1e-7)


def test_a_failing_lane_leaves_the_others_alone():
    blow_up = pt.ODE(lambda y: y**2)
    rk4 = pt.integrators.RK4()

    def one(y0):
        return pt.solve(blow_up, rk4, pt.State(y=y0[None]), dt=0.1, steps=20)

    batch = jax.vmap(one)(jnp.array([0.1, 50.0, 0.2]))
    assert batch.result.tolist() == [0, int(pt.Result.non_finite), 0]
    assert np.isnan(batch.y[1, -1, 0]) and int(batch.steps[1]) < 20
    for lane, y0 in ((0, 0.1), (2, 0.2)):
        np.testing.assert_allclose(batch.y[lane], one(jnp.asarray(y0)).y, rtol=4e-16)


def test_save_every_must_divide():
    with pytest.raises(ValueError, match="steps = 10 must be a positive multiple of save_every = 3"):
        pt.solve(PROBLEM, GAUSS, START, dt=0.1, steps=10, save_every=3)


def test_refuses_what_does_not_fit():
    with pytest.raises(pt.InputError, match="needs a separable Hamiltonian"):
        pt.solve(PROBLEM, pt.integrators.Splitting(), START, dt=0.1, steps=1)


def test_a_run_that_has_failed_stays_failed():
    """A right-hand side that is no number for a while: steps behind it could be taken again, and are not."""
    method = pt.integrators.RK4()
    interrupted = pt.ODE(lambda t, y: jnp.where((t > 0.45) & (t < 0.75), jnp.nan, 1.0) + 0.0 * y)
    done = pt.solve(interrupted, method, pt.State(y=[0.0]), dt=0.1, steps=12)
    assert int(done.result) != 0 and int(done.steps) == 4
    np.testing.assert_allclose(done.y[:5, 0], 0.1 * np.arange(5), rtol=0.0, atol=1e-15)
    assert np.all(np.isnan(done.y[5:]))
    behind = pt.solve(interrupted, method, pt.State(y=[0.0]), dt=0.1, steps=4, t0=0.8)
    assert int(behind.result) == 0
