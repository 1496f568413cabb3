r"""Was a quantity conserved? The rule behind the verdicts of a report.

Let $d_i = I(y_i) - I(y_0)$ be the deviation of a quantity at the saved times, $k_i$ the number of steps
taken until then, and $S$ the scale of its round-off (`Trajectory.scales`). An oscillation of the motion is
two changes of direction of one component of the state; the component with the most of them counts. The
first line that applies decides:

1. **not finite**: some $d_i$ is infinite or NaN.
2. **too short to tell**: fewer than 32 states were saved.
3. **exact to round-off**: $|d_i| \le 4\,\varepsilon\,S\sqrt{k_i + 1}$ at every saved time, with
   $\varepsilon = 2^{-52}$. To this the rounding errors of the steps add up when they are as good as random:
   a random walk. Rounding errors with a bias grow faster and are not excused.
4. **too short to tell**: the motion has made fewer than two oscillations. Over so short a time an
   oscillation of the error looks like a drift.
5. **drifting**, if either holds:
    - the means over consecutive windows keep moving one way, by more from the first to the last than
      round-off or an oscillation cut off by a window can explain;
    - the quantity has gone for good: in the second half of the run it stays farther from its start value
      than that half's own range is wide.
6. **too short to tell**: the ranges covered in both halves of the run differ by more than 15 percent of the
   whole range: it is neither clearly a drift, nor has it settled.
7. **bounded**: everything else. The deviation oscillates, and a drift, if there is one, is slower than the
   stated resolution.

For line 5 the run is cut into windows of equally many states, of 4 oscillations each but at least 8 and at
most 16 of them. Means $m_w$ are taken with Hann weights, which all but remove an oscillation that goes
round several times in a window: of an amplitude $A$ and $c$ cycles they leave at most

$$ A\,\ell(c), \qquad \ell(c) = \frac{1}{\pi c\,(c^2 - 1)} $$

(and never more than $A$). $A$ and $c$ are measured in each window after a straight line is taken off: half
the range, and half the number of passages between its upper and lower quarter, less one half for safety.
With $L$ the median over the windows of $A\,\ell(c)$, a drift needs

$$ |m_W - m_1| > 4 L + 4\,\varepsilon\,S\sqrt{k_n + 1} \qquad\text{and}\qquad
   \frac{|\text{rises} - \text{falls}|}{\text{rises} + \text{falls}} \ge 0.8, $$

where rises and falls are counted over all pairs of windows, leaving out pairs that are equal to round-off.
The order of the means counts and not their distance from a line, so that growth that accelerates and decay
that levels off are seen as well. The rate is the slope of the least-squares line through the means. The
resolution is the right-hand side of the first inequality over the time between the first and the last
window; where windows hold fewer than 4 oscillations, half the range of the quantity stands for it if larger.
"""

import enum
from dataclasses import dataclass

import numpy as np

EPSILON = float(np.finfo(np.float64).eps)
ALLOWANCE = 4.0
"""Size of a step of the random walk that counts as round-off, in units of `EPSILON * scale`."""
FEWEST = 32
"""Saved states below which nothing is said."""
WINDOWS = (8, 16)
"""Fewest and most windows a run is cut into."""
PER_WINDOW = 4.0
"""Oscillations of the motion that a window should hold."""
CYCLES = 2.0
"""Oscillations of the motion below which oscillation and drift look alike."""
ALIKE = 0.15
"""Share of the whole range by which the ranges of both halves may differ."""
TREND = 0.8
"""Surplus of rises over falls, or the reverse, that counts as moving one way."""


class Verdict(enum.StrEnum):
    """What the report says of a conserved quantity, from best to worst."""

    exact = "exact to round-off"
    bounded = "bounded"
    short = "too short to tell"
    drifting = "drifting"
    not_finite = "not finite"


@dataclass(frozen=True)
class Finding:
    """What was found about one conserved number along a run."""

    verdict: Verdict
    deviation: float
    """Largest distance from the start value."""
    rate: float
    """Change per unit time: slope of the line through the window means; NaN where there are no windows."""
    resolution: float
    """Rates smaller than this could not be seen; NaN likewise."""


def judge(t: np.ndarray, values: np.ndarray, steps: np.ndarray, scale: float, cycles: float) -> Finding:
    """Apply the rule to one number along a run.

    Args:
        t: saved times.
        values: the conserved number at these times.
        steps: steps taken until each saved time.
        scale: scale of its round-off.
        cycles: oscillations of the motion in the whole run.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        deviations = values - values[0]
    if not np.all(np.isfinite(deviations)):
        return Finding(Verdict.not_finite, np.inf, np.nan, np.nan)
    largest = float(np.max(np.abs(deviations)))
    if len(t) < FEWEST:
        return Finding(Verdict.short, largest, np.nan, np.nan)
    allowed = ALLOWANCE * EPSILON * scale * np.sqrt(steps + 1.0)
    windows = [_Window.of(t[i], deviations[i]) for i in _cut(len(t), cycles)]
    means = np.array([window.mean for window in windows])
    least = 4.0 * float(np.median([window.leak for window in windows])) + float(allowed[-1])
    rate = float(np.polynomial.polynomial.polyfit([w.centre - t[0] for w in windows], means, 1)[1])

    if np.all(np.abs(deviations) <= allowed):
        verdict = Verdict.exact
    elif cycles < CYCLES:
        verdict = Verdict.short
    elif abs(means[-1] - means[0]) > least and abs(_trend(means, EPSILON * scale)) >= TREND:
        verdict = Verdict.drifting
    elif _gone(deviations):
        verdict = Verdict.drifting
    else:
        verdict = Verdict.bounded if _alike(deviations) else Verdict.short
    if cycles < PER_WINDOW * len(windows):
        least = max(least, 0.5 * float(np.ptp(deviations)))
    resolution = least / abs(windows[-1].centre - windows[0].centre)
    if verdict is not Verdict.drifting:
        # A slope that was not taken for a drift was not resolved either.
        resolution = max(resolution, abs(rate))
    return Finding(verdict, largest, rate, resolution)


def oscillations(component: np.ndarray) -> float:
    """Half the number of times a component of the state changes direction."""
    directions = np.sign(np.diff(component))
    directions = directions[directions != 0.0]
    return 0.5 * np.count_nonzero(np.diff(directions))


@dataclass(frozen=True)
class _Window:
    """A stretch of the run: where it lies, its mean, and how far an oscillation may have moved that."""

    centre: float
    mean: float
    leak: float

    @classmethod
    def of(cls, t: np.ndarray, deviations: np.ndarray) -> "_Window":
        n = len(t)
        weights = np.sin(np.pi * (np.arange(n) + 0.5) / n) ** 2
        weights = weights / np.sum(weights)
        centre, mean = float(weights @ t), float(weights @ deviations)
        offsets = t - centre
        slope = float(weights @ (offsets * deviations)) / float(weights @ offsets**2)
        rest = deviations - mean - slope * offsets
        amplitude = 0.5 * float(np.ptp(rest))
        return cls(centre, mean, amplitude * _leakage(_passages(rest) / 2.0 - 0.5))


def _passages(values: np.ndarray) -> int:
    """How often values go from the upper quarter of their range to the lower one, or back."""
    middle, reach = 0.5 * (np.max(values) + np.min(values)), 0.25 * np.ptp(values)
    sides = np.where(values > middle + reach, 1, np.where(values < middle - reach, -1, 0))
    sides = sides[sides != 0]
    return int(np.count_nonzero(np.diff(sides)))


def _leakage(cycles: float) -> float:
    """Share of an oscillation that a Hann mean over so many cycles may keep."""
    return min(1.0, 1.0 / (np.pi * cycles * (cycles**2 - 1.0))) if cycles > 1.0 else 1.0


def _cut(n: int, cycles: float) -> list[slice]:
    """Windows of equally many states, as nearly as whole numbers allow."""
    count = int(np.clip(cycles / PER_WINDOW, *WINDOWS))
    edges = np.linspace(0, n, count + 1).round().astype(int)
    return [slice(a, b) for a, b in zip(edges[:-1], edges[1:], strict=True)]


def _gone(deviations: np.ndarray) -> bool:
    """Whether the second half stays farther from the start value than it is wide."""
    half = deviations[len(deviations) // 2 :]
    low, high = float(np.min(half)), float(np.max(half))
    return max(low, -high) > high - low


def _alike(deviations: np.ndarray) -> bool:
    """Whether both halves cover the same range, to a tenth of its width."""
    first, second = deviations[: len(deviations) // 2], deviations[len(deviations) // 2 :]
    apart = max(abs(np.min(first) - np.min(second)), abs(np.max(first) - np.max(second)))
    return bool(apart <= ALIKE * np.ptp(deviations))


def _trend(means: np.ndarray, tie: float) -> float:
    """Surplus of rises over falls among all pairs, in units of their number (Goodman and Kruskal's gamma)."""
    later, earlier = np.triu_indices(len(means), 1)[::-1]
    changes = means[later] - means[earlier]
    rises, falls = np.count_nonzero(changes > tie), np.count_nonzero(changes < -tie)
    return (rises - falls) / max(rises + falls, 1)
