"""Runs for people: grids of times, saves, events, failures, chunks."""

import jax.numpy as jnp
import numpy as np
import pytest

import poinsot as pt
from poinsot.simulation import _fixed_run, _loop
from poinsot.simulation._evaluation import in_blocks

KEPLER = pt.Hamiltonian(
    lambda q, p: 0.5 * p @ p - 1.0 / jnp.sqrt(q @ q),
    invariants={"angular momentum": lambda q, p: q[0] * p[1] - q[1] * p[0]},
)
START = pt.State(q=[0.4, 0.0], p=[0.0, 2.0])
GAUSS = pt.integrators.GaussLegendre(3)
DECAY = pt.ODE(lambda t, y, params: -params * y, params=1.0)
OSCILLATOR = pt.ODE(lambda y: jnp.stack([y[1], -y[0]]))


def run(**changes):
    given = {"t1": 1.0, "dt": 0.05, "integrator": GAUSS} | changes
    problem, start = given.pop("problem", KEPLER), given.pop("start", START)
    return pt.simulate(problem, start, **given)


def test_whole_run_conserves_and_labels():
    trajectory = run(t1=10.0)
    assert trajectory.result is pt.Result.successful
    assert trajectory.q.shape == (201, 2) and trajectory.t.shape == (201,)
    np.testing.assert_array_equal(trajectory.t, 0.05 * np.arange(201))
    np.testing.assert_allclose(trajectory.conserved["angular momentum"], 0.8, rtol=1e-14)
    assert 0.0 < np.ptp(trajectory.energy) < 1e-4
    assert trajectory.attributes["steps"] == 200 and trajectory.attributes["version"] == pt.__version__
    np.testing.assert_array_equal(trajectory.final.q, trajectory.q[-1])
    with pytest.raises(AttributeError, match="has no 'velocity'"):
        trajectory.velocity  # noqa: B018


def test_save_every_keeps_the_end():
    trajectory = run(save_every=7)
    np.testing.assert_allclose(trajectory.t, [0.0, 0.35, 0.7, 1.0], rtol=1e-15)
    np.testing.assert_array_equal(trajectory.q, run().q[[0, 7, 14, 20]])


def test_chunks_change_no_bit(monkeypatch):
    whole = run(t1=20.0)
    monkeypatch.setattr(_fixed_run, "CAPACITY", 4 * 13)

    class Slow(_fixed_run.Pace):
        def learn(self, steps, seconds):
            self.steps = 7

    monkeypatch.setattr(_fixed_run, "Pace", Slow)
    for save_every in (1, 25):
        pieces = run(t1=20.0, save_every=save_every)
        np.testing.assert_array_equal(pieces.q, whole.q[::save_every])


def test_save_at_takes_part_steps_without_touching_the_run():
    exact = run(dt=0.005, t1=1.234, last_step="shorten").q[-1]
    times = [0.0, 0.05, 0.33, 1.234, 2.0]
    trajectory = run(t1=2.0, save_at=times)
    np.testing.assert_array_equal(trajectory.t, [0.0, *times])
    whole = run(t1=2.0)
    np.testing.assert_array_equal(trajectory.q[2], whole.q[1])
    np.testing.assert_array_equal(trajectory.q[-1], whole.q[-1])
    np.testing.assert_allclose(trajectory.q[4], exact, atol=1e-5)


def test_last_step_may_be_shortened():
    exact = np.exp(-1.03)
    trajectory = run(problem=DECAY, start=pt.State(y=[1.0]), t1=1.03, dt=0.1, last_step="shorten")
    assert trajectory.t[-1] == pytest.approx(1.03, abs=1e-15) and len(trajectory) == 12
    np.testing.assert_allclose(trajectory.y[-1, 0], exact, rtol=1e-9)


def test_backward_returns():
    forth = run(t1=2.0)
    back = run(t0=2.0, t1=0.0, dt=-0.05, start=forth.final)
    np.testing.assert_allclose(back.q[-1], START.q, atol=1e-13)
    np.testing.assert_allclose(back.t, forth.t[::-1], atol=1e-14)


def test_stop_condition_is_located_to_round_off():
    """The oscillator's cos t has its zero at pi/2: the event's time errs no more than the method does."""
    start = pt.State(y=[1.0, 0.0])
    trajectory = pt.simulate(
        OSCILLATOR, start, t1=10.0, dt=0.1, integrator=pt.integrators.GaussLegendre(6), stop=lambda y: y[0]
    )
    assert trajectory.result is pt.Result.stopped_by_event
    assert trajectory.t[-1] == pytest.approx(np.pi / 2, abs=2e-15)
    assert abs(trajectory.y[-1, 0]) < 1e-15
    linear = trajectory.t[-2] + 0.1 * 0.5
    assert abs(linear - np.pi / 2) > 1e-3, "a guess inside the step would not pass"


def test_event_direction():
    event = pt.Event(lambda y: y[0], direction=1)
    trajectory = pt.simulate(
        OSCILLATOR,
        pt.State(y=[1.0, 0.0]),
        t1=10.0,
        dt=0.1,
        integrator=pt.integrators.GaussLegendre(6),
        stop=event,
    )
    assert trajectory.t[-1] == pytest.approx(1.5 * np.pi, abs=4e-15)


def test_failure_keeps_the_prefix():
    """Straight into the centre: the stage equations stop converging there."""
    plunge = {"start": pt.State(q=[1.0, 0.0], p=[0.0, 0.0]), "t1": 5.0, "dt": 0.05}
    with pytest.raises(pt.SimulationError, match=r"step \d+, from t = .*reduce dt") as caught:
        run(**plunge)
    prefix = caught.value.trajectory
    assert prefix.result is pt.Result.stage_equations_not_converged
    assert 1.0 < prefix.t[-1] < 1.2 and np.all(np.isfinite(prefix.q))
    assert prefix.attributes["steps"] == len(prefix) - 1
    quiet = run(**plunge, throw=False)
    np.testing.assert_array_equal(quiet.q, prefix.q)
    sparse = run(**plunge, throw=False, save_every=8)
    np.testing.assert_array_equal(sparse.q[-1], prefix.q[-1])
    assert sparse.t[-1] == prefix.t[-1], "the last good state is kept, though no save was due"


def test_non_finite_is_a_failure():
    blow_up = pt.ODE(lambda y: y**2)
    trajectory = pt.simulate(
        blow_up, pt.State(y=[1.0]), t1=5.0, dt=0.1, integrator=pt.integrators.RK4(), throw=False
    )
    assert trajectory.result is pt.Result.non_finite
    assert np.all(np.isfinite(trajectory.y))


def test_interrupt_keeps_the_prefix(monkeypatch):
    original, calls = _loop.KernelMarcher.record, []

    def interrupting(*args):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*args)

    monkeypatch.setattr(_loop.KernelMarcher, "record", interrupting)
    with pytest.raises(pt.Interrupted) as caught:
        run(t1=1000.0)
    prefix = caught.value.trajectory
    assert prefix.result is pt.Result.interrupted and 1 < len(prefix) < 20001


def test_a_second_run_compiles_nothing():
    traces = []

    def counted(q, p, params):
        traces.append(1)
        return 0.5 * p @ p + params["k"] * q @ q

    problem = pt.Hamiltonian(counted, params={"k": 1.0})
    pt.simulate(problem, START, t1=1.0, dt=0.05, integrator=GAUSS)
    count = len(traces)
    pt.simulate(problem, START, t1=3.0, dt=0.05, integrator=GAUSS)
    after_validation = len(traces) - count
    pt.simulate(problem.with_params({"k": 2.0}), START, t1=3.0, dt=0.02, integrator=GAUSS)
    # What is left is the validation, which calls the functions once, uncompiled.
    assert len(traces) - count == 2 * after_validation and after_validation <= 4


BAD = {
    "dt = 0": {"dt": 0.0},
    "dt = nan": {"dt": float("nan")},
    "leads away": {"dt": -0.05},
    "not a whole number": {"dt": 0.3},
    "nothing to do": {"t1": 0.0},
    "t1 = inf": {"t1": float("inf")},
    r"p\[1\] = nan": {"start": pt.State(q=[0.4, 0.0], p=[0.0, float("nan")])},
    "must be equal": {"start": pt.State(q=[0.4, 0.0], p=[0.0])},
    "needs State": {"start": pt.State(y=[0.4, 0.0])},
    "must be a list": {"start": pt.State(q=0.4, p=0.1)},
    "not finite at the start": {"start": pt.State(q=[0.0, 0.0], p=[0.0, 1.0])},
    "save_every = 0": {"save_every": 0},
    "outside the run": {"save_at": [0.5, 1.5]},
    "in the order of the run": {"save_at": [0.5, 0.2]},
    "last_step": {"last_step": "guess"},
    "needs a separable Hamiltonian.*These fit: .*verlet": {"integrator": pt.integrators.Splitting()},
    "must be one of pt.integrators": {"integrator": 6},
    "cannot be evaluated": {"problem": pt.Hamiltonian(lambda q, p: q[0] @ p)},
    "must return one number": {"problem": pt.Hamiltonian(lambda q, p: q * p)},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_one_clear_line(message):
    with pytest.raises(pt.InputError, match=message) as caught:
        run(**BAD[message])
    assert "\n" not in str(caught.value)


def test_right_hand_side_of_wrong_shape():
    with pytest.raises(pt.InputError, match="like the state"):
        run(problem=pt.ODE(lambda y: jnp.sum(y)), start=pt.State(y=[1.0, 2.0]))


@pytest.mark.parametrize(("count", "block"), [(2, 16), (17, 256), (300, 1000), (2500, 1000)])
def test_short_lists_of_states_are_looked_at_in_short_blocks(count, block):
    """What fills up the last block costs as much as what is asked for, and is left out of the answer."""
    seen = []

    def look(times, packed):
        seen.append(len(times))
        return times + packed[:, 0]

    times = np.arange(float(count))
    np.testing.assert_array_equal(in_blocks(look, times, times[:, None] ** 2, most=1000), times + times**2)
    assert set(seen) == {block} and len(seen) == -(-count // block)
