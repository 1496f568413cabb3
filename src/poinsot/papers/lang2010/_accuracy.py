"""The accuracy plots: formulations side by side, with explicit and implicit solvers, Examples A and B."""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.analysis import WorkPrecision, work_precision
from poinsot.integrators import (
    AbstractAdaptive,
    Bdf,
    DormandPrince5,
    DormandPrince8,
    DormandPrince853,
    Ida,
    Lsoda,
    Odex,
    Radau5,
    Seulex,
    Taylor,
)
from poinsot.library import gyro_top, tennis_racket
from poinsot.model import System
from poinsot.papers._reproduction import Number
from poinsot.papers.lang2010._adaptive import QUICK
from poinsot.papers.lang2010._formulations import COMPARED
from poinsot.viz import plot_formalisms

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPLICIT: dict[str, AbstractAdaptive] = {
    "DoPri5": DormandPrince5(),
    "DOP853": DormandPrince853(),
    "ODEX": Odex(),
    "Dormand-Prince 8 (diffrax)": DormandPrince8(),
    "LSODA": Lsoda(),
    "Taylor": Taylor(),
}
"""The first three are the paper's."""
IMPLICIT: dict[str, AbstractAdaptive] = {
    "RADAU5": Radau5(),
    "BDF": Bdf(),
    "SEULEX": Seulex(),
    "IDA": Ida(),
}
"""Those of the paper, with SciPy's BDF for ODE15S and IDA for its ancestor DASSL."""
TOLERANCES, QUICK_TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12), (1e-5, 1e-7, 1e-9)
PATIENCE = 60.0
"""Seconds that one run may take."""
PAIRS = {
    "null space over absolute, quaternions": ("null space, quaternions", "absolute, quaternions"),
    "null space over absolute, directors": ("null space, directors", "absolute, directors"),
    "quaternions over directors, null space": ("null space, quaternions", "null space, directors"),
    "quaternions over directors, absolute": ("absolute, quaternions", "absolute, directors"),
    "null space, quaternions over Euler angles": ("null space, quaternions", "Euler angles"),
}
"""Statements of section 7: the second formulation takes more work than the first for the same error."""
SUPERIOR = tuple(PAIRS)[:2]
"""Of them, that null space beats index 0."""
EULER = tuple(PAIRS)[-1]
"""Of them, that quaternions are competitive with Euler angles, and in Example B better."""


@dataclass(frozen=True)
class Example:
    """An example of the paper and when its error is taken."""

    title: str
    bodies: System
    t1: float
    quick_t1: float


@cache
def examples() -> dict[str, Example]:
    """Example A, and B with the disturbances of figure 15."""
    return {
        "A": Example("Example A", gyro_top(), 60.0, 20.0),
        "B, 0.1": Example("Example B, disturbance 0.1", tennis_racket(disturbance=1e-1), 0.4, 0.4),
        "B, 1e-5": Example("Example B, disturbance 1e-5", tennis_racket(disturbance=1e-5), 1.0, 1.0),
    }


@cache
def comparison(key: str, solver: str, quick: bool) -> WorkPrecision:
    """One solver in all formulations, on one example; in two, over a short ladder, if quick."""
    example = examples()[key]
    return work_precision(
        example.bodies,
        example.bodies.start,
        example.quick_t1 if quick else example.t1,
        {solver: (EXPLICIT | IMPLICIT)[solver]},
        formulations={name: COMPARED[name] for name in (QUICK if quick else COMPARED)},
        tolerances=QUICK_TOLERANCES if quick else TOLERANCES,
        repeats=1,
        patience=PATIENCE,
    )


def settings(key: str, found: list[WorkPrecision], quick: bool) -> dict[str, Any]:
    """How it was computed, with every point and what was left out."""
    example = examples()[key]
    return {
        "example": example.title,
        "t1": example.quick_t1 if quick else example.t1,
        "reference": found[0].reference,
        "points": [point for one in found for point in one.to_dict()["points"]],
        "left out": [reason for one in found for reason in one.reasons()],
    }


def ratios(found: WorkPrecision) -> dict[str, float]:
    """For each statement how many times the work the second formulation takes, NaN where it was not run."""
    (solver,) = found.methods
    return {
        statement: found.advantage(solver, *pair)
        for statement, pair in PAIRS.items()
        if set(pair) <= set(found.formulations)
    }


def numbers(title: str, found: WorkPrecision) -> list[Number]:
    """The ratios as numbers, judged where null space is to beat index 0, with every solver."""
    made = []
    for statement, ratio in ratios(found).items():
        name = f"{title}, {found.methods[0]}: {statement}"
        judge = statement in SUPERIOR and not np.isnan(ratio)
        made.append(Number.above(name, ratio, 1.0) if judge else Number.shown(name, ratio))
    return made


def finest(found: WorkPrecision, formulation: str) -> float:
    """Smallest error of a formulation on its ladder."""
    (solver,) = found.methods
    return float(np.min(found.curve(solver, "rhs", formulation)[1]))


def picture(title: str, found: list[WorkPrecision], quick: bool) -> "Figure":
    """A row of panels for each solver; over right-hand sides alone if quick, since short times are noise."""
    points = [point for one in found for point in one.to_dict()["points"]]
    title = f"{title}: error of rotation and angular velocity"
    return plot_formalisms(points, title=title, work=("rhs",) if quick else ("rhs", "seconds"), to_file=True)
