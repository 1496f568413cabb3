r"""Was a quantity conserved? The rule behind the verdicts of a report.

Let $d_i = I(y_i) - I(y_0)$ be the deviation of a quantity at the saved times and $k_i$ the number of steps
taken until then. Three scales come from the derivatives of $I$ along the run, so that a constant added to
$I$ changes none, and all are the same for the components of a vector: $S_k$, the response to rounding
errors of relative size one at step $k$; $V$, the response to moving every component of the state across its
range; and the size of the terms at the start (`poinsot.simulation._scale` has the formulas). The first line
that applies decides:

1. **not finite**: some $d_i$ is infinite or NaN.
2. **exact to round-off**: at every saved time, with $\varepsilon = 2^{-52}$,

    $$ |d_i| \le 8\,\varepsilon\,\Big(\max_j |I(y_j)|
       + \Big(S_{k_i}^2 + \sum_{k \le k_i} S_k^2\Big)^{1/2}\Big). $$

    First comes the round-off of the value itself. The sum over all steps is four standard deviations of a
    random walk with steps of $2\,\varepsilon S_k$; near a singularity of the coordinates $S_k$ is larger,
    for as long as the motion is there. The report prints the right-hand side at the end of the run: smaller
    changes could not be seen.
3. **lost**: some $|d_i|$ is as large as the quantity itself: as $|I(y_0)|$, or as the terms of which that
   is a small difference, less than a twentieth of them.
4. **drifting**: the quantity has gone for good. In the second half of the run it stays farther from its start
   value than half the range that it covers there, and farther than $V/10$.
5. **drifting**: there is a clear trend, and the motion has no slow part that could explain it; **too short to
   tell** if it has one, or has made fewer than two oscillations.
6. **bounded**: the ranges covered in both halves of the run differ by at most 15 percent of the whole range,
   and the motion has made two oscillations. A drift, if there is one, is slower than the stated resolution.
7. **too short to tell**: everything else.

Of fewer than 32 saved states only lines 1, 3 and 4 are asked; they are too short for the others.

To be bounded is not to be small: where a quantity moves by a hundredth of its size or more, *bounded* and
*too short to tell* say by how much. Nor is any verdict one of accuracy. A motion may be wrong along the
surface on which a quantity is constant; `run.report(accuracy=True)` estimates by how much it is.

**Trend.** The run is cut into $W$ windows of equally many states, with $W$ = 8, 11 and 16. Means $m_w$
with Hann weights all but remove an oscillation that goes round twice or more in a window. With $\tau_w$ the
mean times, rate and standard error are those of a random walk with drift,

$$ b = \frac{m_W - m_1}{\tau_W - \tau_1}, \qquad
   \sigma^2 = \frac{W - 1}{(\tau_W - \tau_1)^2}\,\frac{1}{W - 2}
   \sum_w \big(m_{w+1} - m_w - b\,(\tau_{w+1} - \tau_w)\big)^2 . $$

The trend is clear when $|b| > c_W \sigma$ for one of the three, with $c_8 = 8$, $c_{11} = 6.2$ and $c_{16} =
5.2$, which one random walk in 2000 exceeds; when $|b| > 0.3\,c_W \sigma$ for a second one, since an
oscillation that goes round about once in a window looks slow in that cut alone; when all rates agree to half
of the largest; and when the change is larger than round-off. Every other error without drift varies more from
window to window than it moves as a whole: white noise, and an oscillation of which more than about 0.4
periods are seen. Growth that accelerates, as the square of time, is clear as well. The resolution is
$c_W\sigma$ of a clear trend, and else $|b| + c_W\sigma$ with the smallest sum of all cuts, at most two ranges
of $d$ over the time of the run.

**Slow parts.** Less than 0.4 periods of a slow oscillation look like a drift and nothing in $d$ tells them
apart. But an error that oscillates is a function of the state, so the state has to have a slow part too: a
component, or its square, whose means over 16 windows follow a cubic in time (`poinsot.simulation._pace`).
The resolution is then never taken finer than two ranges of $d$ over the run. A slow part may also be the
work of a drift, as when an orbit shrinks: it is none if a conserved quantity has changed, in units of its
$V$, by a hundredth of it.
"""

import enum
from dataclasses import dataclass

import numpy as np

from poinsot.simulation._hann import Windows
from poinsot.simulation._pace import Pace
from poinsot.simulation._scale import EPSILON, Scale

ALLOWANCE = 8.0
"""What counts as round-off: four standard deviations of a walk with steps of two units."""
FEWEST = 32
"""Saved states below which a trend is not looked for."""
CYCLES = 2.0
"""Oscillations of the motion below which oscillation and drift look alike."""
LIMITS = {8: 8.0, 11: 6.2, 16: 5.2}
"""For each number of windows, the standard errors that a rate must exceed; one random walk in 2000 does."""
SECOND = 0.3
"""Clarity that a second cut must show: an oscillation of one period a window looks slow in one cut alone."""
LARGE = 0.1
"""Share of its extent beyond which a quantity that stays away from its start has gone."""
ALIKE = 0.15
"""Share of the whole range by which the ranges of both halves may differ."""


class Verdict(enum.StrEnum):
    """What the report says of a conserved quantity, from best to worst."""

    exact = "exact to round-off"
    bounded = "bounded"
    short = "too short to tell"
    drifting = "drifting"
    lost = "lost"
    not_finite = "not finite"


@dataclass(frozen=True)
class Finding:
    """What was found about one conserved number along a run."""

    verdict: Verdict
    deviation: float
    """Largest distance from the start value."""
    rate: float = np.nan
    """Change per unit time; NaN where there are too few states for windows."""
    resolution: float = np.nan
    """Rates smaller than this could not be seen; NaN likewise."""
    roundoff: float = np.nan
    """Largest deviation that counts as round-off at the end of the run."""


def judge(
    t: np.ndarray, values: np.ndarray, steps: np.ndarray, scale: Scale, pace: Pace, size: float = np.nan
) -> Finding:
    """Apply the rule to one number along a run.

    Args:
        t: saved times.
        values: the conserved number at these times.
        steps: steps taken until each saved time.
        scale: what its deviations are measured against.
        pace: how much of the motion the run has seen.
        size: of the quantity itself; NaN if it is not known.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        deviations = values - values[0]
    if not np.all(np.isfinite(deviations)):
        return Finding(Verdict.not_finite, np.inf)
    largest = float(np.max(np.abs(deviations)))
    allowed = ALLOWANCE * EPSILON * (np.max(np.abs(values)) + scale.walk(steps))
    limit, exact = float(allowed[-1]), bool(np.all(np.abs(deviations) <= allowed))
    lost = largest >= size and not exact
    gone = _stays_away(deviations) > max(LARGE * scale.extent, limit)
    if len(t) < FEWEST or not np.all(np.diff(t)):
        verdict = Verdict.lost if lost else Verdict.drifting if gone else Verdict.short
        return Finding(verdict, largest, roundoff=limit)
    trends = [_Trend.of(t, deviations, count) for count in LIMITS]
    clearest = max(trends, key=lambda trend: trend.clarity)
    if exact:
        verdict = Verdict.exact
    elif lost:
        verdict = Verdict.lost
    elif gone:
        verdict = Verdict.drifting
    elif _clear(trends, limit / abs(t[-1] - t[0])):
        verdict = Verdict.drifting if pace.cycles >= CYCLES and pace.settled else Verdict.short
    else:
        verdict = Verdict.bounded if pace.cycles >= CYCLES and _alike(deviations) else Verdict.short
    if verdict in (Verdict.drifting, Verdict.lost):
        return Finding(verdict, largest, clearest.rate, clearest.least, limit)
    sharpest = min(trends, key=lambda trend: trend.most)
    coarse = 2.0 * float(np.ptp(deviations)) / abs(t[-1] - t[0])
    resolution = min(sharpest.most, coarse) if pace.settled else coarse
    return Finding(verdict, largest, sharpest.rate, resolution, limit)


@dataclass(frozen=True)
class _Trend:
    """Change per unit time, as a random walk with drift has it."""

    rate: float
    least: float
    """Rate that would be clear."""

    @classmethod
    def of(cls, t: np.ndarray, deviations: np.ndarray, count: int) -> "_Trend":
        windows = Windows.of(len(t), count)
        apart, changes = np.diff(windows.means(t)), np.diff(windows.means(deviations))
        span = float(np.sum(apart))
        rate = float(np.sum(changes)) / span
        variance = float(np.sum((changes - rate * apart) ** 2)) / (count - 2)
        return cls(rate, LIMITS[count] * np.sqrt((count - 1) * variance) / abs(span))

    @property
    def clarity(self) -> float:
        """The rate in units of what would be clear."""
        if not self.least:
            return np.inf if self.rate else 0.0
        return abs(self.rate) / self.least

    @property
    def most(self) -> float:
        """Rate that can be excluded."""
        return abs(self.rate) + self.least


def _clear(trends: list[_Trend], roundoff: float) -> bool:
    """Whether one trend is clear and larger than round-off, a second one shows it, and all rates agree."""
    rates = [trend.rate for trend in trends]
    largest = max(map(abs, rates))
    alike = max(rates) - min(rates) <= 0.5 * largest
    *_, second, first = sorted(trend.clarity for trend in trends)
    return alike and largest > roundoff and first > 1.0 and second > SECOND


def _stays_away(deviations: np.ndarray) -> float:
    """Least distance from the start value in the second half; zero unless it is half the range there."""
    half = deviations[len(deviations) // 2 :]
    low, high = float(np.min(half)), float(np.max(half))
    nearest = max(low, -high)
    return nearest if 2.0 * nearest > high - low else 0.0


def _alike(deviations: np.ndarray) -> bool:
    """Whether both halves cover the same range."""
    first, second = deviations[: len(deviations) // 2], deviations[len(deviations) // 2 :]
    apart = max(abs(np.min(first) - np.min(second)), abs(np.max(first) - np.max(second)))
    return bool(apart <= ALIKE * np.ptp(deviations))
