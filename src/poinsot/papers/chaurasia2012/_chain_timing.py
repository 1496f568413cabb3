"""Figures 3.7 and 3.8: time of a step over the particles of a body, and over the number of bodies."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poinsot.integrators import GaussLegendre
from poinsot.papers._pictures import canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.chaurasia2012._chain import (
    DISC_EPSILON,
    DISC_PULL,
    DISC_SPACING,
    DISC_STEP,
    RADIUS,
    SIGMA,
    THICKNESS,
    discs,
    run_chain,
)
from poinsot.viz._style import PALETTE, QUIET, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTICLES, QUICK_PARTICLES, BODIES = (6, 12, 24, 48, 96, 192, 384), (12, 48), 8
CHAINS, QUICK_CHAINS, PER_BODY = (8, 32, 128, 512, 2048, 8192), (8, 128), 12
ASYMPTOTIC = 3
"""Sizes, the largest ones, whose times the exponent is fitted to."""
REPEATS, LONG_ENOUGH, TRIED = 4, 0.4, 5
"""Runs timed, of which the shortest counts; how long one should take in seconds; steps of the first try."""
SETTINGS = {
    "radius": RADIUS,
    "thickness": THICKNESS,
    "epsilon": DISC_EPSILON,
    "sigma": SIGMA,
    "force": DISC_PULL,
    "spacing": DISC_SPACING,
    "step": DISC_STEP,
}
OWN = (
    "The thesis gives no spacing, no initial condition and no number of steps, and iterates to 1e-9. Ours: "
    "the spacing where the potential has its minimum, bodies at rest that turn at random with angular "
    "velocities of size 1, time per step, iterated to round-off. Compilation is not in the times."
)


@dataclass(frozen=True)
class Timing:
    """Time of a step over a size."""

    sizes: tuple[int, ...]
    seconds: np.ndarray
    """Of one step."""
    compilation: np.ndarray
    """Of the first call, less the steps themselves."""

    @property
    def exponent(self) -> float:
        """Of the power of the size that the times of the largest ones follow."""
        largest = slice(-ASYMPTOTIC, None)
        return float(np.polyfit(np.log(self.sizes[largest]), np.log(self.seconds[largest]), 1)[0])

    @property
    def local(self) -> np.ndarray:
        """Exponents between neighbouring sizes."""
        return np.diff(np.log(self.seconds)) / np.diff(np.log(self.sizes))


def figure_3_7(quick: bool, progress: bool | None) -> Findings:
    """Over the particles of a body, of which each meets each of the next body."""
    sizes = QUICK_PARTICLES if quick else PARTICLES
    timing = measured(sizes, [(particles, BODIES) for particles in sizes])
    remark = (
        "The claim: time increases with the number of particles. It does, from a constant cost of the bodies "
        f"themselves to the power {timing.exponent:.2f} of their number; each particle meets each of the "
        "next body, so that evaluations grow with the square."
    )
    title = f"Time of a step of Gauss 6, {BODIES} discs"
    figure = _draw(timing, 2, title, "particles of each disc")
    return _findings(timing, (1.8, 2.2), quick, remark, figure, {"bodies": BODIES})


def figure_3_8(quick: bool, progress: bool | None) -> Findings:
    """Over the number of bodies."""
    sizes = QUICK_CHAINS if quick else CHAINS
    timing = measured(sizes, [(PER_BODY, count) for count in sizes])
    remark = (
        "The claim: time increases with the number of bodies, and the method suits large numbers of them. "
        "Evaluations are proportional to the number of bodies; times of the longest chains, a thousand times "
        f"those of the thesis, grow with its power {timing.exponent:.2f}."
    )
    title = f"Time of a step of Gauss 6, {PER_BODY} particles in each disc"
    figure = _draw(timing, 1, title, "bodies")
    return _findings(timing, (0.9, 1.1), quick, remark, figure, {"particles": PER_BODY})


def measured(sizes: tuple[int, ...], cases: list[tuple[int, int]]) -> Timing:
    """Time of a step for each case of particles and bodies."""
    seconds, compilation = zip(*(_timed(*case) for case in cases), strict=True)
    return Timing(sizes, np.array(seconds), np.array(compilation))


def _timed(particles: int, count: int) -> tuple[float, float]:
    """Time of one step, and of compilation."""
    chain, start = discs(particles, count)

    def run(steps: int) -> float:
        made = run_chain(chain, start, GaussLegendre(3), steps * DISC_STEP, DISC_STEP, save_every=steps)
        return made.attributes["wall_seconds"] / steps

    began = time.perf_counter()
    run(TRIED)
    first = time.perf_counter() - began
    step = run(TRIED)
    steps = int(np.clip(LONG_ENOUGH / step, TRIED, 20_000))
    return min(run(steps) for _ in range(REPEATS)), first - TRIED * step


def _findings(
    timing: Timing,
    bounds: tuple[float, float],
    quick: bool,
    remark: str,
    figure: "Figure",
    settings: dict[str, int],
) -> Findings:
    name = f"exponent of the {min(ASYMPTOTIC, len(timing.sizes))} largest"
    exponent = (
        Number.shown(name, timing.exponent) if quick else Number.between(name, timing.exponent, *bounds)
    )
    numbers = [
        exponent,
        Number.at_least(
            "time of the largest over that of the smallest", timing.seconds[-1] / timing.seconds[0], 1.0
        ),
    ]
    for size, seconds in zip(timing.sizes, timing.seconds, strict=True):
        numbers.append(Number.shown(f"step with {size} [µs]", 1e6 * seconds))
    numbers.append(Number.shown("longest compilation [s]", float(np.max(timing.compilation))))
    return Findings(SETTINGS | settings, numbers, [remark, OWN], {"": figure})


@styled
def _draw(timing: Timing, power: int, title: str, label: str) -> "Figure":
    figure, ax = canvas(1, 1, (6.4, 4.6), title)
    sizes = np.array(timing.sizes, dtype=float)
    ax.loglog(sizes, 1e6 * timing.seconds, "o-", color=PALETTE[0], label="measured")
    guide = 1e6 * timing.seconds[-1] * (sizes / sizes[-1]) ** power
    ax.loglog(sizes, guide, "--", color=QUIET, linewidth=0.9, label=f"power {power}")
    ax.set(xlabel=label, ylabel="time of a step [µs]", ylim=(0.5 * 1e6 * np.min(timing.seconds), None))
    ax.set_xticks(timing.sizes, labels=[f"{size:,}" for size in timing.sizes])
    ax.set_xticks((), minor=True)
    fitted = f"fitted to the {min(ASYMPTOTIC, len(sizes))} largest: {timing.exponent:.2f}"
    ax.text(0.97, 0.06, fitted, transform=ax.transAxes, ha="right")
    ax.legend(loc="upper left")
    return figure
