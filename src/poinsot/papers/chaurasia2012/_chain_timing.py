"""Figures 3.7 and 3.8: cost of a step over the particles of a body, and over the number of bodies."""

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
from poinsot.papers.chaurasia2012._chain_work import products
from poinsot.viz._style import PALETTE, QUIET, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARTICLES, QUICK_PARTICLES, BODIES = (6, 12, 24, 48, 96, 192, 384), (12, 48, 96, 192), 8
CHAINS, QUICK_CHAINS, PER_BODY = (8, 32, 128, 512, 2048, 8192), (8, 64, 512), 12
ASYMPTOTIC = 3
"""Sizes, the largest ones, that exponents are fitted to."""
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
UNTIMED = "The quick variant counts and takes no times: those of short runs say little."


@dataclass(frozen=True)
class Growth:
    """A cost over a size."""

    sizes: tuple[int, ...]
    cost: np.ndarray

    @property
    def exponent(self) -> float:
        """Of the power of the size that the costs of the largest ones follow."""
        largest = slice(-ASYMPTOTIC, None)
        return float(np.polyfit(np.log(self.sizes[largest]), np.log(self.cost[largest]), 1)[0])

    @property
    def smallest_ratio(self) -> float:
        """Cost of a size over that of the next smaller one, the smallest of these."""
        return float(np.min(self.cost[1:] / self.cost[:-1]))


def figure_3_7(quick: bool, progress: bool | None) -> Findings:
    """Over the particles of a body, of which each meets each of the next body."""
    sizes = QUICK_PARTICLES if quick else PARTICLES
    cases = {particles: (particles, BODIES) for particles in sizes}
    remark = (
        "The claim: time increases with the number of particles. It does, from a constant cost of the bodies "
        "themselves to the square of their number, since each particle meets each of the next body."
    )
    return _findings(cases, 2, 0.2, f"{BODIES} discs", "particles of each disc", remark, quick)


def figure_3_8(quick: bool, progress: bool | None) -> Findings:
    """Over the number of bodies."""
    sizes = QUICK_CHAINS if quick else CHAINS
    cases = {count: (PER_BODY, count) for count in sizes}
    remark = (
        "The claim: time increases with the number of bodies, and the method suits large numbers of them. "
        "Work is proportional to the number of bodies, of which the longest chains of the full run have a "
        "thousand times as many as those of the thesis."
    )
    return _findings(cases, 1, 0.1, f"{PER_BODY} particles in each disc", "bodies", remark, quick)


def _findings(
    cases: dict[int, tuple[int, int]],
    power: int,
    within: float,
    what: str,
    label: str,
    remark: str,
    quick: bool,
) -> Findings:
    """Work counted, and in the full run times too.

    Args:
        cases: particles and bodies by the size that is varied.
        power: of the size that the cost follows for large ones.
        within: how near the exponent must be to it.
        what: the size that is not varied, for the title.
        label: the size that is varied.
        remark: on the claim.
        quick: take no times.
    """
    sizes = tuple(cases)
    counted = Growth(sizes, np.array([products(*case) for case in cases.values()], dtype=float))
    numbers = [_exponent("products of a right-hand side", counted, power, within)]
    numbers += [Number.shown(f"products with {n}", cost) for n, cost in zip(sizes, counted.cost, strict=True)]
    panels = {"products of a right-hand side": counted}
    if not quick:
        seconds, compilation = zip(*(_timed(*case) for case in cases.values()), strict=True)
        timed = Growth(sizes, 1e6 * np.array(seconds))
        panels["time of a step of Gauss 6 [µs]"] = timed
        numbers += [
            Number.above(
                "time of a step: smallest ratio to the next smaller size", timed.smallest_ratio, 1.0
            ),
            _exponent("time of a step", timed, power, within),
        ]
        numbers += [
            Number.shown(f"step with {n} [µs]", cost) for n, cost in zip(sizes, timed.cost, strict=True)
        ]
        numbers.append(Number.shown("longest compilation [s]", max(compilation)))
    remarks = [remark, *([UNTIMED] if quick else []), OWN]
    figure = _draw(panels, power, f"Cost of a step, {what}", label)
    return Findings(SETTINGS | {"sizes": list(sizes), "fixed": what}, numbers, remarks, {"": figure})


def _exponent(name: str, growth: Growth, power: int, within: float) -> Number:
    """The power of the size that the number of particles that meet makes of the cost."""
    name = f"{name}: exponent of the {ASYMPTOTIC} largest"
    return Number.matches(name, growth.exponent, power, within, "number of pairs that meet")


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


@styled
def _draw(panels: dict[str, Growth], power: int, title: str, label: str) -> "Figure":
    figure, axes = canvas(1, len(panels), (5.6 * len(panels) + 0.8, 4.6), title, squeeze=False)
    for ax, (name, growth) in zip(axes[0], panels.items(), strict=True):
        _draw_growth(ax, growth, power)
        ax.set(xlabel=label, ylabel=name)
    return figure


def _draw_growth(ax: "Axes", growth: Growth, power: int) -> None:
    sizes = np.array(growth.sizes, dtype=float)
    ax.loglog(sizes, growth.cost, "o-", color=PALETTE[0], label="ours")
    guide = growth.cost[-1] * (sizes / sizes[-1]) ** power
    ax.loglog(sizes, guide, "--", color=QUIET, linewidth=0.9, label=f"power {power}")
    ax.set_ylim(0.5 * np.min(growth.cost), None)
    ax.set_xticks(growth.sizes, labels=[f"{size:,}" for size in growth.sizes])
    ax.set_xticks((), minor=True)
    fitted = f"fitted to the {ASYMPTOTIC} largest: {growth.exponent:.2f}"
    ax.text(0.97, 0.06, fitted, transform=ax.transAxes, ha="right")
    ax.legend(loc="upper left")
