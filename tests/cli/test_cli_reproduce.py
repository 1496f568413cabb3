"""`poinsot reproduce`: the list, tables, JSON, and the exit code that tells disagreement."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from poinsot.cli import _reproduce, app
from poinsot.papers import Number, Reproduction, catalogue


def invoke(*arguments: str):
    return CliRunner().invoke(app, ["reproduce", *arguments], catch_exceptions=False)


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """Reproductions that are not computed: `good` agrees, anything else does not."""
    calls = []
    monkeypatch.chdir(tmp_path)

    def reproduce(identifier: str, *, quick: bool, out: Path) -> Reproduction:
        calls.append((identifier, quick, out))
        within = 3.0 if identifier.endswith("good") else 1.0
        numbers = (Number.near("crossings", 47002.0, 47004.0, within), Number.shown("slope", float("nan")))
        return Reproduction(
            id=identifier,
            title="Crossings",
            quick=quick,
            settings={"dt": 0.2},
            numbers=numbers,
            remarks=("The [printed] data differ.",),
            files=(out / "crossings.png",),
            seconds=1.5,
        )

    monkeypatch.setattr(_reproduce, "reproduce", reproduce)
    return calls


def test_list():
    result = invoke()
    assert result.exit_code == 0
    assert all(identifier in result.stdout for identifier, _ in catalogue())
    listed = json.loads(invoke("--json").stdout)
    assert [(item["id"], item["title"]) for item in listed] == catalogue()
    assert "chaurasia2012/table-2.1" in {item["id"] for item in listed}


def test_agreement(calls):
    result = invoke("paper/good", "--quick", "--out", "there")
    assert result.exit_code == 0
    assert calls == [("paper/good", True, Path("there"))]
    row = next(line for line in result.stdout.splitlines() if "crossings" in line)
    assert row.split() == ["crossings", "47002", "47004", "within", "3", "agrees"]
    assert "The [printed] data differ." in result.stdout
    assert str(Path("there") / "crossings.png") in result.stdout


def test_disagreement(calls):
    result = invoke("paper/bad")
    assert result.exit_code == 1
    assert calls == [("paper/bad", False, Path("runs") / "paper")]
    assert "DIFFERS" in result.stdout and "does NOT agree" in result.stdout


def test_json(calls):
    result = invoke("paper/bad", "--json")
    assert result.exit_code == 1
    read = json.loads(result.stdout, parse_constant=pytest.fail)
    assert read["agrees"] is False and read["numbers"][1]["ours"] is None


def test_a_paper_is_all_of_its_items(calls):
    """None of them agrees here; each is shown, and the exit code tells."""
    expected = [identifier for identifier, _ in catalogue() if identifier.startswith("terze2013/")]
    result = invoke("terze2013", "--quick")
    assert len(expected) == 3 and [call[0] for call in calls] == expected
    assert all(identifier in result.stdout for identifier in expected)
    assert result.exit_code == 1
    read = json.loads(invoke("terze2013", "--json").stdout)
    assert [one["id"] for one in read] == expected


def test_output_folder_that_is_a_file(calls, tmp_path):
    (tmp_path / "taken").write_text("")
    result = invoke("paper/good", "--out", "taken")
    assert result.exit_code == 2 and "taken is a file" in result.stderr
    assert calls == []
