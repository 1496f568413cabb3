"""Figures 3.5 and 3.6: the energy of eight tetrahedra, with a force on the last body and with it clamped."""

import math
from typing import TYPE_CHECKING

import numpy as np

from poinsot.integrators import RK4, GaussLegendre
from poinsot.papers._pictures import NOT_SYMPLECTIC, SYMPLECTIC, canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.chaurasia2012._bodies import order
from poinsot.papers.chaurasia2012._chain import (
    OWN_START,
    SETTINGS,
    SPACING,
    run_chain,
    tetrahedra,
)
from poinsot.simulation import BodyTrajectory
from poinsot.viz._chain_drawing import Snapshots
from poinsot.viz._style import PALETTE, QUIET, file_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEP, EVERY, END, QUICK_END = 0.002, 10, 50.0, 10.0
EARLY = 1.0
"""Until then motions with different steps are the same; later they are chaotic."""
TORN = 2.0 * SPACING
"""Length of a bond at which next to nothing is left of its attraction."""
STRETCHES = 10
SNAPSHOTS = (0.0, 1.0, 2.0, 5.0, 8.0, 12.0)

PULLED = (
    "The force feeds energy into the bodies that it pulls away, so that round-off grows beneath the swings, "
    "to 1e-10 at t = 50, where the kinetic energy is above 1000; half the step leaves as much."
)


def figure_3_5(quick: bool, progress: bool | None) -> Findings:
    """Clamped at one end, pulled at the other."""
    return _findings("c1-c2", quick, progress)


def figure_3_6(quick: bool, progress: bool | None) -> Findings:
    """Clamped at both ends."""
    return _findings("c1-c1", quick, progress)


def _findings(condition: str, quick: bool, progress: bool | None) -> Findings:
    chain, start = tetrahedra(condition)
    t1 = QUICK_END if quick else END
    options = {"save_every": EVERY, "progress": progress}
    gauss, control = (
        run_chain(chain, start, method, t1, STEP, **options) for method in (GaussLegendre(3), RK4())
    )
    coarse = run_chain(chain, start, GaussLegendre(3), EARLY, 2.0 * STEP, save_every=EVERY)
    numbers = [*_energy_numbers(gauss, control, coarse), *_motion_numbers(gauss)]
    figures = {"": _draw(condition, gauss, control), "-chain": _draw_chain(condition, gauss)}
    settings = SETTINGS | {"ends": condition, "step": STEP, "t1": t1}
    return Findings(settings, numbers, _remarks(condition, gauss), figures)


def _energy_numbers(gauss: BodyTrajectory, control: BodyTrajectory, coarse: BodyTrajectory) -> list[Number]:
    """The energy in absolute numbers: how far it goes, whether it has a trend, its order."""
    early = (float(np.max(np.abs(_error(run)[run.t <= EARLY * (1.0 + 1e-9)]))) for run in (coarse, gauss))
    return [
        Number.shown("H at the start", gauss.energy[0]),
        Number.at_most("Gauss 6: largest |H - H(0)|", float(np.max(np.abs(_error(gauss)))), 1e-7),
        Number.at_most("Gauss 6: trend of H - H(0), in standard errors", abs(trend(_error(gauss))), 4.0),
        Number.matches(
            f"Gauss 6: order of |H - H(0)| up to t = {EARLY:g}",
            order(*early),
            6.0,
            1.0,
            "order of the method",
        ),
        Number.shown("RK4: largest |H - H(0)|", float(np.max(np.abs(_error(control))))),
        Number.at_least("RK4: trend of H - H(0), in standard errors", abs(trend(_error(control))), 4.0),
    ]


def _motion_numbers(run: BodyTrajectory) -> list[Number]:
    """How hot the chain gets, and when it breaks."""
    kinetic, times = kinetic_energy(run), torn_for_good(run)
    return [
        Number.at_least(
            "largest kinetic energy over that at the start", float(np.max(kinetic) / kinetic[0]), 100.0
        ),
        Number.at_least(f"bonds longer than {TORN:g} at the end, of 7", len(times), 1),
        Number.shown("first bond that breaks for good, at t", min(times, default=math.nan)),
    ]


def _remarks(condition: str, run: BodyTrajectory) -> list[str]:
    times = ", ".join(f"{time:.1f}" for time in sorted(torn_for_good(run)))
    return [
        "The claim: the Hamiltonian remains conserved. It does: |H - H(0)| swings at the order of the method "
        "in a band without trend, while the kinetic energy grows by orders of magnitude; it is shown in "
        "absolute numbers, since H is a difference of large numbers.",
        *([PULLED] if condition == "c1-c2" else []),
        "What the figure does not say: the straight chain is far from equilibrium. Its bonds are compressed "
        "and it is next to a saddle, so it buckles, gets hot and breaks: bonds are longer than twice the "
        f"spacing from t = {times} on for good. The motion is chaotic; another start or step breaks other "
        "bonds.",
        "The inertia is that of the four particles, I33 = 7/6 where the thesis prints 5/6, and particles are "
        "at x + R rho, where it has the transpose of R.",
        OWN_START,
    ]


def _error(run: BodyTrajectory) -> np.ndarray:
    return run.energy - run.energy[0]


def trend(values: np.ndarray) -> float:
    """Slope of the means of ten stretches, in units of its standard error."""
    means = np.array([np.mean(part) for part in np.array_split(values, STRETCHES)])
    place = np.arange(STRETCHES) - 0.5 * (STRETCHES - 1)
    slope = place @ means / (place @ place)
    rest = means - np.mean(means) - slope * place
    return float(slope / np.sqrt(rest @ rest / (STRETCHES - 2) / (place @ place)))


def kinetic_energy(run: BodyTrajectory) -> np.ndarray:
    """Of all bodies, at the saved times."""
    inertia = np.asarray(run.attributes["inertia"])
    assert run.formulation is not None
    masses = np.asarray(run.formulation.bodies.system.body_masses)
    turning = np.einsum("tbi,bij,tbj->t", run.angular_velocity, inertia, run.angular_velocity)
    return 0.5 * (np.einsum("b,tbi->t", masses, run.velocity**2) + turning)


def bond_lengths(run: BodyTrajectory) -> np.ndarray:
    """Distances of the mass centres of neighbours, `(time, bond)`."""
    return np.linalg.norm(np.diff(run.position, axis=1), axis=2)


def torn_for_good(run: BodyTrajectory) -> list[float]:
    """Times from which on bonds are long until the end, of those that are."""
    long = bond_lengths(run) > TORN
    return [float(run.t[np.flatnonzero(~bond)[-1] + 1]) for bond in long.T if bond[-1]]


@styled
def _draw(condition: str, gauss: BodyTrajectory, control: BodyTrajectory) -> "Figure":
    title = f"Eight tetrahedra, {condition}, h = {STEP:g}"
    figure, (error, heat, bonds) = canvas(3, 1, (8.0, 7.6), title, sharex=True)
    for run, label, colour in ((control, "RK4", NOT_SYMPLECTIC), (gauss, "Gauss 6", SYMPLECTIC)):
        seen = np.where(_error(run) == 0.0, np.nan, np.abs(_error(run)))
        error.semilogy(run.t, seen, color=colour, linewidth=0.7, label=label)
    error.set_ylabel("|H − H(0)| [J]")
    heat.semilogy(gauss.t, kinetic_energy(gauss), color=PALETTE[1], linewidth=0.8)
    heat.set_ylabel("kinetic energy [J]")
    for number, length in enumerate(bond_lengths(gauss).T):
        bonds.semilogy(
            gauss.t, length, linewidth=0.7, color=PALETTE[number % len(PALETTE)], label=f"{number + 1}"
        )
    bonds.axhline(TORN, linestyle="--", color=QUIET, linewidth=0.9)
    bonds.set(xlabel="time [s]", ylabel="length of bonds [m]", xlim=(0.0, gauss.t[-1]))
    for ax in (error, bonds):
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.2)
    return figure


@styled
def _draw_chain(condition: str, run: BodyTrajectory) -> "Figure":
    snapshots = Snapshots.of(run, [time for time in SNAPSHOTS if time <= run.t[-1]])
    figure = file_figure(snapshots.size)
    snapshots.draw(figure)
    figure.suptitle(f"Eight tetrahedra, {condition}")
    return figure
