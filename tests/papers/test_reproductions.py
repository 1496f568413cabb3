"""Reproductions of Chaurasia (2012), in their quick variants, and how they are judged."""

import json

import numpy as np
import pytest

import poinsot as pt
from long_suite import of_the_long_suite
from poinsot.papers import Number, Reproduction, catalogue, reproduce

FIGURES = [f"figure-2.{n}" for n in (*range(1, 12), *range(13, 20))]
QUICK = set(FIGURES) - {"figure-2.2", "figure-2.10", "figure-2.15", "figure-2.18"}
"""Those of the short suite; the others take long to compile."""


CHAINS = [f"figure-3.{n}" for n in (3, *range(5, 10))]


def test_the_catalogue_has_every_item_of_chapters_2_and_3():
    identifiers = [identifier for identifier, _ in catalogue() if identifier.startswith("chaurasia2012")]
    assert identifiers == [
        f"chaurasia2012/{item}" for item in (*FIGURES, *CHAINS, "open-question", "table-2.1")
    ]
    assert all(title and not title.endswith(".") for _, title in catalogue())


@pytest.mark.parametrize("figure", of_the_long_suite(FIGURES, QUICK))
def test_figures_agree_and_are_drawn(figure, tmp_path):
    made = reproduce(f"chaurasia2012/{figure}", quick=True, out=tmp_path, progress=False)
    assert made.agrees, [number for number in made.numbers if number.agrees is False]
    assert any(number.agrees for number in made.numbers), "at least one number is judged"
    assert made.remarks
    picture, record = made.files
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 10_000
    assert json.loads(record.read_text()) == made.to_dict()


def test_nothing_is_written_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = reproduce("chaurasia2012/figure-2.14", quick=True, progress=False)
    assert made.files == () and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("identifier", "hint"),
    [("chaurasia2012/figure2.1", "did you mean chaurasia2012/figure-2.1"), ("zzz", "lists them all")],
)
def test_unknown_items_are_refused(identifier, hint):
    with pytest.raises(pt.InputError, match=hint):
        reproduce(identifier)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (Number.near("n", 10, 12, 2), Number.near("n", 10, 13, 2)),
        (Number.matches("n", 1.0, 1.1, 0.2, "theory"), Number.matches("n", 1.0, 1.1, 0.05, "theory")),
        (Number.between("n", 3, 1, 3), Number.between("n", 4, 1, 3)),
        (Number.at_most("n", 1.0, 1.0), Number.at_most("n", 1.1, 1.0)),
        (Number.at_least("n", 1.0, 1.0), Number.at_least("n", 0.9, 1.0)),
    ],
)
def test_each_rule_accepts_and_rejects(right, wrong):
    assert right.agrees is True and wrong.agrees is False


@pytest.mark.parametrize(
    "number",
    [
        Number.near("n", float("nan"), 12, 2),
        Number.between("n", float("nan"), 1, 3),
        Number.at_most("n", float("nan"), 1.0),
        Number.at_least("n", float("nan"), 1.0),
    ],
)
def test_no_rule_accepts_nan(number):
    assert number.agrees is False


def test_one_wrong_number_makes_a_reproduction_disagree():
    shown, right = Number.shown("n", np.float64(1.0)), Number.at_most("n", np.float64(1.0), 2.0)
    wrong = Number.at_most("too large", 3.0, 2.0)
    good = Reproduction("id", "title", True, {}, (shown, right), (), (), 0.0)
    bad = Reproduction("id", "title", True, {}, (shown, right, wrong), (), (), 0.0)
    assert good.agrees and good.verdict == "All 1 judged numbers agree."
    assert not bad.agrees and bad.verdict == "1 of 2 judged numbers do not agree: too large."
    assert type(right.ours) is float and type(right.agrees) is bool, "plain data, for JSON"
