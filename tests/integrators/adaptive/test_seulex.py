"""Seulex: accuracy, and steps that do not see stiffness."""

import jax.numpy as jnp
import numpy as np
import pytest
from jitted_cases import END, error_at_the_end, gyro_top, run, slope

import poinsot as pt
from poinsot.core import Result
from poinsot.integrators import Odex, Seulex
from poinsot.integrators.adaptive._inverse import LOOPED, inverse

LADDER = 10.0 ** -np.arange(5.0, 12.0)


def test_errors_follow_the_tolerance_over_six_decades():
    problem, start = gyro_top()
    errors = np.array([error_at_the_end(run(Seulex(), problem, start, END, tol)) for tol in LADDER])
    assert abs(slope(LADDER, errors) - 1.0) < 0.1
    ratios = errors / LADDER
    assert np.max(ratios) < 10.0 * np.min(ratios)


def on_a_bushing(factor: float):
    """A body on a soft bushing off its centre, held against rotation by another one so many times stiffer.

    It starts unstressed, with a velocity: the stiff rotations are then led by the soft motion.
    """
    place = (0.2, 0.1, 0.3)
    soft = pt.potentials.LinearBushing(place, pt.potentials.Marker(0, place), stiffness=(10.0, 20.0, 30.0))
    stiff = pt.potentials.TorsionalBushing(
        (0.0, 0.0, 0.0), pt.potentials.Marker(0), stiffness=np.array([100.0, 120.0, 140.0]) * factor
    )
    system = pt.System(pt.RigidBody(mass=2.0, inertia=(0.4, 0.5, 0.3)), potentials=[soft, stiff])
    formulation = pt.formulate(system, pt.coordinates.Quaternions(), "null_space")
    start = formulation.start(system.state(velocity=(1.0, 0.5, -0.5)))
    return formulation.problem, np.asarray(formulation.problem.pack(start))


@pytest.mark.slow
def test_steps_do_not_depend_on_stiffness():
    taken, ends = {}, {}
    for factor in (1.0, 1e4, 1e6, 1e8):
        outcome = run(Seulex(), *on_a_bushing(factor), 3.0, 1e-6)
        assert outcome.result is Result.successful
        taken[factor], ends[factor] = outcome.counts.accepted + outcome.counts.rejected, outcome.y[-1]
    assert taken[1e6] <= taken[1.0]
    assert abs(taken[1e8] - taken[1e6]) <= 2 and abs(taken[1e6] - taken[1e4]) <= 2

    explicit = {factor: run(Odex(), *on_a_bushing(factor), 3.0, 1e-6) for factor in (1.0, 1e4, 1e6)}
    steps = [one.counts.accepted for one in explicit.values()]
    # As the frequency, that is as the square root of the stiffness.
    assert steps[1] > 30 * steps[0] and steps[2] > 300 * steps[0]
    for factor in (1.0, 1e4, 1e6):
        position = slice(0, 3)
        np.testing.assert_allclose(
            ends[factor][position], explicit[factor].y[-1][position], rtol=0.0, atol=2e-5
        )


def test_follows_a_smooth_solution_of_a_stiff_equation():
    # Prothero and Robinson's: y = cos t, whatever the rate.
    problem = pt.ODE(lambda t, y, rate: -rate * (y - jnp.cos(t)) - jnp.sin(t), params=1.0)
    steps = []
    for rate in (1e5, 1e8):
        outcome = run(Seulex(), problem.with_params(rate), [1.0], 10.0, 1e-8)
        assert np.max(np.abs(outcome.y[:, 0] - np.cos(outcome.t))) < 1e-6
        steps.append(outcome.counts.accepted)
        middle = 0.5 * (outcome.t[1:] + outcome.t[:-1])
        assert np.max(np.abs(outcome.dense[0](middle)[:, 0] - np.cos(middle))) < 1e-6
    assert max(steps) < 20
    assert run(Odex(), problem.with_params(1e5), [1.0], 1.0, 1e-8).counts.accepted > 1000


def test_jacobian_serves_several_steps_of_a_linear_equation():
    linear = pt.ODE(
        lambda y, matrix: jnp.sum(matrix * y[None], axis=1), params=np.array([[0.0, 1.0], [-1.0, 0.0]])
    )
    outcome = run(Seulex(), linear, [1.0, 0.0], 20.0, 1e-6)
    assert outcome.counts.accepted > 10
    assert outcome.counts.jacobians == 1
    pendulum = pt.ODE(lambda y: jnp.stack([y[1], -jnp.sin(y[0])]))
    swing = run(Seulex(), pendulum, [2.0, 0.0], 20.0, 1e-6)
    assert swing.counts.jacobians > 10


def test_factorisations_are_the_rows():
    problem, start = gyro_top()
    outcome = run(Seulex(), problem, start, 1.0, 1e-3)
    rows = outcome.orders
    assert outcome.counts.rejected == 0
    assert outcome.counts.factorisations == np.sum(rows)
    # Row k has k + 1 substeps; each attempt has one right-hand side more, the start of the run two.
    assert outcome.counts.rhs == 2 + np.sum(rows * (rows + 3) / 2 + 1)


@pytest.mark.parametrize("n", [1, 2, 7, LOOPED + 1])
def test_inverse(n):
    matrix = np.random.default_rng(n).normal(size=(n, n))
    np.testing.assert_allclose(inverse(jnp.asarray(matrix)), np.linalg.inv(matrix), rtol=1e-9, atol=1e-12)
    if n > 1:
        # A zero on the diagonal needs a pivot from below.
        matrix[0, 0] = 0.0
        np.testing.assert_allclose(inverse(jnp.asarray(matrix)) @ matrix, np.eye(n), atol=1e-9)
    assert not np.all(np.isfinite(inverse(jnp.zeros((n, n)))))
