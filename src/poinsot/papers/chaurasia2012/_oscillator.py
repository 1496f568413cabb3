"""Figure 2.1: the energy of the harmonic oscillator under six methods."""

import math
from typing import TYPE_CHECKING

import numpy as np

from poinsot.library import harmonic_oscillator
from poinsot.papers._pictures import NOT_SYMPLECTIC, SYMPLECTIC, canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.simulation import simulate
from poinsot.viz._style import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEP = 0.01
PAIRS = (
    (("explicit-euler", "explicit Euler"), ("symplectic-euler-a", "symplectic Euler A")),
    (("implicit-euler", "implicit Euler"), ("verlet", "Störmer-Verlet")),
    (("rk4", "Runge-Kutta of order 4"), ("gauss6", "Gauss of order 6")),
)


def figure_2_1(quick: bool, progress: bool | None) -> Findings:
    """Energy over time; methods that are not symplectic on the left, symplectic ones on the right."""
    system, t1 = harmonic_oscillator(), 20.0 if quick else 100.0
    methods = [name for pair in PAIRS for name, _ in pair]
    runs = {
        name: simulate(system, system.start, t1=t1, dt=STEP, integrator=name, progress=progress)
        for name in methods
    }
    energies = {name: run.energy for name, run in runs.items()}
    growth = (1.0 + 4.0 * STEP**2) ** round(t1 / STEP)
    return Findings(
        settings={"mass": 1.0, "stiffness": 4.0, "q0": 0.0, "p0": 2.0, "step": STEP, "t1": t1},
        numbers=_numbers(energies, growth),
        remarks=[
            "The thesis prints the step but not the length of the run; t1 is our choice.",
            "Its claims: explicit Euler blows up, implicit Euler dies out, the symplectic methods stay "
            "bounded and the more closely the higher their order, and RK4 declines while Gauss stays flat.",
            "For this linear problem the growth per step of both Euler methods is known, 1 + h^2 k/m and its "
            "inverse, and the runs meet it.",
            "Gauss methods keep every quadratic invariant, so here the energy is exact up to round-off.",
        ],
        figures={"": _draw(runs)},
    )


def _numbers(energies: dict[str, np.ndarray], growth: float) -> list[Number]:
    """The claims of the text."""
    start = energies["gauss6"][0]
    ratio = {name: values[-1] / start for name, values in energies.items()}
    swing = {name: float(np.max(np.abs(values - start)) / start) for name, values in energies.items()}
    half = len(energies["verlet"]) // 2
    growth_of_swing = {
        name: np.ptp(energies[name][half:]) / np.ptp(energies[name][:half])
        for name in ("symplectic-euler-a", "verlet")
    }
    rate, known = math.log(growth), "theory"
    explicit, implicit = math.log(ratio["explicit-euler"]), math.log(ratio["implicit-euler"])
    band = growth_of_swing["symplectic-euler-a"], growth_of_swing["verlet"]
    return [
        Number.matches("explicit Euler: log of the energy's growth", explicit, rate, 1e-9, known),
        Number.matches("implicit Euler: log of the energy's growth", implicit, -rate, 1e-9, known),
        Number.at_most("symplectic Euler A: largest relative deviation", swing["symplectic-euler-a"], 0.011),
        Number.between("symplectic Euler A: swing, second half over first", band[0], 0.99, 1.01),
        Number.at_most("Störmer-Verlet: largest relative deviation", swing["verlet"], 1.1e-4),
        Number.between("Störmer-Verlet: swing, second half over first", band[1], 0.99, 1.01),
        Number.at_most("RK4: relative change of the energy", ratio["rk4"] - 1.0, -1e-9),
        Number.at_most("Gauss 6: largest relative deviation", swing["gauss6"], 1e-12),
    ]


@styled
def _draw(runs: dict) -> "Figure":
    figure, axes = canvas(3, 2, (8.0, 7.5), "Harmonic oscillator: energy over time", sharex=True)
    for row, pair in zip(axes, PAIRS, strict=True):
        for ax, (name, label), color in zip(row, pair, (NOT_SYMPLECTIC, SYMPLECTIC), strict=True):
            run = runs[name]
            # On the scale of the energy itself the two methods of the last row could not be told apart.
            shift = run.energy[0] if pair is PAIRS[-1] else 0.0
            ax.plot(run.t, run.energy - shift, color=color, linewidth=0.8)
            ax.set_title(label)
            ax.set_ylabel("H − H(0) [J]" if shift else "H [J]")
    axes[2, 1].set_ylim(axes[2, 0].get_ylim())
    for ax in axes[2]:
        ax.set_xlabel("time [s]")
    return figure
