"""Adaptive runs on disk, in scenario files, on the command line and in pictures."""

import json

import jax.numpy as jnp
import numpy as np
import pytest
from typer.testing import CliRunner

import poinsot as pt
from poinsot.cli._app import app
from poinsot.core import Result

SCENARIO = """
[system]
name = "gyro-top"

[coordinates]
name = "quaternions"

[equations]
form = "index0"

[integrator]
name = "dormand-prince853"
rtol = 1e-7
atol = 1e-8
projection = true
max_step = 0.02

[run]
t1 = 0.4
"""


@pytest.fixture(scope="module")
def run():
    top = pt.library.gyro_top()
    solver = pt.integrators.DormandPrince853()
    return pt.simulate(top, top.start, t1=0.4, rtol=1e-7, atol=1e-8, integrator=solver, progress=False)


def test_history_comes_back_equal(run, tmp_path):
    run.save(tmp_path / "run.zarr")
    loaded = pt.load(tmp_path / "run.zarr")
    for name in ("t", "h", "rejected"):
        stored, own = getattr(loaded.steps, name), getattr(run.steps, name)
        np.testing.assert_array_equal(stored, own)
        assert stored.dtype == own.dtype
    assert loaded.counts == run.counts
    assert loaded.attributes == run.attributes
    assert str(loaded.report()) == str(run.report())
    with pytest.raises(pt.InputError, match="keeps the numbers of a run and no code"):
        loaded.at(0.1)


def test_a_run_without_a_step_is_stored(tmp_path):
    """The right-hand side ends just after the start, so that every attempt fails."""
    cliff = pt.ODE(lambda t, y: y * jnp.where(t > 1.0, jnp.nan, 1.0))
    solver = pt.integrators.DormandPrince853()
    run = pt.simulate(cliff, pt.State(y=[1.0]), t0=1.0, t1=2.0, integrator=solver, throw=False)
    assert run.result is Result.non_finite and len(run.steps) == 0
    run.save(tmp_path / "run.zarr")
    loaded = pt.load(tmp_path / "run.zarr")
    np.testing.assert_array_equal(loaded.steps.t, [1.0])
    assert loaded.counts == run.counts and loaded.counts.rejected > 0
    with pytest.raises(pt.InputError, match="not a single step"):
        loaded.plot.steps()


def test_dataset_has_named_steps(run):
    dataset = run.dataset
    assert dataset["step_time"].dims == ("step end",) and dataset["step_rejected"].dims == ("step",)
    assert dataset.attrs["counts"]["rhs"] == run.counts.rhs


def test_command_line_runs_a_scenario(tmp_path):
    path, out = tmp_path / "top.toml", tmp_path / "out"
    path.write_text(SCENARIO)
    result = CliRunner().invoke(app, ["run", str(path), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "right-hand sides" in result.output and "rtol = 1e-07" in result.output
    told = json.loads((out / "report.json").read_text())
    assert told["rtol"] == 1e-7 and told["atol"] == 1e-8 and "dt" not in told
    loaded = pt.load(out / "trajectory.zarr")
    assert loaded.result is Result.successful and loaded.counts.rhs == told["counts"]["rhs"]
    assert np.max(loaded.steps.h) <= 0.02 * (1.0 + 1e-12)
    assert np.max(np.abs(loaded.constraint)) < 1e-15
    assert (out / "steps.png").stat().st_size > 10_000


def test_picture_of_the_steps():
    kepler, solver = pt.library.kepler(eccentricity=0.9), pt.integrators.DormandPrince853()
    run = pt.simulate(kepler, kepler.start, t1=10.0, rtol=1e-7, integrator=solver)
    ax = run.plot.steps()
    sizes, again = ax.get_lines()
    np.testing.assert_array_equal(sizes.get_ydata(), run.steps.h)
    np.testing.assert_array_equal(again.get_xdata(), run.steps.t[:-1][run.steps.rejected > 0])
    assert "rtol = 1e-07" in ax.get_title("left")
    oscillator = pt.library.harmonic_oscillator()
    fixed = pt.simulate(oscillator, oscillator.start, t1=1.0, dt=0.1, integrator=pt.integrators.RK4())
    with pytest.raises(pt.InputError, match="fixed steps"):
        fixed.plot.steps()
