"""Fixed point and simplified Newton: round-off or a failure, with implicit derivatives."""

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.solvers import (
    EPS,
    Again,
    Stopping,
    factored,
    fixed_point,
    measured_fixed_point,
    newton,
    simplified_newton,
)
from quickly import quickly


def size(dx):
    return jnp.max(jnp.abs(dx)) / EPS


def kepler(eccentricity, mean_anomaly):
    """E = M + e sin E, whose derivatives are known in closed form."""
    x, info = fixed_point(
        lambda x: mean_anomaly + eccentricity * jnp.sin(x), jnp.ones(1), size, Stopping(tolerance=1.0)
    )
    return x[0], info


def newton_kepler(eccentricity, mean_anomaly):
    def residual(x):
        return x - mean_anomaly - eccentricity * jnp.sin(x)

    jacobian = jnp.array([[1.0]]) - eccentricity * jnp.cos(1.0)
    x, info = simplified_newton(residual, jnp.ones(1), factored(jacobian), size, Stopping(tolerance=1.0))
    return x[0], info


def test_both_solve_to_round_off():
    for solver in (kepler, newton_kepler):
        x, info = solver(0.3, 0.9)
        assert bool(info.converged)
        assert abs(float(x) - 0.3 * np.sin(float(x)) - 0.9) <= 2 * EPS
        assert 3 < int(info.iterations) < 40


def test_divergence_is_reported():
    x, info = fixed_point(lambda x: 2.0 * x + 1.0, jnp.ones(1), size, Stopping(max_iterations=60))
    assert not bool(info.converged)
    _, info = fixed_point(lambda x: x * x, 2.0 * jnp.ones(1), size, Stopping())
    assert not bool(info.converged) and int(info.iterations) < 20, "stops at the first infinity"


def test_an_iteration_that_leads_nowhere_begins_again_in_its_lane_alone():
    """x = x^2 / 2 goes to zero from below two only."""
    starts = jnp.array([0.5, 3.0, 3.0, 3.0])
    further = jnp.array([[9.0, 1.0, 4.0, 1.0], [9.0, 9.0, 1.5, 9.0]])
    possible = jnp.array([True, True, True, False])

    def substitute(x):
        return 0.5 * x * x, jnp.abs(0.5 * x * x - x) / EPS

    def solve(again):
        return measured_fixed_point(substitute, starts, Stopping(tolerance=1.0), again)

    x, info = solve(Again(lambda count: further[count - 1], 2, lambda: possible))
    np.testing.assert_array_equal(info.converged, [True, True, True, False])
    assert np.all(np.abs(x[:3]) < EPS)
    once, short = solve(None)
    np.testing.assert_array_equal(short.converged, [True, False, False, False])
    assert int(info.iterations) > int(short.iterations), "all attempts are counted"
    # Of lanes that need no other start, nothing of it is seen.
    assert float(x[0]) == 0.0 or abs(float(x[0])) <= abs(float(once[0]))


def test_noise_floor_counts_as_converged_but_a_plateau_does_not():
    def cycle(amplitude):
        return fixed_point(
            lambda x: amplitude - x, jnp.zeros(1), size, Stopping(tolerance=0.0, max_iterations=30)
        )[1]

    assert bool(cycle(10 * EPS).converged)
    assert not bool(cycle(1e-6).converged)


def test_derivatives_are_written_when_they_are_asked_for():
    """Their programs take several times as long to write as the equation, which is read once."""
    read = []

    def solution(e):
        def g(x):
            read.append(1)
            return 0.9 + e * jnp.sin(x)

        return fixed_point(g, jnp.ones(1), size, Stopping())[0][0]

    jax.jit(solution).lower(0.3)
    assert len(read) == 1
    x = solution(0.3)
    assert abs(float(jax.grad(solution)(0.3) - jnp.sin(x) / (1.0 - 0.3 * jnp.cos(x)))) < 1e-14


def test_derivatives_in_both_modes():
    e, m = 0.3, 0.9
    for solver in (kepler, newton_kepler):
        x, _ = solver(e, m)
        slope = 1.0 / (1.0 - e * np.cos(float(x)))
        exact = (np.sin(float(x)) * slope, slope)
        for mode in (jax.jacfwd, jax.jacrev):
            found = quickly(mode(lambda e, m: solver(e, m)[0], argnums=(0, 1)))(e, m)  # noqa: B023
            np.testing.assert_allclose(found, exact, rtol=1e-13)
        second = quickly(jax.grad(jax.grad(lambda m: solver(e, m)[0])))(m)  # noqa: B023
        np.testing.assert_allclose(second, -e * np.sin(float(x)) * slope**3, rtol=1e-12)


def test_lanes_fail_alone():
    def solve(factor):
        x, info = fixed_point(lambda x: factor * jnp.cos(x), jnp.ones(1), size, Stopping(max_iterations=200))
        return x[0], info.converged

    x, converged = jax.vmap(solve)(jnp.array([0.5, 2.0, 0.7]))
    assert converged.tolist() == [True, False, True]
    np.testing.assert_allclose(x[0], solve(0.5)[0], rtol=4 * EPS)


def test_a_change_that_grows_once_is_no_noise():
    """Two unknowns that hand a change to and fro, larger one way: it shrinks by 0.4 in every second step."""

    def swap(x):
        return jnp.stack([2.0 * x[1] + 1.0, 0.2 * x[0]])

    x, info = fixed_point(swap, jnp.zeros(2), size, Stopping(tolerance=1.0))
    assert bool(info.converged)
    np.testing.assert_allclose(x, [1.0 / 0.6, 0.2 / 0.6], rtol=0.0, atol=30 * EPS)


def test_a_shift_that_depends_on_a_parameter_moves_neither_the_solution_nor_its_derivative():
    """Two equations that say the same, with two unknowns: only what they ask for is determined."""

    def found(a):
        def residual(x):
            off = x[0] ** 2 + x[1] - a**2
            return jnp.stack([off, 2.0 * off])

        def size(dx):
            return jnp.max(jnp.abs(dx)) / 1e-16

        x, _ = newton(residual, jnp.ones(2), size, Stopping(1e-4, 30), None, a * jnp.array([0.0, -1e-4]))
        return x[0] ** 2 + x[1]

    value, slope = jax.jvp(found, (1.5,), (1.0,))
    assert abs(value - 2.25) < 1e-14 and abs(slope - 3.0) < 1e-13


def test_a_derivative_through_a_loop_with_a_shift_that_the_loop_makes():
    """The equation of a derivative is solved after the loop is written, when arrays of the loop are gone."""

    def summed(a):
        def act(x, b):
            def residual(y):
                # The second equation is twice the first.
                gap = y[0] + y[1] - b * x
                return jnp.stack([gap, 2.0 * gap])

            shift = x * jnp.array([1e-4, -1e-4])
            y, _ = newton(residual, jnp.stack([x, x]), size, Stopping(1e-4, 30), None, shift)
            return y[0] + y[1], None

        return jax.lax.scan(act, a, jnp.array([2.0, 3.0]))[0]

    value, slope = jax.jvp(summed, (0.7,), (1.0,))
    np.testing.assert_allclose([value, slope], [4.2, 6.0], rtol=1e-12)
