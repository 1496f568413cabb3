"""The run of adaptive solvers, alike for all: saves, events, singularities, failures, history."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.core import Result
from poinsot.integrators.adaptive import AbstractAdaptive, AdaptiveTraits, Batch, Counts, Engine, Task
from poinsot.simulation import _adaptive_run

SOLVER = pt.integrators.DormandPrince853()
OSCILLATOR = pt.Hamiltonian(T=lambda p: 0.5 * jnp.sum(p**2), V=lambda q: 0.5 * jnp.sum(q**2))
START = pt.State(q=[1.0], p=[0.0])
OPTIONS: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-11, "progress": False}


def simulate(t1: float = 10.0, integrator: AbstractAdaptive = SOLVER, **options: Any):
    return pt.simulate(OSCILLATOR, START, t1=t1, integrator=integrator, **(OPTIONS | options))


class Exact(AbstractAdaptive):
    """The exact oscillator in steps of one size, past the end: an engine whose every number is known."""

    h: float = 0.7
    fails_after: int | None = None
    interrupted_after: int | None = None

    @property
    def traits(self):
        return AdaptiveTraits("exact", None, True, False, "ode", None, None, "here")

    def start(self, task: Task):
        return _ExactEngine(self, task)


class _ExactEngine(Engine):
    def __init__(self, solver: Exact, task: Task):
        self.solver, self.task, self.counts = solver, task, Counts()
        self.h = solver.h * np.sign(task.t1 - task.t0)

    def advance(self, seconds):
        first, t0 = self.counts.accepted, self.task.t0
        if self.solver.interrupted_after is not None and first >= self.solver.interrupted_after:
            raise KeyboardInterrupt
        numbers = first + 1 + np.arange(3)
        self.counts.accepted += 3
        self.counts.rejected += int(np.sum(numbers % 2))
        t = t0 + self.h * numbers
        failed = self.solver.fails_after is not None and first + 3 >= self.solver.fails_after
        result = Result.step_too_small if failed else Result.successful
        return Batch(t, motion(t), numbers % 2, motion, result)


def motion(times):
    return np.stack([np.cos(times), -np.sin(times)], axis=-1)


@pytest.mark.parametrize("t1", [10.0, -10.0])
def test_steps_counts_and_states_belong_together(t1):
    run = simulate(t1)
    assert run.steps.t[0] == run.t[0] == 0.0 and run.steps.t[-1] == run.t[-1] == t1
    np.testing.assert_array_equal(run.t, run.steps.t)
    np.testing.assert_allclose(np.cumsum(run.steps.h), run.steps.t[1:], atol=1e-12)
    assert np.all(run.steps.h * t1 > 0.0)
    assert len(run.steps) == run.counts.accepted == run.attributes["steps"]
    assert run.counts.rejected == np.sum(run.steps.rejected)
    assert run.counts.rhs == 2 + 12 * (run.counts.accepted + run.counts.rejected)
    np.testing.assert_allclose(run.q[:, 0], np.cos(run.t), atol=1e-9)


def test_a_run_past_its_end_is_cut_there():
    run = simulate(1.0, integrator=Exact())
    np.testing.assert_array_equal(run.steps.t, [0.0, 0.7, 1.0])
    np.testing.assert_array_equal(run.steps.rejected, [1, 0])
    exactly = simulate(1.4, integrator=Exact())
    np.testing.assert_array_equal(exactly.steps.t, [0.0, 0.7, 1.4])
    np.testing.assert_allclose(run.q[:, 0], np.cos([0.0, 0.7, 1.0]), rtol=1e-15)
    # The solver took a third step, with another rejection.
    assert (run.counts.accepted, run.counts.rejected) == (2, 1)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_is_saved(sign):
    every = simulate(sign * 7.5, integrator=Exact(), save_every=4)
    np.testing.assert_allclose(every.t, sign * np.array([0.0, 2.8, 5.6, 7.5]))
    times = sign * np.array([0.0, 0.1, 0.35, 2.1, 6.9])
    at = simulate(sign * 7.5, integrator=Exact(), save_at=times)
    np.testing.assert_array_equal(at.t, times)
    np.testing.assert_allclose(at.q[:, 0], np.cos(times), rtol=1e-15)
    assert len(at.steps) == 11


def test_saving_at_times_changes_no_step():
    plain, at = simulate(), simulate(save_at=[0.5, 3.3])
    np.testing.assert_array_equal(plain.steps.t, at.steps.t)
    np.testing.assert_allclose(at.q[1:, 0], np.cos([0.5, 3.3]), atol=1e-9)
    # Each of the two times took the three further stages of one step.
    assert at.counts.rhs == plain.counts.rhs + 2 * 3


@pytest.mark.parametrize("t1", [20.0, -20.0])
def test_stop_is_located_to_round_off(t1):
    run = simulate(t1, integrator=Exact(), stop=lambda q, p: q[0])
    assert run.result is Result.stopped_by_event
    assert abs(run.t[-1]) == pytest.approx(np.pi / 2.0, abs=4e-16)
    assert run.steps.t[-1] == run.t[-1] and "stop condition was met" in run.message
    assert run.counts.accepted == len(run.steps) and run.counts.rejected == np.sum(run.steps.rejected)
    with pytest.raises(pt.InputError, match="outside the run"):
        run.at(1.7 * np.sign(t1))


def test_stop_has_a_direction_and_leaves_what_it_does_not_meet_alone():
    up = simulate(20.0, integrator=Exact(), stop=pt.Event(lambda q, p: q[0], direction=1))
    assert up.t[-1] == pytest.approx(1.5 * np.pi, abs=1e-15)
    never = simulate(20.0, integrator=Exact(), stop=lambda q, p: q[0] - 2.0)
    assert never.result is Result.successful and never.t[-1] == 20.0


def test_stop_met_and_left_within_one_step_is_found():
    """A step of 6 has the condition the same at both ends; what is looked at in between shows it."""
    stop = pt.Event(lambda q, p: q[0] - 0.5)
    run = simulate(20.0, integrator=Exact(h=6.0), stop=stop)
    assert np.cos(6.0) > 0.5, "the control: its ends show nothing"
    assert run.t[-1] == pytest.approx(np.pi / 3.0, abs=1e-15)
    assert len(run.steps) == 1


@pytest.mark.slow
def test_stop_of_bodies_sees_the_motion():
    top = pt.library.gyro_top()

    def level(motion):
        return motion.rotation[0, 2, 0]

    run = pt.simulate(top, top.start, t1=5.0, integrator=SOLVER, stop=level, **OPTIONS)
    assert run.result is Result.stopped_by_event
    assert abs(run.rotation[-1, 0, 2, 0]) < 1e-14 < np.min(np.abs(run.rotation[1:-1, 0, 2, 0]))
    seen = run.at(run.t[3])
    np.testing.assert_allclose(seen.rotation, run.rotation[3], atol=1e-13)
    assert run.at(run.t[:4]).quaternion.shape == (4, 1, 4)


class Walled(pt.ODE):
    """Has no meaning where its number is near to zero."""

    def clearance(self, y):
        return jnp.abs(y[0]) - 0.1


@pytest.mark.parametrize("t1", [0.45, 1.0], ids=["ends there", "leaps over it"])
def test_a_singularity_ends_the_run_where_it_begins(t1):
    """A number that falls from 0.5 at constant speed, which the solver follows in one step."""
    problem = Walled(lambda y: -jnp.ones_like(y))  # pyright: ignore[reportCallIssue]

    def fall(t1):
        solver = pt.integrators.DormandPrince853(first_step=1.0)
        return pt.simulate(problem, pt.State(y=[0.5]), t1=t1, integrator=solver, throw=False, **OPTIONS)

    run = fall(t1)
    assert run.result is Result.near_singularity and "gimbal lock" in run.message
    assert run.t[-1] == run.steps.t[-1] == pytest.approx(0.4, abs=1e-14) and len(run.steps) == 1
    assert fall(0.35).result is Result.successful


@pytest.mark.slow
def test_gimbal_lock_ends_the_run_at_its_margin():
    """A free body that turns its axis up at constant speed: the middle angle falls from 0.5 to the margin."""
    sphere = pt.library.free_body(inertia=(1.0, 1.0, 1.0))
    start = sphere.state(rotation=pt.rotation.about_x(0.5), angular_velocity=(-1.0, 0.0, 0.0))
    angles = pt.coordinates.EulerAngles("zxz", margin=0.1)
    with pytest.raises(pt.SimulationError, match="gimbal lock") as caught:
        pt.simulate(
            sphere, start, t1=1.0, integrator=SOLVER, coordinates=angles, form="null_space", **OPTIONS
        )
    run = caught.value.trajectory
    assert run.result is Result.near_singularity
    assert run.t[-1] == pytest.approx(0.4, abs=1e-9) and run.steps.t[-1] == run.t[-1]
    np.testing.assert_allclose(np.arccos(run.rotation[:, 0, 2, 2]), 0.5 - run.t, atol=1e-7)


def test_failure_keeps_the_prefix():
    with pytest.raises(pt.SimulationError, match=r"after 6 steps, at t = 4.2: the solver") as caught:
        simulate(10.0, integrator=Exact(fails_after=6))
    run = caught.value.trajectory
    np.testing.assert_allclose(run.t, 0.7 * np.arange(7))
    assert simulate(10.0, integrator=Exact(fails_after=6), throw=False).result is Result.step_too_small
    sparse = simulate(10.0, integrator=Exact(fails_after=6), throw=False, save_at=[1.0, 9.0])
    np.testing.assert_allclose(sparse.t, [0.0, 1.0, 4.2])


def test_interrupt_keeps_the_prefix():
    with pytest.raises(pt.Interrupted, match="interrupted") as caught:
        simulate(10.0, integrator=Exact(interrupted_after=6), save_every=4)
    run = caught.value.trajectory
    np.testing.assert_allclose(run.t, [0.0, 2.8, 4.2])
    assert run.result is Result.interrupted and len(run.steps) == 6


def test_interrupt_before_the_first_step():
    with pytest.raises(pt.Interrupted) as caught:
        simulate(10.0, integrator=Exact(interrupted_after=0))
    run = caught.value.trajectory
    assert len(run) == 1 and len(run.steps) == 0
    np.testing.assert_array_equal(run.at(0.0).q, [1.0])
    assert "0 steps" in str(run.report())


def test_states_that_are_not_finite_end_the_run(monkeypatch):
    monkeypatch.setattr(_ExactEngine, "advance", _overflowing(_ExactEngine.advance))
    run = simulate(10.0, integrator=Exact(), throw=False)
    assert run.result is Result.non_finite and run.t[-1] == pytest.approx(1.4)


def _overflowing(advance):
    def wrong(self, seconds):
        batch = advance(self, seconds)
        batch.y[-1] = np.inf
        return batch

    return wrong


def test_batches_change_no_bit(monkeypatch):
    whole = simulate()
    monkeypatch.setattr(_adaptive_run, "BATCH_SECONDS", 0.0)
    single = simulate()
    np.testing.assert_array_equal(whole.q, single.q)
    assert whole.counts == single.counts
    times = np.linspace(0.0, 10.0, 33)
    np.testing.assert_array_equal(whole.at(times).q, single.at(times).q)


WRONG = [
    ({"rtol": 0.0}, "rtol = 0.0; a relative tolerance must be between"),
    ({"rtol": -1e-6}, "rtol = -1e-06; a relative"),
    ({"rtol": float("nan")}, "rtol = nan; it must be a finite number"),
    ({"rtol": 1e-15}, "rtol = 1e-15 is below what double precision allows.*at least 2.2e-14"),
    ({"atol": -1.0}, "atol = -1.0; an absolute tolerance must be positive"),
    ({"dt": 0.1}, "dt = 0.1, but Dormand-Prince.*chooses its steps.*first_step"),
    ({"t1": 0.0}, "t1 = 0.0 equals t0"),
    ({"save_at": [1.0, 11.0]}, "save_at has 11.0, outside the run"),
    ({"save_at": [2.0, 1.0]}, "in the order of the run"),
    ({"save_every": 0}, "save_every = 0; it must be a whole number"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_wrong_input_is_one_line(options, message):
    with pytest.raises(pt.InputError, match=message) as caught:
        simulate(**options)
    assert "\n" not in str(caught.value)


def test_fixed_steps_take_no_tolerance_and_need_a_step():
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"rtol": 1e-6, "dt": 0.1}, "rtol = 1e-06, but RK4 has fixed steps"),
        ({"atol": 1e-6, "dt": 0.1}, "atol = 1e-06, but RK4"),
        ({}, "RK4 has fixed steps; give dt"),
    ]
    for options, message in wrong:
        with pytest.raises(pt.InputError, match=message):
            pt.simulate(OSCILLATOR, START, t1=1.0, integrator=pt.integrators.RK4(), **options)
    run = pt.simulate(OSCILLATOR, START, t1=1.0, dt=0.1, integrator=pt.integrators.RK4(), progress=False)
    for ask in (lambda: run.steps, lambda: run.counts, lambda: run.at(0.5)):
        with pytest.raises(pt.InputError, match="this run has fixed steps"):
            ask()


def test_states_that_are_no_list_are_refused():
    matrix = pt.ODE(lambda y: -y)
    with pytest.raises(pt.InputError, match=r"shape \(2, 2\); an adaptive solver takes a flat list"):
        pt.simulate(matrix, pt.State(y=np.eye(2)), t1=1.0, integrator=SOLVER)


def test_solve_and_ensemble_refuse():
    solver: Any = SOLVER
    with pytest.raises(pt.InputError, match="solve takes fixed steps, and Dormand-Prince"):
        pt.solve(OSCILLATOR, solver, START, dt=0.1, steps=3)
    with pytest.raises(pt.InputError, match="ensemble takes fixed steps, and Dormand-Prince"):
        pt.ensemble(OSCILLATOR, solver, pt.State(q=[[1.0]], p=[[0.0]]), dt=0.1, steps=3)


def test_report_tells_steps_and_cost():
    text = str(simulate(1.0, integrator=Exact(), rtol=1e-7).report())
    assert "2 steps of 0.3 to 0.7, rtol = 1e-07, atol = 1e-11" in text
    assert "order chosen in the run" in text
    run = simulate(1.0)
    assert f"{run.counts.rhs} right-hand sides, {run.counts.rejected} rejected steps" in str(run.report())


def test_drift_is_counted_per_step():
    """The random walk that a report allows grows with the steps taken, which save times do not tell."""
    run = simulate(7.0, integrator=Exact(), save_at=[0.35, 3.5, 7.0])
    np.testing.assert_allclose(run.steps_taken, [0.0, 0.5, 5.0, 10.0])


def test_progress_is_shown_by_time(capsys):
    simulate(progress=True)
    assert "Dormand-Prince" in capsys.readouterr().err
