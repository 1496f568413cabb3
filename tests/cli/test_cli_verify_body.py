"""`poinsot verify --body`: the table, its refusals, JSON, and the exit code of a false claim."""

import json

import pytest
from typer.testing import CliRunner

from poinsot.analysis import BodyCertificate
from poinsot.cli import _verify_body, app

GOOD = BodyCertificate("Group()", "group", "Lie RATTLE", None, 2, True, 2.01, 1e-15, 1e-4, 1e-15, 2e-16, 0.0)
REFUSED = BodyCertificate("Directors()", "group", "Lie RATTLE", "Directors has no form 'group'", 2)
FALSE = BodyCertificate("Group()", "group", "liar", None, 4, True, 2.0, 1e-15, 1e-4, 1e-15, 2e-16, 0.0)
BENT = BodyCertificate("Group()", "group", "bent", None, 2, True, 2.0, 1e-6, 1e-4, 1e-15, 2e-16, 0.0)


def invoke(*arguments: str):
    return CliRunner().invoke(app, ["verify", "--body", *arguments], catch_exceptions=False)


@pytest.fixture
def matrix(monkeypatch):
    """A matrix in which `terze-rattle` claims too much."""
    made = {"lie-rattle": [GOOD, REFUSED], "terze-rattle": [FALSE]}
    monkeypatch.setattr(_verify_body, "body_matrix", lambda names: iter(made[names[0]]))


def test_measured_combinations_and_refusals(matrix):
    result = invoke("lie-rattle")
    assert result.exit_code == 0
    assert "2.01" in result.stdout and "1.0e-15" in result.stdout
    assert "refused: Directors() group" in result.stdout
    assert "1 of 1 combinations as declared" in result.stdout


def test_a_false_claim_fails(matrix):
    result = invoke("lie-rattle", "terze-rattle")
    assert result.exit_code == 1
    assert "NOT AS DECLARED" in result.stdout and "1 of 2 combinations as declared" in result.stdout


def test_json(matrix):
    result = invoke("lie-rattle", "--json")
    good, refused = json.loads(result.stdout, parse_constant=pytest.fail)
    assert good["order"] == 2.01 and good["refused"] is None
    assert refused["order"] is None and "no form" in refused["refused"]


def test_an_unknown_name_is_refused_before_anything_is_measured():
    assert invoke("lie-ratle").exit_code == 2


def test_what_counts_as_declared():
    assert GOOD.confirmed and REFUSED.confirmed
    assert not FALSE.confirmed and not BENT.confirmed
