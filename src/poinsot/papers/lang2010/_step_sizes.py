"""Figures 8 and 9: the steps that DoPri5 chooses, Examples A and B."""

import itertools
from typing import TYPE_CHECKING

import numpy as np

from poinsot.integrators import DormandPrince5
from poinsot.library import gyro_top, tennis_racket
from poinsot.model import System
from poinsot.papers._pictures import canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.lang2010._adaptive import COLOURS, legend, names, run
from poinsot.papers.lang2010._formulations import GENERAL, UNKNOWNS
from poinsot.simulation import Steps
from poinsot.viz._style import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCE = 1e-6
"""The paper names none."""
FEW = ("Euler angles", "null space, quaternions", "absolute, quaternions")
MANY = ("null space, directors", "absolute, directors")

REMARKS = [
    "The claim of the figure: step sizes go with the number of unknowns; Euler angles and quaternions take "
    "larger steps than directors. It agrees in the medians, but for one pair on Example B: quaternions by "
    "equation (40) take steps two per cent shorter than directors in the null space.",
    "That null-space forms also take larger steps than the forms of index 0 agrees for directors, and for "
    "quaternions with equation (40) as printed. In the general form of index 0, whose quaternion drifts in "
    "length, they can be larger than in the null space; larger steps do not mean a better result there.",
    "The paper names no tolerance and no time; ours are in the settings.",
]


def figure_8(quick: bool, progress: bool | None) -> Findings:
    """Example A."""
    return _figure("A", gyro_top(), 2.0 if quick else 10.0, quick)


def figure_9(quick: bool, progress: bool | None) -> Findings:
    """Example B."""
    return _figure("B", tennis_racket(), 1.6, quick)


def _figure(letter: str, example: System, t1: float, quick: bool) -> Findings:
    chosen = ("null space, quaternions", "null space, directors") if quick else names(False)
    steps = {name: run(example, name, DormandPrince5(), TOLERANCE, t1).steps for name in chosen}
    return Findings(
        settings={"solver": "DormandPrince5", "tolerance": TOLERANCE, "t1": t1, "unknowns": UNKNOWNS},
        numbers=_medians(steps),
        remarks=REMARKS,
        figures={"": _draw(letter, steps)},
    )


def _medians(steps: dict[str, Steps]) -> list[Number]:
    """Median step sizes, and the pairs that the paper orders."""
    median = {name: float(np.median(one.h)) for name, one in steps.items()}
    numbers = [Number.shown(f"{name}: median step [s]", size) for name, size in median.items()]
    numbers += [Number.shown(f"{name}: rejected", int(np.sum(one.rejected))) for name, one in steps.items()]
    for few, many in itertools.product(FEW, MANY):
        if few in median and many in median:
            ratio = median[few] / median[many]
            numbers.append(Number.above(f"median step: {few} over {many}", ratio, 1.0))
    for absolute in ("absolute, directors", "absolute, quaternions", GENERAL):
        null = "null space, directors" if "directors" in absolute else "null space, quaternions"
        if null in median and absolute in median:
            ratio, name = median[null] / median[absolute], f"median step: {null} over {absolute}"
            general = absolute == GENERAL
            numbers.append(Number.shown(name, ratio) if general else Number.above(name, ratio, 1.0))
    return numbers


@styled
def _draw(letter: str, steps: dict[str, Steps]) -> "Figure":
    title = f"Steps of DoPri5 (Example {letter}, tolerance {TOLERANCE:g})"
    figure, ax = canvas(1, 1, (10.0, 4.6), title)
    for name, one in steps.items():
        ax.step(one.t[:-1], one.h, where="post", color=COLOURS[name], linewidth=0.9, label=name)
    ax.set(xlabel="time [s]", ylabel="step [s]", ylim=(0.0, None))
    legend(ax)
    return figure
