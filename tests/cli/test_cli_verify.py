"""`poinsot verify`: tables, JSON and the exit code that tells a false claim."""

import json
import math

import pytest
from typer.testing import CliRunner

from poinsot.analysis import Check, ClaimRates, VerdictRates, Verification
from poinsot.cli import _verify, _verify_verdicts, app
from poinsot.integrators import names
from poinsot.simulation import Verdict
from poinsot.simulation._verdict import Finding

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


@pytest.fixture
def study(monkeypatch):
    """Two families of errors; half of the walks are called drifting."""

    def rates(progress=None):
        good, bad = VerdictRates("noise"), VerdictRates("random walk")
        for rate, drift in ((good, 0.0), (good, 1.0), (bad, 0.0), (bad, 0.0)):
            verdict = Verdict.drifting if drift or rate is bad and not bad.series else Verdict.bounded
            rate.count(Finding(verdict, 1.0, 1.0, 2.0), drift)
        return [good, bad]

    def said(progress=None):
        return [
            ClaimRates("lost", so=300, not_so=200, missed=1),
            ClaimRates("exact", so=3, not_so=4, false=1),
        ]

    monkeypatch.setattr(_verify_verdicts, "verdict_rates", rates)
    monkeypatch.setattr(_verify_verdicts, "claim_rates", said)


def test_wrong_verdicts_have_an_exit_code(study):
    result = invoke("--verdicts")
    lines = {line.split("  ")[0].strip(): line for line in result.stdout.splitlines()}
    assert result.exit_code == 1
    assert "ok" in lines["noise"] and "FAILED" in lines["random walk"] and "50.00%" in lines["random walk"]
    assert "ok" in lines["lost"] and "0.33%" in lines["lost"]
    assert "FAILED" in lines["exact"] and "25.00%" in lines["exact"]
    found = json.loads(invoke("--verdicts", "--json").stdout)
    assert [claim["missed_rate"] for claim in found["claims"]] == [1 / 300, 0.0]
    noise, walk = found["trends"]
    assert noise["false_alarm_rate"] == 0.0 and walk["false_alarm_rate"] == 0.5
    assert noise["moving"]["drifting"] == 1 and walk["still"]["bounded"] == 1


def test_verdicts_are_of_the_report_and_not_of_an_integrator(study):
    result = invoke("--verdicts", "gauss6")
    assert result.exit_code == 2 and "give no integrators" in result.stderr
