"""The work of loads is integrated along every step, whatever is saved."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.equations import Formulation
from poinsot.simulation import _adaptive_run, _work
from poinsot.simulation._schedule import Schedule
from poinsot.simulation._work import NODES, DenseWork, Piece, StepWork

DT, STEPS = 0.05, 120
NO_FORMULATION: Any = None
CLOSE = 1e-7
"""Error of steps of order six and of a part step of order five; a sum over saved states is off by 1e-2."""


@pytest.fixture(scope="module")
def system():
    return pt.System(
        pt.RigidBody(2.0, (1.0, 2.0, 2.5), name="satellite"),
        loads=[
            pt.loads.LinearDamping(0.3, 0.2),
            pt.loads.Torque(lambda t: jnp.stack([0.8 * jnp.sin(3.0 * t), 0.4 + 0.0 * t, -jnp.sin(t)])),
        ],
    )


@pytest.fixture(scope="module")
def simulated(system):
    start = system.state(velocity=(1.0, 0.0, 2.0), angular_velocity=(0.3, 2.0, -0.5))
    t1 = DT * STEPS

    def run(integrator=None, **options):
        fixed: Any = {"dt": DT} if integrator is None else {}
        chosen = pt.integrators.GaussLegendre(3) if integrator is None else integrator
        chosen_form: Any = {"coordinates": "quaternions", "form": "null_space"}
        return pt.simulate(system, start, **({"t1": t1} | fixed | chosen_form | options), integrator=chosen)

    return run


@pytest.fixture(scope="module")
def full(simulated):
    return simulated()


def imbalance(run):
    return np.max(np.abs(run.energy - run.energy[0] - run.work))


def test_work_is_that_of_the_motion(full):
    assert len(full.work) == STEPS + 1 and full.work[0] == 0.0
    assert np.ptp(full.energy) > 1.0
    assert imbalance(full) < CLOSE


@pytest.mark.parametrize("save_every", [7, 40, STEPS])
def test_it_does_not_depend_on_what_is_saved(simulated, full, save_every):
    run = simulated(save_every=save_every)
    at = np.round(run.t / DT).astype(int)
    np.testing.assert_array_equal(run.work, full.work[at])


def test_a_sum_over_saved_states_would_show(full):
    """The control: the corrected trapezoidal rule on every fortieth state."""
    rates = np.gradient(np.gradient(full.work, full.t), full.t)[::40]
    power, h = np.gradient(full.work, full.t)[::40], 40 * DT
    pieces = 0.5 * h * (power[:-1] + power[1:]) + h**2 / 12.0 * (rates[:-1] - rates[1:])
    assert abs(np.sum(pieces) - full.work[-1]) > 1e-2


def test_between_the_steps_too(simulated, full):
    times = [0.0, 0.02, 1.0, 1.01, 3.333, 6.0]
    run = simulated(save_at=times)
    np.testing.assert_array_equal(run.work[[1, 3, 6]], full.work[[0, 20, STEPS]])
    assert imbalance(run) < CLOSE


def test_up_to_a_last_step_that_is_shorter_and_up_to_an_event(simulated):
    shortened = simulated(t1=3.02, last_step="shorten", save_every=25)
    assert shortened.t[-1] == 3.02 and imbalance(shortened) < CLOSE
    stopped = simulated(stop=lambda motion: motion.velocity[0, 0] - 0.8, save_every=50)
    assert stopped.result is pt.Result.stopped_by_event and 0.0 < stopped.t[-1] < 6.0
    assert len(stopped.work) == len(stopped) and imbalance(stopped) < CLOSE


def test_of_the_steps_of_adaptive_solvers(simulated, full):
    accuracy = {"rtol": 1e-10, "atol": 1e-10}
    by_steps = simulated(pt.integrators.DormandPrince853(), save_every=3, **accuracy)
    by_times = simulated(pt.integrators.DormandPrince853(), save_at=[1.0, 1.001, 6.0], **accuracy)
    for run in (by_steps, by_times):
        assert len(run.work) == len(run) and imbalance(run) < CLOSE
    np.testing.assert_allclose(by_times.work[[1, 3]], full.work[[20, STEPS]], rtol=0.0, atol=CLOSE)


def test_of_adaptive_solvers_it_is_found_when_it_is_asked_for(simulated, monkeypatch):
    evaluated = []
    once = _work.at_states
    monkeypatch.setattr(_work, "at_states", lambda *given: evaluated.append(len(given[2])) or once(*given))
    run = simulated(pt.integrators.DormandPrince8(), rtol=1e-8, atol=1e-8)
    assert not evaluated and run.position.shape[0] == len(run)
    assert not run.seen.work.__getstate__()["_pieces"], "nothing compiled is left to be pickled"
    # Of order eight three points in each step, and the ends.
    assert evaluated == [4 * len(run.steps) + 1]
    assert imbalance(run) < CLOSE and len(evaluated) == 1


def test_it_is_found_at_once_where_the_dense_output_is_not_kept(simulated, monkeypatch):
    accuracy = {"rtol": 1e-10, "atol": 1e-10}
    kept = simulated(pt.integrators.DormandPrince8(), save_every=3, **accuracy)
    monkeypatch.setattr(_adaptive_run, "DENSE_NUMBERS", 0)
    run = simulated(pt.integrators.DormandPrince8(), save_every=3, **accuracy)
    assert run.history.dense is None and not run.seen.work._pieces
    np.testing.assert_array_equal(run.work, kept.work)


@pytest.mark.parametrize("order", [2, 4, 5, 8, None])
def test_points_within_adaptive_steps_are_right_to_the_order_of_the_solver(order, monkeypatch):
    """Along steps of different lengths, forward and backward, of a power that is a polynomial of time."""
    degree = 11 if order is None else order - 1
    monkeypatch.setattr(_work, "at_states", lambda power, model, times, states: times**degree)
    for t in (np.array([0.0, 0.3, 0.4, 1.0]), np.array([1.0, 0.9, 0.2])):
        saved = 0.5 * (t[:-1] + t[1:])
        by_ends, by_times = DenseWork(NO_FORMULATION, order), DenseWork(NO_FORMULATION, order)
        by_ends.enter(Piece(t, lambda times: times, None, slice(None)))
        by_times.enter(Piece(t, lambda times: times, saved, slice(None)))
        for work, places in ((by_ends, t[1:]), (by_times, saved)):
            exact = (places ** (degree + 1) - t[0] ** (degree + 1)) / (degree + 1)
            np.testing.assert_allclose(np.asarray(work)[1:], exact, rtol=1e-12)


def test_nothing_is_evaluated_where_nothing_does_work(monkeypatch):
    monkeypatch.setattr(Formulation, "power", lambda *given: pytest.fail("no load, no power"))
    top = pt.library.heavy_top(inertia=(50, 42, 10), mgl=100.0)
    start = top.state(angular_velocity=(0, 0, 20))
    run = pt.simulate(top, start, t1=0.1, dt=0.01, integrator=pt.integrators.LieSplitting())
    assert "work" not in run.motion and run.report().rows


class Recorded(StepWork):
    """The work of a power that is a polynomial of time."""

    degree = 7

    def _at(self, times, states):
        return times**self.degree, self.degree * times ** max(self.degree - 1, 0)


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 50])
def test_quadrature_is_exact_to_its_degree(steps):
    h = 0.37
    for degree in range(2 * min(steps + 1, NODES)):
        work = type("Power", (Recorded,), {"degree": degree})(NO_FORMULATION, 0.0, h, np.zeros(1), steps)
        _feed(work, Schedule.every(0.0, h, steps, 0.0, 1), steps, steps)
        times = h * np.arange(steps + 1)
        np.testing.assert_allclose(work.close(), times ** (degree + 1) / (degree + 1), rtol=1e-12)


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 49])
def test_chunks_change_no_bit(chunk):
    schedule, works = Schedule.at(0.0, 0.1, 50, 0.0, [0.0, 0.05, 0.1, 0.33, 2.0, 4.99, 5.0]), []
    for size in (chunk, 200):
        kind = type("Power", (Recorded,), {"degree": 9})
        works.append(kind(NO_FORMULATION, 0.0, 0.1, np.zeros(1), 50))
        _feed(works[-1], schedule, 50, size)
    np.testing.assert_array_equal(works[0].close(), works[1].close())
    assert len(works[0].close()) == 8


def _feed(work, schedule, steps, chunk):
    n = saved = 0
    while saved < len(schedule):
        stretch = schedule.every_step(saved, n, n + chunk, max(chunk, 3))
        work.enter((stretch.targets + stretch.beyond) * work._h, np.zeros((len(stretch), 1)), stretch)
        n, saved = int(stretch.targets[-1]), saved + int(np.sum(stretch.kept))
