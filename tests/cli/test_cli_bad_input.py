"""Wrong input through the command line: exit code 2 and one clear line, never a traceback."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from poinsot.cli import app
from poinsot.io import _toml

GOOD = """
[system]
name = "galactic-orbit"

[start]
q = [2.5, 0.0, 0.0]
p = [0.0, 1.7, 0.2]

[integrator]
name = "gauss4"

[run]
t1 = 1.0
dt = 0.1
"""

CASES = {
    "unknown system": ("galactic-orbit", "galactic-obit", "did you mean galactic-orbit"),
    "unknown parameter": ("[start]", "[system.parameters]\nomga = 1.0\n[start]", "did you mean omega"),
    "unknown key": ("dt = 0.1", "dt = 0.1\nsave_evry = 2", "did you mean save_every?"),
    "unknown section": ("[run]", "[rum]", "did you mean run?"),
    "missing key": ("t1 = 1.0", "", "[run] needs t1"),
    "dt zero": ("dt = 0.1", "dt = 0.0", "dt = 0; the step must be positive"),
    "dt NaN": ("dt = 0.1", "dt = nan", "dt = nan; it must be a finite number"),
    "dt infinite": ("dt = 0.1", "dt = inf", "dt = inf; it must be a finite number"),
    "dt of the wrong sign": ("dt = 0.1", "dt = -0.1", "leads away from t1 = 1.0"),
    "dt not a number": ("dt = 0.1", 'dt = "small"', "it must be a number"),
    "t1 not reachable": ("t1 = 1.0", "t1 = 1.05", "not a whole number; take t1 = 1"),
    "t1 equal to t0": ("t1 = 1.0", "t1 = 0.0", "there is nothing to do"),
    "NaN in the state": ("2.5, 0.0", "2.5, nan", "the start has q[1] = nan"),
    "too few numbers": ("[2.5, 0.0, 0.0]", "[2.5, 0.0]", "2 numbers; galactic-orbit has 3"),
    "a number for a list": ("[2.5, 0.0, 0.0]", "2.5", "it must be a list of numbers"),
    "labels of another kind": ("p = [0.0, 1.7, 0.2]", "", "galactic-orbit needs q and p"),
    "unknown integrator": ("gauss4", "gaus4", "did you mean gauss4"),
    "integrator that does not fit": ("gauss4", "splitting2", "needs a separable Hamiltonian"),
    "option that does not apply": ('"gauss4"', '"verlet"\nsolver = "newton"', "does not apply to verlet"),
    "not TOML": ("[system]", "[system", "not a TOML file"),
}


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str):
        return CliRunner().invoke(app, list(arguments), catch_exceptions=False)

    return invoke


def assert_one_line(result, message: str) -> None:
    assert result.exit_code == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("poinsot: ")
    assert message in lines[0]


@pytest.mark.parametrize(("old", "new", "message"), CASES.values(), ids=CASES.keys())
def test_wrong_scenario(invoke, tmp_path, old, new, message):
    assert old in GOOD
    (tmp_path / "case.toml").write_text(GOOD.replace(old, new, 1))
    assert_one_line(invoke("run", "case.toml"), message)
    assert os.listdir(tmp_path) == ["case.toml"]


def test_refusal_names_integrators_that_fit(invoke, tmp_path):
    (tmp_path / "case.toml").write_text(GOOD.replace("gauss4", "splitting2"))
    line = invoke("run", "case.toml").stderr
    fitting = line.split("These fit: ")[1].strip().split(", ")
    assert {"gauss6", "verlet", "rk4"} <= set(fitting)
    assert not any(name.startswith("splitting") for name in fitting)


def test_files_that_cannot_be_read(invoke, tmp_path):
    assert_one_line(invoke("run", "none.toml"), "none.toml: cannot be read: no such file or directory")
    assert_one_line(invoke("run", str(tmp_path)), "cannot be read: is a directory")
    (tmp_path / "picture.toml").write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff\xfe")
    assert_one_line(invoke("run", "picture.toml"), "picture.toml: not a TOML file: byte 0 is not UTF-8 text")


def test_file_without_permission(invoke, tmp_path, monkeypatch):
    def refuse(path, *_):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    (tmp_path / "case.toml").write_text(GOOD)
    monkeypatch.setattr(_toml, "read_regular", refuse)
    assert_one_line(invoke("run", "case.toml"), "case.toml: cannot be read: permission denied")


def test_folder_without_permission(invoke, tmp_path, monkeypatch):
    (tmp_path / "case.toml").write_text(GOOD)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    result = invoke("run", "case.toml", "--out", "deep/down")
    assert_one_line(result, f"output folder deep/down: {tmp_path} cannot be written to")


def test_output_folder_that_is_a_file(invoke, tmp_path):
    (tmp_path / "case.toml").write_text(GOOD)
    (tmp_path / "taken").write_text("")
    assert_one_line(
        invoke("run", "case.toml", "--out", "taken"), "taken is a file; choose another with --out"
    )
    assert_one_line(invoke("run", "case.toml", "--out", "taken/deep"), "taken is a file")


def test_something_else_in_the_place_of_the_trajectory(invoke, tmp_path):
    (tmp_path / "case.toml").write_text(GOOD)
    (tmp_path / "out" / "trajectory.zarr").mkdir(parents=True)
    (tmp_path / "out" / "trajectory.zarr" / "precious.txt").write_text("mine")
    assert_one_line(invoke("run", "case.toml", "--out", "out"), "exists and is not a stored trajectory")
    assert (tmp_path / "out" / "trajectory.zarr" / "precious.txt").read_text() == "mine"


@pytest.mark.parametrize("package", ["zarr", "matplotlib"])
def test_missing_optional_package_is_told_before_the_run(invoke, tmp_path, monkeypatch, package):
    (tmp_path / "case.toml").write_text(GOOD)
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr("poinsot.io._scenario.simulate", lambda *args, **kwargs: pytest.fail("it ran"))
    assert_one_line(invoke("run", "case.toml"), f"needs {package}, which is not installed: pip install")


def test_verify_and_reproduce_unknown_names(invoke):
    assert_one_line(invoke("verify", "gaus6"), "did you mean gauss6")
    assert_one_line(invoke("verify"), "give the name of an integrator, or --all")
    assert_one_line(invoke("verify", "--all", "gauss6"), "not both")
    assert_one_line(invoke("reproduce", "chaurasia2012/table-9.9"), "chaurasia2012/table-9.9")


@pytest.mark.parametrize("case", ["unknown key", "dt NaN"])
def test_the_installed_program(tmp_path, case):
    old, new, message = CASES[case]
    (tmp_path / "case.toml").write_text(GOOD.replace(old, new, 1))
    command = [sys.executable, "-c", "from poinsot.cli import main; main()", "run", "case.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_bug_keeps_its_traceback(monkeypatch, invoke, tmp_path):
    (tmp_path / "case.toml").write_text(GOOD)
    monkeypatch.setattr("poinsot.io._scenario.simulate", lambda *args, **kwargs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        invoke("run", "case.toml")
