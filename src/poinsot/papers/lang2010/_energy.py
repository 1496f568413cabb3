"""Figure 10: the energy of the fast gyro top, Example A with 500 revolutions per 2 pi seconds."""

from typing import TYPE_CHECKING

import numpy as np

from poinsot.integrators import DormandPrince5
from poinsot.library import gyro_top
from poinsot.papers._pictures import canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.lang2010._adaptive import COLOURS, legend, names, run
from poinsot.papers.lang2010._formulations import GENERAL
from poinsot.simulation import BodyTrajectory
from poinsot.viz._style import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPIN, END, QUICK_END = 500.0, 10.0, 1.0
TOLERANCES = (1e-4, 1e-6, 1e-8)
SHOWN = 1e-6
"""Tolerance of the picture; the paper names none."""

REMARKS = [
    "The claim of the figure: null-space forms keep the energy much better than the forms of index 0, which "
    "fail at coarse tolerances. It agrees at every tolerance tried, for quaternions and for directors.",
    "In the null space the angular velocity is an unknown, and Euler's equations hardly see the drift of the "
    "quaternion or of the directors; in absolute coordinates that drift is in the velocities too.",
    "The paper names neither tolerance nor time; ours are in the settings.",
]


def figure_10(quick: bool, progress: bool | None) -> Findings:
    """Energy in all formulations at three tolerances; in two of them, for a shorter time, if quick."""
    example, t1 = gyro_top(spin=SPIN), QUICK_END if quick else END
    runs = {
        (name, tolerance): run(example, name, DormandPrince5(), tolerance, t1)
        for name in names(quick)
        for tolerance in TOLERANCES
    }
    changes = {key: _change(made, t1) for key, made in runs.items()}
    numbers = [
        Number.shown(f"{name}, tolerance {tolerance:g}: largest relative change of energy", change)
        for (name, tolerance), change in changes.items()
    ]
    for kind in ("quaternions", "directors"):
        for tolerance in TOLERANCES:
            pair = (f"absolute, {kind}", tolerance), (f"null space, {kind}", tolerance)
            if pair[0] in changes:
                ratio = changes[pair[0]] / changes[pair[1]]
                title = f"change of energy: absolute over null space, {kind}, tolerance {tolerance:g}"
                numbers.append(Number.at_least(title, ratio, 100.0))
    return Findings(
        settings={"solver": "DormandPrince5", "spin": SPIN, "tolerances": TOLERANCES, "t1": t1},
        numbers=numbers,
        remarks=REMARKS,
        figures={"": _draw({name: runs[name, SHOWN] for name in names(quick)})},
    )


def _energy(made: BodyTrajectory) -> np.ndarray:
    """Relative change of the energy, from the unknowns of the formulation themselves."""
    energy = made.conserved["energy"]
    return energy / energy[0] - 1.0


def _change(made: BodyTrajectory, t1: float) -> float:
    """Largest change of the energy relative to its start; infinite for a run that broke off."""
    change = float(np.max(np.abs(_energy(made))))
    return change if made.t[-1] == t1 and np.isfinite(change) else float("inf")


@styled
def _draw(runs: dict[str, BodyTrajectory]) -> "Figure":
    title = f"Energy of the fast top (Example A, spin {SPIN:g}/s, DoPri5, tolerance {SHOWN:g})"
    figure, (plain, close) = canvas(1, 2, (12.0, 4.4), title)
    for name, made in runs.items():
        change = _energy(made)
        style = "--" if name == GENERAL else "-"
        plain.plot(made.t, change, style, color=COLOURS[name], label=name)
        close.semilogy(made.t[1:], np.abs(change[1:]), style, color=COLOURS[name], label=name, linewidth=0.8)
    plain.set(xlabel="time [s]", ylabel="relative change", title="Change of energy")
    close.set(xlabel="time [s]", title="Its size")
    legend(close)
    return figure
