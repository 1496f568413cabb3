"""How often the verdicts of a report are wrong, measured on errors whose drift is known."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from poinsot.analysis._verdict_families import FAMILIES, Made, even
from poinsot.analysis._verdict_motions import MOTIONS
from poinsot.core import checked
from poinsot.simulation import Scale, Verdict
from poinsot.simulation._pace import Pace
from poinsot.simulation._verdict import EPSILON, Finding, judge

SIZE = 1e-6
"""Range of the errors, relative to the scales of the quantity."""
WALKS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Standard deviations of the steps of random walks, in units of round-off."""
DRIFTS = (1e-3, 30.0)
"""Least and largest drift over the run, relative to the range of the error that it is added to."""
UNIT = Scale(1.0, 1.0, 1.0)


@dataclass
class VerdictRates:
    """How errors of one family were judged, without drift and with one."""

    family: str
    still: dict[Verdict, int] = field(default_factory=lambda: dict.fromkeys(Verdict, 0))
    """Verdicts on the errors as they are."""
    moving: dict[Verdict, int] = field(default_factory=lambda: dict.fromkeys(Verdict, 0))
    """Verdicts on the same errors with a linear drift."""
    false_alarms: int = 0
    """Errors without drift that are called drifting, and those said to drift the wrong way."""
    missed: int = 0
    """Errors with a drift that are called bounded or exact, with a stated bound that is below the drift."""
    worst: float = 0.0
    """Largest drift that was missed, in units of the stated bound."""

    def count(self, found: Finding, rate: float) -> None:
        """Take in one verdict on an error that drifts at a known rate."""
        (self.moving if rate else self.still)[found.verdict] += 1
        if found.verdict is Verdict.drifting:
            self.false_alarms += int(found.rate * rate <= 0.0)
        elif found.verdict is not Verdict.short and abs(rate) > found.resolution:
            self.missed += 1
            ratio = abs(rate) / found.resolution if found.resolution else np.inf
            self.worst = max(self.worst, float(ratio))

    @property
    def series(self) -> int:
        """Number of errors without drift, and as many with one."""
        return sum(self.still.values())

    @property
    def false_alarm_rate(self) -> float:
        """False alarms in units of the number of errors."""
        return self.false_alarms / self.series

    @property
    def missed_rate(self) -> float:
        """Missed drifts among all series that are called bounded or exact."""
        cleared = sum(kind[v] for kind in (self.still, self.moving) for v in (Verdict.exact, Verdict.bounded))
        return self.missed / max(cleared, 1)

    def to_dict(self) -> dict:
        """As JSON can hold it."""
        kinds = {"still": self.still, "moving": self.moving}
        counts = {kind: {str(v): n for v, n in found.items()} for kind, found in kinds.items()}
        rates = {"false_alarm_rate": self.false_alarm_rate, "missed_rate": self.missed_rate}
        return {"family": self.family, "series": self.series} | counts | rates | {"worst": self.worst}


@checked
def verdict_rates(
    series: int = 2000, *, seed: int = 0, progress: Callable[[str], None] | None = None
) -> list[VerdictRates]:
    """Judge errors of many families by the rule of the report, each without a drift and with one.

    The families are noise, one frequency, a fast and a slow one, amplitudes that change, several frequencies,
    bursts of Kepler orbits, and random walks of rounding errors; runs have 40 to several thousand states.
    Three more are motions computed by symplectic methods, with slow parts that a run sees little of. The
    drift is linear in time, with a thousandth to thirty times the range of the error.

    Args:
        series: number of errors in each family.
        seed: of the random numbers.
        progress: told the name of each family before it is looked at.
    """
    kinds = {name: _each(_bounded(made)) for name, made in FAMILIES.items()}
    kinds |= {f"random walk, {step:g} eps": _each(_walk(step)) for step in WALKS}
    kinds |= {name: _computed(made) for name, made in MOTIONS.items()}
    rates = []
    for place, (name, draw) in enumerate(kinds.items()):
        if progress is not None:
            progress(name)
        rng = np.random.default_rng([seed, place])
        rates.append(VerdictRates(name))
        for made, steps in draw(rng, series):
            _judge_pair(rates[-1], rng, made, steps)
    return rates


def _judge_pair(rates: VerdictRates, rng: np.random.Generator, made: Made, steps: np.ndarray) -> None:
    """Judge one error as it is, and with a drift."""
    span = even(rng, 1.0, 1e4)
    t, error, pace = span * made.x, made.error - made.error[0], Pace.of(made.x, made.state)
    drift = rng.choice([-1.0, 1.0]) * even(rng, *DRIFTS) * np.ptp(error)
    for change in (0.0, drift):
        values = 1.0 + (error + change * made.x)
        rates.count(judge(t, values, steps, UNIT, pace), change / span)


Draw = Callable[[np.random.Generator], tuple[Made, np.ndarray]]


def _each(draw: Draw) -> Callable:
    """So many errors, drawn one by one."""

    def drawn(rng: np.random.Generator, count: int) -> Iterator[tuple[Made, np.ndarray]]:
        return (draw(rng) for _ in range(count))

    return drawn


def _computed(motions: Callable) -> Callable:
    """So many errors of motions that are computed together."""

    def drawn(rng: np.random.Generator, count: int) -> Iterator[tuple[Made, np.ndarray]]:
        return (_sized(rng, made) for made in motions(rng, count))

    return drawn


def _bounded(family: Callable[[np.random.Generator], Made]) -> Draw:
    return lambda rng: _sized(rng, family(rng))


def _sized(rng: np.random.Generator, made: Made) -> tuple[Made, np.ndarray]:
    """An error of the usual range, and the steps that were taken until each state."""
    sized = Made(made.x, SIZE / np.ptp(made.error) * made.error, made.state)
    return sized, even(rng, 1.0, 300.0) * np.arange(len(made.x))


def _walk(step: float) -> Draw:
    """Random walks of rounding errors, looked at after every step or rarely."""

    def draw(rng: np.random.Generator) -> tuple[Made, np.ndarray]:
        every, samples = int(even(rng, 1.0, 300.0)), int(even(rng, 40.0, 3000.0))
        x = np.linspace(0.0, 1.0, samples)
        walk = np.cumsum(step * EPSILON * np.sqrt(every) * rng.standard_normal(samples))
        angle = 2.0 * np.pi * 5.0 * x
        return Made(x, walk, {"q": np.cos(angle)[:, None]}), every * np.arange(samples)

    return draw
