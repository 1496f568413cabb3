"""Figures 2.18 and 2.19: the symmetric top by Rattle in rotation matrices."""

from typing import TYPE_CHECKING

import numpy as np

from poinsot.coordinates import Directors
from poinsot.integrators import Rattle
from poinsot.papers._pictures import SYMPLECTIC, canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.chaurasia2012._bodies import change, limits, measured_order, nutation, order, run_top
from poinsot.papers.chaurasia2012._top import LENGTH, OWN, SETTINGS, STEP
from poinsot.simulation import BodyTrajectory
from poinsot.viz._style import QUIET, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHOD = (
    "The thesis shows a top from the book of Leimkuhler and Reich without its data; ours is the top of "
    "section 2.5 with its step. Its Newton step for the multipliers (B.18) treats the derivative as a 3x3 "
    "matrix and diverges; ours solves for the six multipliers."
)


def figure_2_18(quick: bool, progress: bool | None) -> Findings:
    """The height of the mass centre."""
    run = _run(quick, progress)
    numbers = [
        *nutation(run, 1e-3),
        measured_order(lambda dt, t1: _run(quick, progress, dt, t1)),
        Number.at_most("largest residual of the constraints", float(np.max(np.abs(run.constraint))), 1e-13),
    ]
    remarks = [
        "The height of the mass centre swings between the two values of theory.",
        METHOD,
        OWN,
    ]
    return Findings(SETTINGS | {"t1": float(run.t[-1])}, numbers, remarks, {"": _draw_height(run)})


def figure_2_19(quick: bool, progress: bool | None) -> Findings:
    """The error of the energy, with the step and with half of it."""
    runs = {dt: _run(quick, progress, dt) for dt in (STEP, 0.5 * STEP)}
    run = runs[STEP]
    half = len(run) // 2
    growth = float(np.ptp(run.energy[half:]) / np.ptp(run.energy[:half]))
    numbers = [
        Number.at_most("largest relative change of energy", change(run.energy), 1e-5),
        Number.matches(
            "its order",
            order(*(change(made.energy) for made in runs.values())),
            2.0,
            0.2,
            "order of the method",
        ),
        Number.between("swing of the energy, second half over first", growth, 0.8, 1.25),
        Number.at_most("largest relative change of L_z", change(run.angular_momentum[:, 2]), 1e-12),
    ]
    remarks = [
        "The claim: the error of the Hamiltonian is quite small. It is, and it stays so: it swings without "
        "trend, at second order in the step.",
        "The thesis calls the method energy conserving, which is too strong in a potential: only the energy "
        "of a free body is kept. What Rattle keeps here is the vertical angular momentum, to round-off.",
        METHOD,
        OWN,
    ]
    return Findings(SETTINGS | {"t1": float(run.t[-1])}, numbers, remarks, {"": _draw_error(runs)})


def _run(quick: bool, progress: bool | None, dt: float = STEP, t1: float | None = None) -> BodyTrajectory:
    return run_top(Rattle(), Directors(), "index3", quick, progress, dt, t1)


@styled
def _draw_height(run: BodyTrajectory) -> "Figure":
    figure, ax = canvas(1, 1, (8.0, 3.6), f"Height of the symmetric top's mass centre, Rattle, h = {STEP}")
    ax.plot(run.t, run.position[:, 0, 2], color=SYMPLECTIC, linewidth=0.9)
    for limit in limits(run):
        ax.axhline(LENGTH * np.cos(limit), linestyle="--", color=QUIET, linewidth=0.9)
    ax.set(xlabel="time [s]", ylabel="z [m]", xlim=(0.0, run.t[-1]))
    return figure


@styled
def _draw_error(runs: dict[float, BodyTrajectory]) -> "Figure":
    figure, axes = canvas(
        2, 1, (8.0, 5.0), "Energy of the symmetric top, Rattle: relative error", sharex=True
    )
    for ax, (dt, run) in zip(axes, runs.items(), strict=True):
        ax.plot(run.t, run.energy / run.energy[0] - 1.0, color=SYMPLECTIC, linewidth=0.8)
        ax.set(ylabel="H / H(0) − 1", title=f"h = {dt:g}", xlim=(0.0, run.t[-1]))
    axes[-1].set_xlabel("time [s]")
    return figure
