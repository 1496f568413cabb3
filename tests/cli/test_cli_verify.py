"""`poinsot verify`: tables, JSON and the exit code that tells a false claim."""

import json
import math

import pytest
from typer.testing import CliRunner

from poinsot.analysis import Check, Verification
from poinsot.cli import _verify, app
from poinsot.integrators import names

TRUE = Check("order in q", "4", 4.01, 0.15, True, "slope over 5 points")
FALSE = Check("symplectic", "yes", math.inf, 1e-13, False, "h = 0.2 and 0.1")


def invoke(*arguments: str):
    return CliRunner().invoke(app, ["verify", *arguments], catch_exceptions=False)


@pytest.fixture
def claims(monkeypatch):
    """Verifications in which `heun` makes a false claim."""

    def verify(name: str) -> Verification:
        return Verification(name, (TRUE, FALSE) if name == "heun" else (TRUE,))

    monkeypatch.setattr(_verify, "verify", verify)


def test_measured_for_real():
    result = invoke("rk4", "--json")
    assert result.exit_code == 0
    (verification,) = json.loads(result.stdout, parse_constant=pytest.fail)
    checks = {check["property"]: check for check in verification["checks"]}
    assert verification["passed"] and checks["symplectic"]["declared"] == "no"
    assert checks["order in q"]["measured"] == pytest.approx(4.0, abs=0.15)


def test_true_claims(claims):
    result = invoke("rk4", "gauss6", "rk4")
    assert result.exit_code == 0
    assert "rk4: all declared properties confirmed" in result.stdout
    assert "2 of 2 integrators confirmed" in result.stdout
    assert "4.01" in result.stdout and "slope over 5 points" in result.stdout


def test_a_false_claim(claims):
    result = invoke("rk4", "heun")
    assert result.exit_code == 1
    assert "heun: NOT confirmed" in result.stdout and "FAILED" in result.stdout
    assert "1 of 2 integrators confirmed; not confirmed: heun" in result.stdout


def test_a_false_claim_as_json(claims):
    result = invoke("heun", "--json")
    assert result.exit_code == 1
    (verification,) = json.loads(result.stdout, parse_constant=pytest.fail)
    assert verification["passed"] is False
    assert verification["checks"][1]["measured"] is None


def test_all_of_them(claims):
    result = invoke("--all", "--json")

    assert tuple(item["integrator"] for item in json.loads(result.stdout)) == names()
    assert result.exit_code == 1
