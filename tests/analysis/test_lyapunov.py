"""Tangent map and Lyapunov exponent on known cases, and against two neighbouring runs."""

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.analysis import lyapunov, tangent_map
from poinsot.integrators import GaussLegendre, Splitting

SPLITTING = Splitting("blanes-moan6")
OSCILLATOR = pt.Hamiltonian(T=lambda p: 0.5 * jnp.sum(p * p), V=lambda q: 0.5 * jnp.sum(q * q))
HENON_HEILES = pt.Hamiltonian(
    T=lambda p: 0.5 * jnp.sum(p * p),
    V=lambda q: 0.5 * jnp.sum(q * q) + q[0] ** 2 * q[1] - q[1] ** 3 / 3.0,
)


def henon_heiles_start(energy, y, py):
    px = np.sqrt(2.0 * energy - py**2 - y**2 + 2.0 * y**3 / 3.0)
    return pt.State(q=[0.0, y], p=[px, py])


def test_the_tangent_map_of_the_oscillator_is_a_rotation():
    result = tangent_map(OSCILLATOR, GaussLegendre(6), pt.State(q=[0.3], p=[0.4]), dt=0.25, steps=20)
    c, s = np.cos(5.0), np.sin(5.0)
    np.testing.assert_allclose(result.matrix, [[c, s], [-s, c]], rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(result.state.q, [0.3 * c + 0.4 * s], rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("integrator", [SPLITTING, GaussLegendre(3)], ids=["splitting", "gauss6"])
def test_the_tangent_map_is_the_derivative_of_the_numerical_motion(integrator):
    start = henon_heiles_start(1.0 / 12.0, 0.1, 0.05)
    result = tangent_map(HENON_HEILES, integrator, start, dt=0.1, steps=40)
    assert result.result is pt.Result.successful

    def end(state):
        run = pt.solve(HENON_HEILES, integrator, state, dt=0.1, steps=40, save_every=40)
        return np.concatenate([run.q[-1], run.p[-1]])

    for column, (label, k) in enumerate((label, k) for label in "qp" for k in (0, 1)):
        shift = 1e-5 * np.eye(2)[k]
        ends = [
            end(pt.State(**{name: start[name] + (sign * shift if name == label else 0.0) for name in "qp"}))
            for sign in (1.0, -1.0)
        ]
        np.testing.assert_allclose(result.matrix[:, column], (ends[0] - ends[1]) / 2e-5, atol=1e-7)
    omega = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    np.testing.assert_allclose(result.matrix.T @ omega @ result.matrix, omega, atol=1e-12)


def test_the_oscillator_has_exponent_zero():
    estimate = lyapunov(OSCILLATOR, SPLITTING, pt.State(q=[1.0], p=[0.3]), t1=1000.0, dt=0.1)
    assert abs(estimate.exponent) < 2e-3
    assert len(estimate.t) == len(estimate.estimate) == 1000
    np.testing.assert_allclose(estimate.t[[0, -1]], [1.0, 1000.0])


def test_a_linear_saddle_has_its_rate():
    """The tangent grows as exp(0.3 t), whatever the motion does."""
    saddle = pt.ODE(lambda y: jnp.stack([0.3 * y[0], -0.5 * y[1]]))
    estimate = lyapunov(
        saddle, GaussLegendre(3), pt.State(y=[0.0, 1.0]), t1=40.0, dt=0.1, direction=pt.State(y=[1.0, 0.0])
    )
    np.testing.assert_allclose(estimate.estimate, 0.3, rtol=1e-9)


def test_chaotic_and_regular_motion_are_told_apart():
    chaotic = lyapunov(HENON_HEILES, SPLITTING, henon_heiles_start(1 / 6, -0.1, 0.1), t1=5000.0, dt=0.1)
    regular = lyapunov(HENON_HEILES, SPLITTING, henon_heiles_start(1 / 12, 0.1, 0.0), t1=5000.0, dt=0.1)
    assert chaotic.exponent > 0.06
    assert abs(regular.exponent) < 5e-3
    # Regular motion: the tangent grows like t, so the estimate falls like log(t) / t.
    assert regular.exponent < 0.35 * regular.estimate[len(regular.t) // 10]


def test_the_growth_is_that_of_two_neighbouring_runs():
    start = henon_heiles_start(1 / 6, -0.1, 0.1)
    direction = pt.State(q=[0.5, -0.5], p=[0.5, 0.5])
    estimate = lyapunov(HENON_HEILES, SPLITTING, start, t1=60.0, dt=0.1, direction=direction)
    near = pt.State(q=start.q + 1e-9 * direction.q, p=start.p + 1e-9 * direction.p)
    runs = [pt.solve(HENON_HEILES, SPLITTING, s, dt=0.1, steps=600, save_every=600) for s in (start, near)]
    apart = np.concatenate([runs[1].q[-1] - runs[0].q[-1], runs[1].p[-1] - runs[0].p[-1]])
    growth = np.log(np.linalg.norm(apart) / 1e-9)
    assert growth > 4.0, "the motion must be chaotic for the comparison to mean anything"
    assert estimate.exponent * 60.0 == pytest.approx(growth, rel=1e-3)


def test_wrong_input():
    state = pt.State(q=[1.0], p=[0.3])
    with pytest.raises(pt.InputError, match="every"):
        lyapunov(OSCILLATOR, SPLITTING, state, t1=1.0, dt=0.1, every=3)
    with pytest.raises(pt.InputError, match="direction"):
        lyapunov(OSCILLATOR, SPLITTING, state, t1=1.0, dt=0.1, direction=pt.State(q=[0.0], p=[0.0]))
