"""The compiled loop of attempts, through all methods that run in it."""

import gc
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jitted_cases import gyro_top, oscillator, run

import poinsot as pt
from poinsot.core import InputError, Result, _problem, field
from poinsot.integrators import DormandPrince5, DormandPrince8, Odex, Seulex
from poinsot.integrators.adaptive import Task
from poinsot.integrators.adaptive._dormand_prince import _pair
from poinsot.integrators.adaptive._folded import Folded
from poinsot.kernels import programs_made

SOLVERS = [DormandPrince5(), DormandPrince8(), Odex(), Seulex()]
KINDS = pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
OSCILLATOR = oscillator()


def circle(t) -> np.ndarray:
    return np.stack([np.cos(t), -np.sin(t)], axis=-1)


@KINDS
def test_ends_at_the_end_and_is_dense_in_between(solver):
    forward = run(solver, OSCILLATOR, [1.0, 0.0], 20.0, 1e-7)
    assert forward.t[-1] == 20.0 and np.all(np.diff(forward.t) > 0.0)
    assert forward.counts.accepted == len(forward.t) - 1
    assert forward.counts.rejected == np.sum(forward.rejected)
    at_steps = np.max(np.abs(forward.y - circle(forward.t)))
    assert at_steps < 2e-5

    times = np.linspace(0.0, 20.0, 401)
    between = np.max(np.abs(forward.dense[0](times) - circle(times)))
    assert between <= 1.5 * at_steps
    np.testing.assert_array_equal(forward.dense[0](forward.t), forward.y)
    # A straight line between the steps, whose ends are just as good, is no dense output.
    straight = np.stack([np.interp(times, forward.t, column) for column in forward.y.T], axis=-1)
    assert np.max(np.abs(straight - circle(times))) > 100.0 * between

    backward = run(solver, OSCILLATOR, circle(20.0), 0.0, 1e-7, t0=20.0)
    assert backward.t[-1] == 0.0 and np.all(np.diff(backward.t) < 0.0)
    assert np.max(np.abs(backward.y - circle(backward.t))) < 2e-5
    assert np.max(np.abs(backward.dense[0](times) - circle(times))) < 2e-5


@KINDS
def test_counts_every_evaluation(solver):
    calls = []

    def rate(t, y):
        jax.debug.callback(lambda: calls.append(1))
        return jnp.sin(t) - 5.0 * y * y * y

    outcome = run(solver, pt.ODE(rate), [1.0], 3.0, 1e-6)
    jax.effects_barrier()
    # Each Jacobian looks at the right-hand side once more, for the place of its derivative.
    assert len(calls) == outcome.counts.rhs + outcome.counts.jacobians
    assert (outcome.counts.jacobians > 0) == solver.traits.stiff


def test_two_programs_serve_all_runs_of_a_kind():
    def rate(y, params):
        return -params * y

    def decay(rate_constant, t1, tolerance, **options):
        problem = pt.ODE(rate, params=rate_constant)
        # With much time for each batch its room ends it, and not the clock of a machine that does other work.
        return run(DormandPrince5(**options), problem, [1.0, 2.0], t1, tolerance, seconds=100.0)

    before = programs_made()
    first = decay(1.0, 1.0, 1e-6)
    beginning = programs_made()
    # The first of two finds out how the function is called.
    assert beginning == before + 2
    assert len(first.dense) == 1
    long = decay(2.0, 30.0, 1e-11, max_step=1e-3, first_step=1e-3)
    compiled = programs_made()
    assert len(long.dense) == 3
    # One more program for all further batches.
    assert compiled - beginning == 1
    decay(3.0, 30.0, 1e-9, max_step=2e-3)
    assert programs_made() == compiled
    np.testing.assert_allclose(first.y[-1], np.exp(-1.0) * np.array([1.0, 2.0]), rtol=1e-5)
    np.testing.assert_allclose(long.y[-1], np.exp(-60.0) * np.array([1.0, 2.0]), atol=1e-10)
    # Other shapes are another program.
    run(DormandPrince5(), pt.ODE(rate, params=1.0), [1.0], 1.0, 1e-6)
    assert programs_made() > compiled


def test_a_right_hand_side_goes_with_its_problem():
    problem: Any = pt.ODE(lambda y: -y)
    before = len(_problem._fields)
    np.testing.assert_array_equal(field(problem, 0.0, jnp.array([2.0])), [-2.0])
    assert len(_problem._fields) == before + 1
    del problem
    gc.collect()
    assert len(_problem._fields) == before


def test_a_folded_tree_comes_back_as_it_was():
    tree = {
        "y": jnp.array([[0.1, -0.0]]),
        "count": jnp.int64(2**53 - 1),
        "known": (jnp.array(True), jnp.int32(-3)),
    }
    back = jax.jit(lambda folded: folded.tree())(jax.jit(Folded.of)(tree))
    assert jax.tree.structure(back) == jax.tree.structure(tree)
    for one, other in zip(jax.tree.leaves(back), jax.tree.leaves(tree), strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape and bool(jnp.all(one == other))
    assert int(jax.jit(Folded.of)(jnp.int64(2**53 + 1)).tree()) != 2**53 + 1


def test_batches_make_no_difference():
    solver = DormandPrince5(max_step=0.01)
    whole = run(solver, OSCILLATOR, [1.0, 0.0], 45.0, 1e-7)
    parts = run(solver, OSCILLATOR, [1.0, 0.0], 45.0, 1e-7, seconds=0.0)
    assert len(whole.dense) < len(parts.dense)
    np.testing.assert_array_equal(whole.t, parts.t)
    np.testing.assert_array_equal(whole.y, parts.y)


@KINDS
def test_keeps_to_the_steps_asked_for(solver):
    limited = type(solver)(first_step=0.03125, max_step=0.125)
    steps = np.diff(run(limited, OSCILLATOR, [1.0, 0.0], 4.0, 1e-7).t)
    assert steps[0] == 0.03125
    # The last step may be a hundredth longer; differences of times have the rounding errors of the times.
    rounding = np.spacing(4.0)
    assert np.max(steps[:-1]) <= 0.125 + rounding and steps[-1] <= 0.12625 + rounding
    assert np.max(np.diff(run(solver, OSCILLATOR, [1.0, 0.0], 4.0, 1e-7).t)) > 0.13


@KINDS
def test_gives_up_at_a_singularity_with_what_it_has(solver):
    # y' = y^2 from 1 is 1 / (1 - t).
    blow_up = pt.ODE(lambda y: y * y)
    short = run(solver, blow_up, [1.0], 0.9, 1e-6)
    assert short.result is Result.successful
    lost = run(solver, blow_up, [1.0], 2.0, 1e-6)
    assert lost.result in (Result.step_too_small, Result.non_finite)
    assert 0.99 < lost.t[-1] < 1.001
    early = lost.t < 0.9
    np.testing.assert_allclose(lost.y[early, 0], 1.0 / (1.0 - lost.t[early]), rtol=1e-3)


@KINDS
def test_gives_up_where_the_right_hand_side_is_not_finite(solver):
    wall = pt.ODE(lambda t, y: jnp.where(t > 0.5, jnp.nan, -y))
    lost = run(solver, wall, [1.0], 2.0, 1e-6)
    assert lost.result is Result.non_finite
    # A method that does not look at the end of its step may take it a little too far.
    assert 0.49 < lost.t[-1] < 0.5001
    np.testing.assert_allclose(lost.y[:, 0], np.exp(-lost.t), rtol=1e-5)
    nowhere = run(solver, wall, [1.0], 2.0, 1e-6, t0=1.0)
    assert nowhere.result is Result.non_finite and len(nowhere.t) == 1


def test_projection_keeps_the_constraints():
    problem, start = gyro_top()

    def residual(states):
        return np.max(np.abs(np.sum(states[:, :4] ** 2, axis=1) - 1.0))

    kept = run(DormandPrince5(projection=True), problem, start, 6.0, 1e-6)
    assert residual(kept.y) < 1e-14
    assert residual(kept.dense[0](np.linspace(0.1, 5.9, 7))) < 1e-14
    free = run(DormandPrince5(), problem, start, 6.0, 1e-6)
    assert residual(free.y) > 1e-6
    # The first stage is not the last of the step before, which was at another state.
    assert kept.counts.rhs == 2 + 7 * (kept.counts.accepted + kept.counts.rejected)
    assert free.counts.rhs == 3 + 6 * (free.counts.accepted + free.counts.rejected)


def test_wrong_options_are_refused():
    with pytest.raises(InputError, match="first_step = -1.0"):
        Odex(first_step=-1.0)
    with pytest.raises(InputError, match="projection = 'all'"):
        Seulex(projection="all")
    refusal = DormandPrince8(projection="both").refusal(OSCILLATOR)
    assert refusal is not None and "no constraints to project onto" in refusal
    assert DormandPrince8().refusal(OSCILLATOR) is None


@pytest.mark.parametrize("order", [5, 8])
def test_stages_are_those_of_diffrax(order):
    problem, start = gyro_top()
    pair, theirs = _pair(f"Dopri{order}", order, False), getattr(diffrax, f"Dopri{order}")()
    term = diffrax.ODETerm(lambda t, y, args: problem.vector_field(t, y))

    @jax.jit
    def both(y, h):
        ours = pair.part(problem, 0.0, h, y, jnp.int64(order))
        state = theirs.init(term, 0.0, h, y, None)
        return ours, theirs.step(term, 0.0, h, y, None, state, False)[0]

    ours, expected = both(jnp.asarray(start), jnp.float64(0.05))
    np.testing.assert_allclose(ours, expected, rtol=0.0, atol=2e-14)
    assert np.max(np.abs(np.asarray(ours) - start)) > 0.1


@pytest.mark.parametrize("solver", [DormandPrince5(), DormandPrince8()], ids=["5", "8"])
def test_steps_are_as_many_as_diffrax_takes(solver):
    problem, start = gyro_top()
    kind = getattr(diffrax, f"Dopri{solver.traits.order}")
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, y, args: problem.vector_field(t, y)),
        kind(),
        0.0,
        6.0,
        None,
        jnp.asarray(start),
        stepsize_controller=diffrax.PIDController(rtol=1e-9, atol=1e-9),
        max_steps=10**5,
    )
    outcome = run(solver, problem, start, 6.0, 1e-9)
    taken = outcome.counts.accepted + outcome.counts.rejected
    assert taken <= 1.05 * int(solution.stats["num_steps"])
    assert np.max(np.abs(outcome.y[-1] - np.asarray(solution.ys)[-1])) < 1e-6


def test_an_engine_that_has_ended_stays_there():
    engine = DormandPrince5().start(Task(OSCILLATOR, np.array([1.0, 0.0]), 0.0, 1.0, 1e-6, 1e-6))
    assert engine.advance(1.0).t[-1] == 1.0
    assert len(engine.advance(1.0).t) == 0
