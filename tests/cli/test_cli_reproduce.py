"""`poinsot reproduce`: the list, tables, JSON, and the exit code that tells disagreement."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from poinsot.cli import _reproduce, app
from poinsot.papers import Number, Reproduction, catalogue

TERZE = [*(f"terze2013/figure-{n}" for n in (1, 2, 3)), "terze2013/two-bodies"]


def invoke(*arguments: str):
    return CliRunner().invoke(app, ["reproduce", *arguments], catch_exceptions=False)


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """Reproductions that are not computed: `good` agrees, `figure-2` breaks off, anything else differs."""
    calls = []
    monkeypatch.chdir(tmp_path)

    def reproduce(identifier: str, *, quick: bool, out: Path) -> Reproduction:
        calls.append((identifier, quick, out))
        if identifier == "terze2013/figure-2":
            raise TypeError("no such primitive")
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
    assert row.split() == ["crossings", "47002", "47004", "within", "3", "agrees", "with", "the", "paper"]
    assert "The [printed] data differ." in result.stdout
    assert str(Path("there") / "crossings.png") in result.stdout


def test_disagreement(calls):
    result = invoke("paper/bad")
    assert result.exit_code == 1
    assert calls == [("paper/bad", False, Path("runs") / "paper")]
    assert "DIFFERS from the paper" in result.stdout
    assert "judged numbers: 1 (DIFFERS from the paper: 1). Failing: crossings." in result.stdout


def test_json(calls):
    result = invoke("paper/bad", "--json")
    assert result.exit_code == 1
    read = json.loads(result.stdout, parse_constant=pytest.fail)
    assert read["agrees"] is False and read["numbers"][1]["ours"] is None
    assert [number["basis"] for number in read["numbers"]] == ["paper", None]


def test_a_paper_is_all_of_its_items(calls):
    """None of them agrees here; each is shown, and the exit code tells."""
    result = invoke("terze2013", "--quick")
    assert [call[0] for call in calls] == TERZE
    assert all(identifier in result.stdout for identifier in TERZE)
    assert result.exit_code == 1


def test_an_item_that_breaks_off_does_not_end_the_others(calls):
    result = invoke("terze2013")
    assert result.exit_code == 1
    assert "terze2013/figure-2 broke off" in result.stderr and "no such primitive" in result.stderr
    assert "3 of 4 items completed. judged numbers: 3 (DIFFERS from the paper: 3)" in result.stdout
    assert "broke off: terze2013/figure-2" in result.stdout
    read = json.loads(invoke("terze2013", "--json").stdout)
    assert [one["id"] for one in read] == TERZE
    assert read[1]["error"] == "TypeError: no such primitive"


def test_all(calls):
    result = invoke("--all", "--quick")
    assert [call[:2] for call in calls] == [(identifier, True) for identifier, _ in catalogue()]
    assert calls[-1][2] == Path("runs") / "zoric2010"
    assert f"{len(calls) - 1} of {len(calls)} items completed" in result.stdout and result.exit_code == 1


def test_all_takes_no_id(calls):
    result = invoke("terze2013", "--all")
    assert result.exit_code == 2 and "--all takes no id" in result.stderr and not calls


def test_output_folder_that_is_a_file(calls, tmp_path):
    (tmp_path / "taken").write_text("")
    result = invoke("paper/good", "--out", "taken")
    assert result.exit_code == 2 and "taken is a file" in result.stderr
    assert calls == []
