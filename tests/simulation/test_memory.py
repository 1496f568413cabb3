"""What a run keeps in memory: an estimate before it, and no more than the states call for after it."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import poinsot as pt
from poinsot.simulation import _adaptive_run, _memory

OSCILLATOR = pt.ODE(lambda t, y: np.array([[0.0, 1.0], [-1.0, 0.0]]) @ y)
START = pt.State(y=[1.0, 0.0])


@pytest.mark.parametrize("steps", [9e8, 3e9, 1e11])
def test_more_states_than_the_memory_holds_are_refused(steps, monkeypatch):
    monkeypatch.setattr(_memory, "memory", lambda: 2.0**33)
    with pytest.raises(pt.InputError, match=r"save_every = 1 keeps .* take save_every = (\d+)$") as refused:
        pt.simulate(OSCILLATOR, START, t1=steps * 1e-3, dt=1e-3, integrator=pt.integrators.RK4())
    fits = int(str(refused.value).rsplit(" ", 1)[1])
    assert 8.0 * steps / fits * 4 < 2.0**33 < 1e3 * 8.0 * steps / fits * 4
    assert "\n" not in str(refused.value)


def test_the_size_of_the_state_counts(monkeypatch):
    monkeypatch.setattr(_memory, "memory", lambda: 1e6)
    wide = pt.ODE(lambda t, y: -y)
    given: Any = {"t1": 1.0, "dt": 1e-3, "integrator": pt.integrators.RK4()}
    with pytest.raises(pt.InputError, match="save_every = 1 keeps 1e.03 states of at least 1000 numbers"):
        pt.simulate(wide, pt.State(y=np.ones(1000)), **given)
    with pytest.raises(pt.InputError, match="save_at keeps .* give fewer times"):
        pt.simulate(wide, pt.State(y=np.ones(1000)), save_at=np.linspace(0.1, 1.0, 200).tolist(), **given)
    assert len(pt.simulate(wide, pt.State(y=np.ones(10)), **given)) == 1001


def test_memory_is_that_of_the_machine_or_of_its_part(monkeypatch, tmp_path):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(_memory, "GROUP_LIMIT", limit)
    whole = _memory.memory()
    assert whole > 1e8
    limit.write_text("12345678\n")
    assert _memory.memory() == 12345678.0
    limit.write_text("max\n")
    assert _memory.memory() == whole


def test_dense_output_of_steps_that_are_not_saved_is_kept_while_they_are_few(monkeypatch):
    solver = {"t1": 40.0, "integrator": pt.integrators.DormandPrince5(), "rtol": 1e-9, "atol": 1e-9}
    few = pt.simulate(OSCILLATOR, START, save_every=50, **solver)
    np.testing.assert_allclose(few.at(20.0).y, [np.cos(20.0), -np.sin(20.0)], atol=1e-6)
    monkeypatch.setattr(_adaptive_run, "DENSE_NUMBERS", 100)
    many = pt.simulate(OSCILLATOR, START, save_every=50, **solver)
    with pytest.raises(pt.InputError, match="at: with save_every = 50 the dense output .* is not kept"):
        many.at(20.0)
    np.testing.assert_array_equal(many.y, few.y)
    np.testing.assert_array_equal(many.steps.t, few.steps.t)
    assert many.steps.t.base is None or many.steps.t.base.size < 2 * many.steps.t.size
    assert pt.simulate(OSCILLATOR, START, **solver).at(20.0).y.shape == (2,)


PROGRAM = """
import resource, sys, tempfile
import poinsot as pt
chain = pt.library.particle_chain(count={count})
start = chain.straight_state(velocity_scale=0.05, seed=0)
run = pt.simulate(chain, start, t1=0.02, dt=0.001, save_every=5, integrator="lie-splitting")
assert len(run) == 5
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(run.report())
with tempfile.TemporaryDirectory() as folder:
    run.save(folder + "/run.zarr")
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print("peak", before, after)
"""


def peaks(count):
    """Largest resident memory in bytes until the end of the run, and until it is reported and stored."""
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(count=count)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [1024 * int(word) for word in done.stdout.split()[-2:]]


@pytest.mark.slow
def test_a_report_of_many_bodies_takes_memory_of_a_few_states():
    """It took 290 kB for each body, of which five states have 4 kB with everything that is seen."""
    count = 4_000
    before, after = peaks(count)
    assert after - before < 100e3 * count


@pytest.mark.slow
def test_a_hundred_thousand_bodies_in_two_gigabytes():
    assert peaks(100_000)[1] < 2e9
