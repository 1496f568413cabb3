"""Figure 2.11: the energy of the galactic orbit under RK4 and Gauss, with a large step."""

from typing import TYPE_CHECKING

import numpy as np

from poinsot.library import galactic_orbit
from poinsot.papers._pictures import NOT_SYMPLECTIC, SYMPLECTIC, canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.chaurasia2012._galactic_table import DATA, PRINTED
from poinsot.simulation import Trajectory, simulate
from poinsot.viz._style import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEP = 0.4
STEPS, QUICK_STEPS = 80_000, 8_000


def figure_2_11(quick: bool, progress: bool | None) -> Findings:
    """RK4 drifts, Gauss does not; with the corrected data and with the printed ones."""
    steps = QUICK_STEPS if quick else STEPS
    runs = {
        (data, method): _run(parameters, method, steps, progress)
        for data, parameters in (("corrected", {}), ("printed", PRINTED))
        for method in ("rk4", "gauss6")
    }
    numbers = []
    for data in ("corrected", "printed"):
        drift, swing = _deviation(runs[data, "rk4"]), _deviation(runs[data, "gauss6"])
        growth = _growth(runs[data, "gauss6"])
        numbers += [
            Number.at_least(f"RK4, {data} data: largest change of energy", drift, 0.05 if quick else 0.3),
            Number.at_most(f"Gauss 6, {data} data: largest change of energy", swing, 0.01),
            Number.between(f"Gauss 6, {data} data: swing, second half over first", growth, 0.5, 2.0),
        ]
    remarks = [
        "Step and number of steps are those of the thesis.",
        "Its claim: with this step the difference shows; RK4 loses energy, Gauss keeps it in a band.",
    ]
    return Findings({"step": STEP, "steps": steps} | DATA, numbers, remarks, {"": _draw(runs)})


def _run(parameters: dict[str, float], method: str, steps: int, progress: bool | None) -> Trajectory:
    system = galactic_orbit(**parameters)
    return simulate(system, system.start, t1=steps * STEP, dt=STEP, integrator=method, progress=progress)


def _deviation(run: Trajectory) -> float:
    return float(np.max(np.abs(run.energy - run.energy[0])))


def _growth(run: Trajectory) -> float:
    """Swing of the energy in the second half of a run over that in the first."""
    half = len(run) // 2
    return np.ptp(run.energy[half:]) / np.ptp(run.energy[:half])


@styled
def _draw(runs: dict[tuple[str, str], Trajectory]) -> "Figure":
    title = f"Galactic orbit, h = {STEP}: energy over time"
    figure, axes = canvas(1, 2, (9.0, 4.0), title, sharey=True)
    for ax, data in zip(axes, ("corrected", "printed"), strict=True):
        for method, label, color in (("rk4", "RK4", NOT_SYMPLECTIC), ("gauss6", "Gauss 6", SYMPLECTIC)):
            run = runs[data, method]
            ax.plot(run.t, run.energy, color=color, linewidth=0.7, label=label)
        ax.set_title(f"{data} data")
        ax.set_xlabel("time [s]")
    axes[0].set_ylabel("H [J]")
    axes[0].legend()
    return figure
