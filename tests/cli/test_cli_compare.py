"""`poinsot compare-formalisms`: table, JSON and pictures, interruption, wrong input."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from poinsot.analysis import InterruptedComparison, Refused, WorkPoint, WorkPrecision
from poinsot.cli import _compare, app

EXAMPLES = Path(__file__).parents[2] / "examples"


def invoke(*arguments: str):
    return CliRunner().invoke(app, ["compare-formalisms", *arguments], catch_exceptions=False)


def point(method, formulation, tolerance, error, rhs):
    return WorkPoint(
        method, formulation, tolerance, rhs // 12, 3, 0.1, error, rhs, 0, 0, rhs * 1e-5, "successful"
    )


FOUND = WorkPrecision(
    points=(
        point("odex", "Quaternions null_space", 1e-4, 1e-2, 100),
        point("odex", "Quaternions null_space", 1e-8, 1e-6, 10_000),
        point("odex", "Quaternions index0", 1e-4, float("inf"), 200),
        point("odex", "Quaternions index0", 1e-8, 1e-4, 20_000),
    ),
    refused=(
        Refused("ida", "Quaternions index0", "needs multipliers"),
        Refused("odex", "Quaternions index0", "not run at 1e-10: 9 s expected"),
    ),
    reference="Taylor series",
)


@pytest.fixture
def calls(monkeypatch):
    """Comparisons that are not computed."""
    calls = []

    def work_precision(system, state, t1, methods, **options):
        calls.append((t1, list(methods), options))
        warnings.warn("reference by Gauss", stacklevel=2)
        return FOUND

    monkeypatch.setattr(_compare, "work_precision", work_precision)
    return calls


def test_table_data_and_pictures(calls, tmp_path):
    result = invoke(str(EXAMPLES / "gyro_top.toml"), "--out", str(tmp_path / "here"), "--quick")
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines() if line.strip().startswith("odex")]
    assert rows[0] == ["odex", "Quaternions", "index0", "2", "1.0e-04", "20000", "0.2"]
    assert rows[1] == ["odex", "Quaternions", "null_space", "2", "1.0e-06", "1000", "0.01"]
    assert "rhs for 1e-04" in result.stdout, "half of them reach it"
    assert "not run: ida, Quaternions index0: needs multipliers" in result.stdout
    assert "Ladders that ended early: 1." in result.stdout and "9 s expected" not in result.stdout
    assert "reference by Gauss" in result.stderr
    data = json.loads((tmp_path / "here" / "comparison.json").read_text(), parse_constant=pytest.fail)
    assert data["points"][2]["error"] is None and data["points"][3]["rhs"] == 20_000
    assert (tmp_path / "here" / "odex.png").read_bytes().startswith(b"\x89PNG")
    t1, methods, options = calls[0]
    assert t1 == 60.0 and "dormand-prince853" in methods and "reversible-verlet" not in methods
    assert len(options["formulations"]) == 5 and options["tolerances"] == (1e-4, 1e-6, 1e-8)


def test_choices(calls, tmp_path):
    chosen = ("--solver", "odex", "--form", "null_space", "--form", "index0", "--patience", "3", "--json")
    result = invoke(str(EXAMPLES / "tennis_racket.toml"), "--out", str(tmp_path), *chosen)
    assert result.exit_code == 0 and json.loads(result.stdout)["reference"] == "Taylor series"
    t1, methods, options = calls[0]
    assert (t1, methods, options["patience"]) == (1.2, ["odex"], 3.0)
    assert {form for _, form in options["formulations"]} == {"null_space", "index0"}
    assert len(options["formulations"]) == 6, "three coordinates, two forms; the group has neither"


def test_interrupted(monkeypatch, tmp_path):
    def interrupted(*_, **__):
        raise InterruptedComparison(FOUND)

    monkeypatch.setattr(_compare, "work_precision", interrupted)
    result = invoke(str(EXAMPLES / "gyro_top.toml"), "--out", str(tmp_path))
    assert result.exit_code == 130
    assert "the 4 runs until then are in" in result.stderr
    assert len(json.loads((tmp_path / "comparison.json").read_text())["points"]) == 4


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("kepler.toml",), "formalisms are those of rigid bodies"),
        (("gyro_top.toml", "--solver", "odx"), "did you mean odex"),
        (("gyro_top.toml", "--solver", "rk4"), "--solver rk4: it is not led by a tolerance"),
        (("gyro_top.toml", "--form", "index5"), "--form index5 is not known; did you mean index"),
    ],
)
def test_wrong_input(calls, tmp_path, arguments, hint):
    result = invoke(str(EXAMPLES / arguments[0]), "--out", str(tmp_path), *arguments[1:])
    assert result.exit_code == 2 and hint in result.stderr
    assert calls == []


def test_work_between_points():
    work, error = np.array([10.0, 100.0, 1000.0]), np.array([1e-2, np.inf, 1e-6])
    assert _compare.at_error(work, error, 1e-4) == pytest.approx(100.0)
    assert np.isnan(_compare.at_error(work, error, 1e-7)) and np.isnan(_compare.at_error(work, error, 0.1))


@pytest.mark.slow
def test_for_real(tmp_path):
    """Example B by DOP853: the null space keeps the motion, index 0 loses it."""
    arguments = ("--quick", "--solver", "dormand-prince853", "--out", str(tmp_path))
    assert invoke(str(EXAMPLES / "tennis_racket.toml"), *arguments).exit_code == 0
    points = json.loads((tmp_path / "comparison.json").read_text())["points"]
    errors = {p["formulation"]: p["error"] for p in points if p["tolerance"] == 1e-8}
    assert len(errors) == 5
    assert all((error < 1e-2) == ("null_space" in name) for name, error in errors.items())
