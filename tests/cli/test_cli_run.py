"""`poinsot run` from a file to results: success, failure and interruption."""

import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import poinsot as pt
from poinsot.cli import _run, app
from poinsot.io import _store, load_scenario
from poinsot.simulation import _evaluation, _fixed_run, _report, _trajectory
from poinsot.viz import TrajectoryPlots

OSCILLATOR = """
[system]
name = "harmonic-oscillator"
parameters = { mass = 2.0 }

[integrator]
name = "verlet"

[run]
t1 = 40.0
dt = 0.1
"""

# Starts far out on an ellipse of eccentricity 0.9; near the centre the step is too large for the iteration.
CLOSE_ENCOUNTER = """
[system]
name = "kepler"

[start]
q = [1.9, 0.0]
p = [0.0, 0.23]

[integrator]
name = "gauss4"

[run]
t1 = 10.0
dt = 0.1
"""


DELAY = 0.05
"""Seconds."""


def invoke(folder: Path, scenario: str, *options: str):
    path = folder / "case.toml"
    path.write_text(scenario)
    return CliRunner().invoke(app, ["run", str(path), *options], catch_exceptions=False)


def read_json(path: Path):
    return json.loads(path.read_text(), parse_constant=pytest.fail)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    result = invoke(folder, OSCILLATOR, "--out", str(folder / "deep" / "out"))
    return result, folder


def test_it_succeeds_and_prints_the_report(done):
    result, _ = done
    assert result.exit_code == 0
    assert "harmonic-oscillator with mass = 2.0" in result.stdout
    assert "energy" in result.stdout and "bounded" in result.stdout
    assert "400 steps of 0.1" in result.stdout and "401 states" in result.stdout


def test_every_printed_path_is_there(done):
    result, folder = done
    out = folder / "deep" / "out"
    printed = [Path(line.strip()) for line in result.stdout.splitlines() if str(out) in line]
    assert {out / "trajectory.zarr", out / "report.json"} < set(printed)
    assert set(printed) == set(out.iterdir())
    pictures = [path for path in printed if path.suffix == ".png"]
    assert pictures and all(path.read_bytes().startswith(b"\x89PNG") for path in pictures)


def test_saved_motion_is_the_motion(done):
    _, folder = done
    loaded = pt.load(folder / "deep" / "out" / "trajectory.zarr")
    run = load_scenario(folder / "case.toml").run(progress=False)
    np.testing.assert_array_equal(loaded.q, run.q)
    assert loaded.attributes["scenario"] == run.attributes["scenario"]


def test_report_as_json(done):
    _, folder = done
    report = read_json(folder / "deep" / "out" / "report.json")
    assert (report["result"], report["steps"]) == ("successful", 400)
    assert report["scenario"]["run"] == {"t0": 0.0, "t1": 40.0, "dt": 0.1, "last_step": "refuse"}
    assert "bounded" in json.dumps(report["report"])


def test_quiet_and_without_pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke(tmp_path, OSCILLATOR, "--quiet", "--no-plots")
    assert (result.exit_code, result.output) == (0, "")
    assert {path.name for path in (tmp_path / "runs" / "case").iterdir()} == {
        "trajectory.zarr",
        "report.json",
    }


def test_outputs_of_the_scenario(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output = '[output]\nfolder = "here"\nstore = false\npictures = false\n'
    assert invoke(tmp_path, OSCILLATOR + output).exit_code == 0
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["report.json"]
    assert invoke(tmp_path, OSCILLATOR + output, "--out", "there").exit_code == 0
    assert (tmp_path / "there" / "report.json").exists()


def test_a_second_run_replaces_the_first(tmp_path):
    for dt in ("0.1", "0.2"):
        result = invoke(tmp_path, OSCILLATOR.replace("0.1", dt), "--out", str(tmp_path / "out"), "--no-plots")
        assert result.exit_code == 0
    assert len(pt.load(tmp_path / "out" / "trajectory.zarr")) == 201
    assert read_json(tmp_path / "out" / "report.json")["dt"] == 0.2


def test_stage_iteration_that_does_not_converge(tmp_path):
    result = invoke(tmp_path, CLOSE_ENCOUNTER, "--out", str(tmp_path / "out"))
    assert result.exit_code == 3
    prefix = pt.load(tmp_path / "out" / "trajectory.zarr")
    assert prefix.result is pt.Result.stage_equations_not_converged
    assert 2 < len(prefix) < 100 and np.all(np.isfinite(prefix.q))
    assert prefix.t[-1] == pytest.approx(0.1 * prefix.attributes["steps"])
    (line,) = result.stderr.splitlines()
    assert f"step {prefix.attributes['steps'] + 1}, from t = {prefix.t[-1]:.12g}" in line
    assert "did not converge" in line and str(tmp_path / "out") in line
    assert read_json(tmp_path / "out" / "report.json")["result"] == "stage_equations_not_converged"


def test_interruption_saves_what_was_computed(tmp_path, monkeypatch):
    chunk, calls = _fixed_run._chunk, []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return chunk(*args)

    monkeypatch.setattr(_fixed_run, "_chunk", interrupted)
    scenario = OSCILLATOR.replace("40.0", "400000.0")
    result = invoke(tmp_path, scenario, "--out", str(tmp_path / "out"), "--no-plots")
    assert result.exit_code == 130
    prefix = pt.load(tmp_path / "out" / "trajectory.zarr")
    assert prefix.result is pt.Result.interrupted and 1 < len(prefix) < 4_000_000
    assert "interrupted" in result.stderr and str(tmp_path / "out") in result.stderr


def test_interrupt_after_the_last_step_does_not_lose_the_run(tmp_path, monkeypatch):
    """As if Ctrl-C were pressed while the results are computed and saved."""
    conserved, before = _evaluation.conserved_of, signal.getsignal(signal.SIGINT)

    def interrupted(*given):
        os.kill(os.getpid(), signal.SIGINT)
        return conserved(*given)

    monkeypatch.setattr("poinsot.simulation._trajectory.conserved_of", interrupted)
    result = invoke(tmp_path, OSCILLATOR, "--out", str(tmp_path / "out"))
    assert result.exit_code == 130
    whole = pt.load(tmp_path / "out" / "trajectory.zarr")
    assert whole.result is pt.Result.successful and len(whole) == 401 and "energy" in whole.conserved
    assert "complete" in result.stderr and str(tmp_path / "out") in result.stderr
    assert read_json(tmp_path / "out" / "report.json")["result"] == "successful"
    assert signal.getsignal(signal.SIGINT) is before


def test_the_report_is_printed_before_anything_is_saved_or_drawn(tmp_path, monkeypatch):
    order = []
    for place, name in ((_run.typer, "echo"), (_store, "to_dataset"), (TrajectoryPlots, "save_all")):
        function = getattr(place, name)

        def noted(*given, _function=function, _name=name):
            order.append(_name)
            return _function(*given)

        monkeypatch.setattr(place, name, noted)
    assert invoke(tmp_path, OSCILLATOR, "--out", str(tmp_path / "out")).exit_code == 0
    assert order == ["echo", "to_dataset", "save_all", "echo"]


def test_a_run_whose_report_cannot_be_made_is_saved(tmp_path, monkeypatch):
    def broken(*given):
        raise MemoryError

    monkeypatch.setattr("poinsot.simulation._report.judge", broken)
    with pytest.raises(MemoryError):
        invoke(tmp_path, OSCILLATOR, "--out", str(tmp_path / "out"))
    assert len(pt.load(tmp_path / "out" / "trajectory.zarr")) == 401


def test_a_run_is_judged_once(tmp_path, monkeypatch):
    """For the report, its file and the pictures together."""
    judge, judged = _report.judge, []

    def counted(*given, **options):
        judged.append(given)
        return judge(*given, **options)

    monkeypatch.setattr(_report, "judge", counted)
    assert invoke(tmp_path, OSCILLATOR, "--out", str(tmp_path / "out")).exit_code == 0
    assert len(judged) == 1


def test_times_cover_what_is_waited_for(tmp_path, monkeypatch):
    # Each part is made to wait, so that the machine may be slow.
    parts = {
        "run": (_fixed_run, "_chunk"),
        "evaluation": (_trajectory, "conserved_of"),
        "saving": (_store, "to_dataset"),
    }

    def delayed(function):
        def waiting(*given):
            time.sleep(DELAY)
            return function(*given)

        return waiting

    for module, name in parts.values():
        monkeypatch.setattr(module, name, delayed(getattr(module, name)))
    began = time.perf_counter()
    result = invoke(tmp_path, OSCILLATOR, "--out", str(tmp_path / "out"), "--no-plots")
    waited = time.perf_counter() - began
    seconds = read_json(tmp_path / "out" / "report.json")["seconds"]
    assert list(seconds) == ["compile", "run", "evaluation", "saving"]
    assert seconds["compile"] >= 0.0 and all(seconds[part] >= DELAY for part in parts)
    assert sum(seconds.values()) <= waited
    assert pt.load(tmp_path / "out" / "trajectory.zarr").attributes["seconds"] == seconds
    # The report is printed before the run is saved.
    assert "compile" in result.output and "evaluation" in result.output and "saving" not in result.output


TOP = """
[system]
name = "heavy-top"
parameters = { inertia = [50.0, 42.0, 10.0], mgl = 108.8 }

[start]
rotation = { axis = [1.0, 0.0, 0.0], angle = 1.0 }
angular_velocity = [0.0, 0.0, 20.0]

[coordinates]
name = "group"

[integrator]
name = "lie-splitting"

[run]
t1 = 2.0
dt = 0.01
"""


def test_a_run_of_bodies(tmp_path):
    out = tmp_path / "out"
    result = invoke(tmp_path, TOP, "--out", str(out))
    assert result.exit_code == 0
    assert "heavy-top with inertia = [50.0, 42.0, 10.0], mgl = 108.8" in result.stdout
    assert "Group(" in result.stdout and "L_z" in result.stdout
    assert {"axis.png", "polhode.png", "energy.png", "trajectory.zarr", "report.json"} <= {
        path.name for path in out.iterdir()
    }
    loaded = pt.load(out / "trajectory.zarr")
    assert isinstance(loaded, pt.BodyTrajectory) and loaded.rotation.shape == (201, 1, 3, 3)
    np.testing.assert_allclose(np.linalg.det(loaded.rotation), 1.0, rtol=1e-13)
    assert read_json(out / "report.json")["form"] == "group"


def test_accuracy_is_estimated_where_it_is_asked_for(tmp_path):
    """Beside the exact motion of an oscillator of frequency one over the root of two."""
    (tmp_path / "s.toml").write_text(OSCILLATOR)
    out = tmp_path / "out"
    found = CliRunner().invoke(
        app, ["run", str(tmp_path / "s.toml"), "--out", str(out), "--no-plots", "--accuracy"]
    )
    assert found.exit_code == 0 and "estimated by the same run at dt = 0.05" in found.output
    rows = json.loads((out / "report.json").read_text())["report"]["accuracy"]["rows"]
    run = pt.load(out / "trajectory.zarr")
    oscillator = pt.library.harmonic_oscillator(mass=2.0)
    assert oscillator.exact is not None
    error = np.max(np.abs(run.q - np.asarray(oscillator.exact(run.t).q)))
    assert rows[0]["largest"] == pytest.approx(error, rel=0.1)


def test_accuracy_that_cannot_be_estimated_costs_nothing_else(tmp_path):
    solver = 'name = "dormand-prince8"\nrtol = 3e-14\natol = 1e-14'
    finest = OSCILLATOR.replace('name = "verlet"', solver).replace("dt = 0.1\n", "")
    (tmp_path / "s.toml").write_text(finest)
    out = tmp_path / "out"
    found = CliRunner().invoke(
        app, ["run", str(tmp_path / "s.toml"), "--out", str(out), "--no-plots", "--accuracy"]
    )
    assert found.exit_code == 0 and "no estimate of the accuracy" in found.output
    assert "accuracy" not in json.loads((out / "report.json").read_text())["report"]
