"""Slow parts of a motion, which tell a slow oscillation of an error from a drift."""

import numpy as np
import pytest

from poinsot.simulation import Scale, Verdict
from poinsot.simulation._pace import Pace
from poinsot.simulation._verdict import judge

T = np.linspace(0.0, 1.0, 4000)
FAST, SLOW = 2.0 * np.pi * 100.0 * T, 2.0 * np.pi * 0.2 * T + 0.3


def column(*values):
    return np.column_stack(values)


SETTLED = {
    "one fast oscillation": column(np.cos(FAST), np.sin(FAST)),
    "a free body": column(np.cos(FAST), 5.0 * T),
    "an angle that goes round": column(FAST + 0.3 * np.cos(FAST)),
    "noise": np.random.default_rng(0).standard_normal((4000, 3)),
    "an orbit that precesses a little": column(np.cos(FAST) + 0.2 * T, np.sin(FAST)),
    "two slow oscillations": column(np.cos(10.0 * SLOW)),
}
UNSETTLED = {
    "a slow oscillator beside a fast one": column(np.cos(FAST), np.cos(SLOW)),
    "at its steepest": column(np.cos(FAST), np.sin(SLOW - 0.9), np.cos(SLOW - 0.9)),
    "an amplitude that changes": column(np.cos(FAST) * (1.0 + 0.3 * np.cos(SLOW))),
    "a slow part below a fast one": column(np.cos(FAST) + 1.5 * np.cos(3.0 * SLOW)),
}


@pytest.mark.parametrize("name", SETTLED)
def test_motions_without_a_slow_part(name):
    assert Pace.of(T, {"q": SETTLED[name]}).settled


@pytest.mark.parametrize("name", UNSETTLED)
def test_motions_with_a_slow_part(name):
    pace = Pace.of(T, {"q": UNSETTLED[name]})
    assert pace.cycles == pytest.approx(100.0, abs=1.0) and not pace.settled
    # A drift of a tenth of everything accounts for it.
    assert pace.beside(0.5).settled and not pace.beside(1e-6).settled


@pytest.mark.parametrize("steepest", [False, True])
def test_a_fifth_of_a_slow_period_is_not_called_a_drift(steepest):
    """The control: the same error beside a motion that is fast alone is one."""
    error = 1e-6 * (np.sin(SLOW - 0.9) if steepest else np.cos(SLOW))
    steps, scale = np.arange(4000.0), Scale(1.0, 1.0, 1.0)
    slow = Pace.of(T, {"q": UNSETTLED["a slow oscillator beside a fast one"]})
    fast = Pace.of(T, {"q": SETTLED["one fast oscillation"]})
    assert judge(T, 1.0 + error, steps, scale, slow).verdict is Verdict.short
    assert judge(T, 1.0 + error, steps, scale, fast).verdict is Verdict.drifting
