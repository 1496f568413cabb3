"""Help, version and the two lists: they answer at once, in text and in strict JSON."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import poinsot as pt
from poinsot.cli import app
from poinsot.cli._tables import as_json

HEAVY = ("jax", "numpy", "rich", "matplotlib", "xarray", "equinox", "poinsot.core")


def invoke(*arguments: str):
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def modules_after(arguments: list[str]) -> list[str]:
    code = (
        "import sys\n"
        "from poinsot.cli import main\n"
        f"sys.argv = {['poinsot', *arguments]!r}\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "print('\\n' + ' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments):
    loaded = modules_after(arguments)
    assert "typer" in loaded
    assert not set(HEAVY) & set(loaded)


def test_the_module_is_the_command():
    shown = subprocess.run([sys.executable, "-m", "poinsot", "--version"], capture_output=True, text=True)
    assert (shown.returncode, shown.stdout.strip()) == (0, invoke("--version").stdout.strip())
    assert pt.__version__ in shown.stdout


def test_heavy_imports_are_seen_where_they_happen():
    assert {"jax", "numpy"} <= set(modules_after(["methods", "--json"]))


def test_help_names_every_command():
    text = invoke("--help").stdout
    assert all(command in text for command in ("run", "methods", "systems", "verify", "reproduce"))
    assert "Exit codes" in text


def test_version():
    assert invoke("--version").stdout == f"poinsot {pt.__version__}\n"


def test_methods_as_json():
    methods = {method["name"]: method for method in json.loads(invoke("methods", "--json").stdout)}
    assert tuple(methods) == (*pt.integrators.names(), *pt.integrators.adaptive_names())
    assert methods["gauss6"] == {
        "name": "gauss6",
        "method": pt.integrators.by_name("gauss6").name,
        "class": "ImplicitRungeKutta",
        "order": 6,
        "symmetric": True,
        "symplectic": True,
        "conserves": ["bilinear", "linear", "quadratic"],
        "needs": "ode",
        "reference": pt.integrators.GaussLegendre(3).reference,
    }
    assert methods["rk4"]["symplectic"] is False
    assert methods["splitting2"]["needs"] == "separable"


def test_methods_as_table():
    lines = invoke("methods").stdout.splitlines()
    row = next(line for line in lines if line.split()[:1] == ["sun-geng5"])
    *_, order, symmetric, symplectic, conserves, needs, number = row.split()
    assert (order, symmetric, symplectic, conserves, needs) == ("5", "no", "yes", "quadratic", "ode")
    reference = next(line for line in lines if line.split()[:1] == [number])
    assert pt.integrators.SunGeng5().reference in reference


def test_systems(monkeypatch):
    systems = {system["name"]: system for system in json.loads(invoke("systems", "--json").stdout)}
    assert tuple(systems) == pt.library.names()
    assert systems["kepler"]["parameters"] == pt.library.parameters("kepler")
    assert systems["kepler"]["state"] == {"q": 2, "p": 2}
    assert (systems["kepler"]["kind"], systems["galactic-orbit"]["kind"]) == ("separable", "hamiltonian")
    assert systems["gyro-top"]["state"] == {"body": 1} and systems["gyro-top"]["dt"] == 0.01
    assert systems["heavy-top"]["parameters"]["inertia"] == "required" and systems["heavy-top"]["dt"] is None
    assert systems["particle-chain"]["state"] == {"body": 8}
    monkeypatch.setattr(pt.library, "names", lambda: ("heavy-top", "kepler"))
    table = invoke("systems").stdout
    assert "eccentricity = 0.6" in table and "inertia = required" in table


def test_json_is_strict():
    value = {
        "a": np.float64("nan"),
        "b": [float("inf"), np.arange(2)],
        "c": frozenset("xw"),
        4: np.bool_(True),
    }
    read = json.loads(as_json(value), parse_constant=pytest.fail)
    assert read == {"a": None, "b": [None, [0, 1]], "c": ["w", "x"], "4": True}
