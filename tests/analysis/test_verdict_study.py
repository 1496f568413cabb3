"""How often verdicts are wrong: a quick look at every family, and the whole study."""

from dataclasses import replace

import numpy as np
import pytest

from poinsot.analysis import _verdict_claims as claims
from poinsot.analysis import _verdict_study as study
from poinsot.analysis import claim_rates, verdict_rates
from poinsot.analysis._verdict_motions import MOTIONS
from poinsot.simulation import Verdict
from poinsot.simulation._report import row_of
from poinsot.simulation._verdict import Finding

TOLERATED = 0.005
CHEAP = ("lost", "drifting or lost", "moves by some percent")
"""Claims of made-up quantities."""
WRONG = 2
"""Wrong verdicts of either kind among the 1200 of the quick look: half a percent of these would be six."""


@pytest.mark.slow
def test_few_of_each_family_are_judged_right():
    """Forty of each: together at most two are wrong of either kind, and drifts are found."""
    rates = verdict_rates(40, seed=1)
    assert len(rates) == 15 and all(rate.series == 40 for rate in rates)
    assert sum(rate.false_alarms for rate in rates) <= WRONG
    assert sum(rate.missed for rate in rates) <= WRONG
    named = {rate.family: rate for rate in rates}
    assert named["random walk, 2 eps"].still[Verdict.exact] >= 39
    for family in ("noise", "oscillation", "bursts", *MOTIONS):
        assert named[family].moving[Verdict.drifting] >= 4, family
        assert named[family].still[Verdict.bounded] >= 10, family


def test_a_rule_that_looks_at_the_ends_alone_would_be_found_out(monkeypatch):
    """The control: first against last value is wrong more than ten times as often as is tolerated above."""

    def ends(t, values, steps, scale, pace):
        rate = (values[-1] - values[0]) / (t[-1] - t[0])
        drifts = abs(values[-1] - values[0]) > 0.3 * np.ptp(values)
        return Finding(Verdict.drifting if drifts else Verdict.bounded, 0.0, rate, abs(rate))

    monkeypatch.setattr(study, "judge", ends)
    monkeypatch.setattr(study, "MOTIONS", {})
    rates = verdict_rates(40, seed=1)
    assert sum(rate.false_alarms for rate in rates) > 10 * WRONG
    assert sum(rate.missed for rate in rates) > 10 * WRONG


@pytest.mark.slow
def test_wrong_verdicts_are_below_half_a_percent_in_every_family():
    for rate in verdict_rates():
        assert rate.false_alarm_rate < TOLERATED, rate
        assert rate.missed_rate < TOLERATED, rate


@pytest.mark.slow
def test_what_reports_say_is_true_and_what_is_true_they_say():
    for rate in claim_rates():
        assert min(rate.so, rate.not_so) > 100, rate
        assert max(rate.missed_rate, rate.false_rate) < TOLERATED, rate


def test_claims_that_are_cheap_to_check_hold_and_others_would_be_found_out(monkeypatch):
    """The control: a rule that lets nothing be lost, and one that never says by how much."""
    monkeypatch.setattr(claims, "CLAIMS", {name: claims.CLAIMS[name] for name in CHEAP})
    for rate in claim_rates(40):
        assert rate.missed == rate.false == 0 and min(rate.so, rate.not_so) > 5, rate
    monkeypatch.setattr(claims, "row_of", _blind)
    assert all(rate.missed_rate > 0.3 for rate in claim_rates(40))


def _blind(*given):
    row = row_of(*given)
    unmoved = replace(row, relative_deviation=0.0)
    return replace(unmoved, verdict=Verdict.bounded) if row.verdict is not Verdict.short else unmoved
