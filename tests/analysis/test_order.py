"""The order estimate: its plateau rule on made-up errors, and known methods."""

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.analysis import order_estimate, reference_solution
from poinsot.analysis._order import fit_slope

PENDULUM = pt.Hamiltonian(lambda q, p: 0.5 * p[0] ** 2 - jnp.cos(q[0]) * (1.0 - p[0] / 6.0))
OSCILLATOR = pt.Hamiltonian(T=lambda p: 0.5 * p[0] ** 2, V=lambda q: 0.5 * q[0] ** 2)
START = pt.State(q=[0.8], p=[0.5])


def test_points_on_the_plateau_are_dropped():
    h = 0.5 ** np.arange(8)
    noise = 1e-12 * np.array([0.3, 1.2, 0.7, 1.0, 0.2, 0.9, 1.1, 0.4])
    slope, used = fit_slope(h, h**6 + noise, np.full(8, 2e-11))
    assert slope == pytest.approx(6.0, abs=0.02)
    assert used.tolist() == [True] * 6 + [False] * 2


def test_points_that_are_not_asymptotic_are_dropped():
    h = 0.5 ** np.arange(8)
    slope, used = fit_slope(h, h**3 * (1.0 + 20.0 * h**4), np.zeros(8))
    assert slope == pytest.approx(3.0, abs=0.05)
    assert not used[0] and not used[1] and np.all(used[3:])


def test_nothing_is_claimed_of_fewer_than_three_points():
    h = 0.5 ** np.arange(4)
    for error in (np.array([1.0, 0.1, 1e-16, 1e-16]), np.array([np.inf, np.inf, 1.0, 0.1])):
        slope, used = fit_slope(h, error, np.full(4, 1e-14))
        assert np.isnan(slope) and not np.any(used)


def test_a_failed_run_leaves_a_gap_that_is_not_bridged():
    h = 0.5 ** np.arange(6)
    error = h**2
    error[3] = np.inf
    assert np.isnan(fit_slope(h, error, np.zeros(6))[0])


@pytest.mark.parametrize(("name", "order"), [("heun", 2), ("rk4", 4)])
def test_known_orders(name, order):
    estimate = order_estimate(PENDULUM, name, START, 2.0)
    assert estimate.slope["q"] == pytest.approx(order, abs=0.1)
    assert estimate.order == min(estimate.slope.values())
    assert np.all(np.diff(estimate.h) < 0.0) and np.all(estimate.used["q"].sum() >= 3)


def test_the_reference_is_the_exact_solution():
    times = [0.5, 1.0, 7.0]
    exact = reference_solution(OSCILLATOR, START, times, t0=0.25)
    angle = np.array(times) - 0.25
    np.testing.assert_allclose(exact.q[:, 0], 0.8 * np.cos(angle) + 0.5 * np.sin(angle), atol=1e-14)
    np.testing.assert_allclose(exact.p[:, 0], 0.5 * np.cos(angle) - 0.8 * np.sin(angle), atol=1e-14)


def test_a_given_reference_at_the_end_alone():
    exact = pt.State(q=[0.8 * np.cos(2.0) + 0.5 * np.sin(2.0)], p=[0.5 * np.cos(2.0) - 0.8 * np.sin(2.0)])
    verlet = pt.integrators.StormerVerlet()
    estimate = order_estimate(OSCILLATOR, verlet, START, 2.0, reference=exact, steps=[10, 20, 40, 80])
    assert estimate.slope["q"] == pytest.approx(2.0, abs=0.05)
    wrong = pt.State(q=exact.q + 1e-3, p=exact.p)
    spoiled = order_estimate(OSCILLATOR, verlet, START, 2.0, reference=wrong, steps=[10, 20, 40, 80])
    assert abs(spoiled.slope["q"] - 2.0) > 0.3


def test_bad_ladders_are_refused():
    for steps in ([4, 8], [8, 4, 16], [0, 4, 8], [4, 8, 18]):
        with pytest.raises(pt.InputError, match="steps"):
            order_estimate(PENDULUM, pt.integrators.RK4(), START, 2.0, steps=steps)
