"""Runs whose end nobody would see stop with a reason, and keep what they have."""

import pytest

import poinsot as pt
from poinsot.simulation import _adaptive_run, _progress

KEPLER = pt.library.kepler()


@pytest.mark.parametrize("how", [{"integrator": "dormand-prince853"}, {"integrator": "rk4", "dt": 1.0}])
def test_an_end_out_of_reach(how, monkeypatch):
    monkeypatch.setattr(_progress, "PATIENCE", 0.5)
    monkeypatch.setattr(_progress, "MONTH", 3.0)
    with pytest.raises(pt.SimulationError, match="would take more than a month") as caught:
        pt.simulate(KEPLER, KEPLER.start, t1=1e9, save_every=10**6, progress=False, **how)
    run = caught.value.trajectory
    assert run.result is pt.Result.out_of_reach and 0.0 < run.t[-1] < 1e9


def test_a_run_that_takes_its_time_goes_on(monkeypatch):
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    run = pt.simulate(KEPLER, KEPLER.start, t1=100.0, integrator="bdf", rtol=1e-10, progress=False)
    assert run.result is pt.Result.successful


def test_saved_steps_that_fill_the_memory(monkeypatch):
    monkeypatch.setattr(_adaptive_run, "memory", lambda: 1e5)
    with pytest.raises(pt.SimulationError, match="fill the memory"):
        pt.simulate(KEPLER, KEPLER.start, t1=1e9, integrator="dormand-prince853", progress=False)


@pytest.mark.parametrize("solver", ["dormand-prince853", "odex", "radau5-adaptive"])
def test_an_absolute_tolerance_of_zero(solver):
    """Components that start at zero get out of there by a relative tolerance alone."""
    ends = [
        pt.simulate(KEPLER, KEPLER.start, t1=5.0, integrator=solver, atol=atol, progress=False).q[-1]
        for atol in (0.0, 1e-12)
    ]
    assert abs(ends[0] - ends[1]).max() < 1e-6


def test_one_slow_look_is_no_pace(monkeypatch):
    """What is compiled at the beginning may take a minute for one small step."""
    clock = [0.0]
    monkeypatch.setattr(_progress.time, "perf_counter", lambda: clock[0])
    bar = _progress.Progress(False, 1.0, "run")

    def after(seconds, done):
        clock[0] += seconds
        bar.update(done)
        return bar.out_of_reach

    assert not any((after(60.0, 1e-9), after(2.0, 0.1), after(50.0, 0.1), after(2.0, 0.2)))
    assert [after(2.0, 0.2 + 1e-9 * k) for k in range(6)][-1]
