"""Figures 2.15 to 2.17: the symmetric top by an energy-momentum method in quaternions."""

from typing import TYPE_CHECKING

import numpy as np

from poinsot.coordinates import Quaternions
from poinsot.integrators import EnergyMomentum, ImplicitMidpoint
from poinsot.papers._pictures import canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.chaurasia2012._bodies import change, limits, measured_order, nutation, run_top
from poinsot.papers.chaurasia2012._top import AXIAL, LENGTH, OWN, SETTINGS, STEP
from poinsot.simulation import BodyTrajectory
from poinsot.viz._style import PALETTE, QUIET, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHOD = (
    "The thesis takes the scheme QUAT-EM of Betsch and Siebert and gives neither equations nor data for its "
    "runs. Ours is the energy-momentum method of second order in the same coordinates, on the top and with "
    "the step of section 2.5."
)


def figure_2_15(quick: bool, progress: bool | None) -> Findings:
    """The mass centre over time."""
    run = _run(quick, progress)
    numbers = [
        # The limits are those of the exact motion, from which a second-order method with this step differs.
        *nutation(run, 1e-3),
        measured_order(lambda dt, t1: _run(quick, progress, dt, t1)),
    ]
    remarks = [
        "The claim: the motion is periodic, as in figure 2.14. The axis nods between the two angles of "
        "theory while it goes round.",
        METHOD,
        OWN,
    ]
    return _findings(run, numbers, remarks, _draw_position(run))


def figure_2_16(quick: bool, progress: bool | None) -> Findings:
    """The angular momentum in space, and the component along the body's axis."""
    run = _run(quick, progress)
    momentum, spin = run.angular_momentum, AXIAL * run.angular_velocity[:, 0, 2]
    size = float(np.linalg.norm(momentum[0]))
    numbers = [
        Number.at_most("largest relative change of L_z", change(momentum[:, 2]), 1e-12),
        Number.at_least("swing of L_x over |L|", float(np.ptp(momentum[:, 0])) / size, 0.1),
        Number.at_least("swing of L_y over |L|", float(np.ptp(momentum[:, 1])) / size, 0.1),
        Number.at_most("largest relative change of the body component J_3 Omega_3", change(spin), 1e-4),
    ]
    remarks = [
        "The claim: of the three components the vertical one is constant. It is, to round-off.",
        "The thesis derives this from its equation (2.4), which is about another constant, the component "
        "along the body's own axis. The scheme keeps the vertical one; the other moves at second order in "
        "the step.",
        METHOD,
        OWN,
    ]
    return _findings(run, numbers, remarks, _draw_momentum(run.t, momentum, spin))


def figure_2_17(quick: bool, progress: bool | None) -> Findings:
    """The energy, beside that under the implicit midpoint rule."""
    run = _run(quick, progress)
    control = run_top(ImplicitMidpoint(), Quaternions(), "hamiltonian", quick, progress)
    numbers = [
        Number.at_most("energy-momentum: largest relative change of energy", change(run.energy), 1e-12),
        Number.at_least("implicit midpoint: the same", change(control.energy), 1e-8),
    ]
    remarks = [
        "The claim: the scheme conserves the Hamiltonian. It does, to round-off, where the implicit midpoint "
        "rule with the same step, symplectic and of the same order, does not.",
        METHOD,
        OWN,
    ]
    return _findings(run, numbers, remarks, _draw_energy(run, control))


def _run(quick: bool, progress: bool | None, dt: float = STEP, t1: float | None = None) -> BodyTrajectory:
    return run_top(EnergyMomentum(), Quaternions(), "hamiltonian", quick, progress, dt, t1)


def _findings(run: BodyTrajectory, numbers: list[Number], remarks: list[str], figure: "Figure") -> Findings:
    return Findings(SETTINGS | {"t1": float(run.t[-1])}, numbers, remarks, {"": figure})


@styled
def _draw_position(run: BodyTrajectory) -> "Figure":
    title = f"Mass centre of the symmetric top, energy-momentum method, h = {STEP}"
    figure, axes = canvas(3, 1, (8.0, 6.0), title, sharex=True)
    for ax, values, name in zip(axes, run.position[:, 0].T, "xyz", strict=True):
        ax.plot(run.t, values, color=PALETTE[0], linewidth=0.9)
        ax.set_ylabel(f"{name} [m]")
    for limit in limits(run):
        axes[2].axhline(LENGTH * np.cos(limit), linestyle="--", color=QUIET, linewidth=0.9)
    axes[-1].set(xlabel="time [s]", xlim=(0.0, run.t[-1]))
    return figure


@styled
def _draw_momentum(t: np.ndarray, momentum: np.ndarray, spin: np.ndarray) -> "Figure":
    title = f"Angular momentum of the symmetric top, energy-momentum method, h = {STEP}"
    figure, (whole, detail) = canvas(2, 1, (8.0, 6.0), title, sharex=True, height_ratios=(2, 1))
    for values, name, color in zip(momentum.T, ("x", "y", "z"), PALETTE, strict=False):
        whole.plot(t, values, color=color, linewidth=0.9, label=f"$L_{name}$")
    whole.plot(t, spin, color=PALETTE[3], linewidth=0.9, linestyle="--", label=r"$J_3 \Omega_3$")
    whole.set_ylabel("angular momentum [kg m²/s]")
    whole.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    floor = np.finfo(float).eps
    for values, color in ((momentum[:, 2], PALETTE[2]), (spin, PALETTE[3])):
        detail.semilogy(
            t[1:], np.maximum(np.abs(values / values[0] - 1.0)[1:], floor), color=color, linewidth=0.8
        )
    detail.set(xlabel="time [s]", ylabel="relative change", xlim=(0.0, t[-1]))
    return figure


@styled
def _draw_energy(run: BodyTrajectory, control: BodyTrajectory) -> "Figure":
    title = f"Energy of the symmetric top, h = {STEP}"
    figure, (whole, detail) = canvas(2, 1, (8.0, 5.4), title, sharex=True)
    floor = np.finfo(float).eps
    for made, label, color in (
        (control, "implicit midpoint", PALETTE[1]),
        (run, "energy-momentum", PALETTE[0]),
    ):
        whole.plot(made.t, made.energy, color=color, linewidth=1.0, label=label)
        difference = np.maximum(np.abs(made.energy / made.energy[0] - 1.0), floor)
        detail.semilogy(made.t[1:], difference[1:], color=color, linewidth=0.8)
    whole.set_ylabel("H [J]")
    whole.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    detail.set(xlabel="time [s]", ylabel="relative change", xlim=(0.0, run.t[-1]))
    return figure
