"""How reproductions are judged, listed and written."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.papers import Number, Reproduction, catalogue, reproduce

FIGURES = [f"figure-2.{n}" for n in (*range(1, 12), *range(13, 20))]
CHAINS = [f"figure-3.{n}" for n in (3, *range(5, 10))]


def test_the_catalogue_has_every_item_of_chapters_2_and_3():
    identifiers = [identifier for identifier, _ in catalogue() if identifier.startswith("chaurasia2012")]
    assert identifiers == [
        f"chaurasia2012/{item}" for item in (*FIGURES, *CHAINS, "open-question", "table-2.1")
    ]
    assert all(title and not title.endswith(".") for _, title in catalogue())


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
        (Number.above("n", 1.1, 1.0), Number.above("n", 1.0, 1.0)),
        (Number.below("n", 0.9, 1.0), Number.below("n", 1.0, 1.0)),
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
        Number.above("n", float("nan"), 1.0),
        Number.below("n", float("nan"), 1.0),
        Number.matches("n", float("nan"), 12, 2, "theory"),
        Number.between("n", float("nan"), 1, 3),
        Number.at_most("n", float("nan"), 1.0),
        Number.at_least("n", float("nan"), 1.0),
    ],
)
def test_no_rule_accepts_nan(number):
    assert number.agrees is False


@pytest.mark.parametrize(
    ("number", "outcome"),
    [
        (Number.near("n", 10, 12, 2), "agrees with the paper"),
        (Number.above("n", 1.1, 1.0), "agrees with the paper"),
        (Number.matches("n", 6.01, 6.0, 0.1, "theory"), "agrees with theory"),
        (Number.matches("n", 6.01, 6.0, 0.1, "theory", 2.0), "agrees with theory, the paper does not"),
        (Number.matches("n", 2.01, 2.0, 0.1, "theory", 2.0), "agrees with the paper"),
        (Number.at_most("n", 1.0, 1.3, "theory", 2.0), "agrees with theory, the paper does not"),
        (Number.at_most("n", 1.0, 1.3), "within our own bound"),
        (Number.between("n", 1.0, 0.9, 1.3), "within our own bound"),
        (Number.at_least("n", 2.0, 1.3), "within our own bound"),
        (Number.near("n", 10, 13, 2), "DIFFERS from the paper"),
        (Number.matches("n", 2.0, 6.0, 0.1, "theory", 2.0), "DIFFERS from theory"),
        (Number.at_least("n", 1.0, 1.3), "OUTSIDE our own bound"),
        (Number.shown("n", 1.0, 2.0), ""),
    ],
)
def test_the_outcome_says_what_a_number_was_judged_by(number, outcome):
    assert number.outcome == outcome and number.to_dict()["outcome"] == outcome


def test_one_wrong_number_makes_a_reproduction_disagree():
    shown, right = Number.shown("n", np.float64(1.0)), Number.at_most("n", np.float64(1.0), 2.0)
    wrong = Number.at_most("too large", 3.0, 2.0)
    good = Reproduction("id", "title", True, {}, (shown, right), (), (), 0.0)
    bad = Reproduction("id", "title", True, {}, (shown, right, wrong), (), (), 0.0)
    assert good.agrees and good.verdict == "judged numbers: 1 (within our own bound: 1)."
    assert not bad.agrees and bad.verdict == (
        "judged numbers: 2 (within our own bound: 1; OUTSIDE our own bound: 1). Failing: too large."
    )
    assert type(right.ours) is float and type(right.agrees) is bool, "plain data, for JSON"
