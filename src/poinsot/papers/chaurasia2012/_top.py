"""Figures 2.13 and 2.14: the mass centre of the symmetric top."""

import math
from typing import TYPE_CHECKING

import numpy as np

from poinsot.library import centre_of_mass, symmetric_top
from poinsot.papers._pictures import SYMPLECTIC, canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.simulation import Trajectory, simulate
from poinsot.viz._style import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEP = 0.005
END, QUICK_END = 20.0, 5.0
MASS, LENGTH, GRAVITY = 1.5, 1.33, 9.81
TRANSVERSE, AXIAL = 3.06, 0.45
SETTINGS = {
    "mass": MASS,
    "length": LENGTH,
    "gravity": GRAVITY,
    "transverse inertia about the fixed point (ours)": TRANSVERSE,
    "axial inertia (ours)": AXIAL,
    "step": STEP,
}
OWN = (
    "The thesis gives no inertia and no length of the run. We take I = 3.06 and I3 = 0.45 kg m^2 about the "
    "fixed point, near those of a solid cone of 1 m radius on its tip (I is at least m l^2 = 2.65)."
)
CORRECTED = (
    "Its equations (2.7) and (2.8) lack the factor Omega_3 in their last terms; we solve the corrected ones, "
    "which agree with a quaternion code to 1e-10."
)


def figure_2_13(quick: bool, progress: bool | None) -> Findings:
    """The three coordinates over time."""
    run = _run(quick, progress)
    position = np.asarray(centre_of_mass(run.y, LENGTH))
    drift = {name: float(np.max(np.abs(values / values[0] - 1.0))) for name, values in run.conserved.items()}
    numbers = [
        Number.at_most(f"largest relative change of {name}", value, 1e-9) for name, value in drift.items()
    ]
    remarks = ["The three constants of the motion are kept.", OWN, CORRECTED]
    figure = _draw_coordinates(run.t, position)
    return Findings(SETTINGS | {"t1": float(run.t[-1])}, numbers, remarks, {"": figure})


def figure_2_14(quick: bool, progress: bool | None) -> Findings:
    """The projection on the horizontal plane."""
    run = _run(quick, progress)
    position = np.asarray(centre_of_mass(run.y, LENGTH))
    steepest, flattest = turning_points(*(run.conserved[name][0] for name in ("energy", "L_z", "Omega_3")))
    numbers = [
        Number.matches("smallest nutation angle [rad]", np.min(run.y[:, 0]), steepest, 2e-4, "theory"),
        Number.matches("largest nutation angle [rad]", np.max(run.y[:, 0]), flattest, 2e-4, "theory"),
    ]
    remarks = [
        "The claim: the motion oscillates. While the axis goes round, it nods between two angles, roots of a "
        "cubic in cos(theta), which stand here in place of a published number.",
        OWN,
        CORRECTED,
    ]
    return Findings(
        SETTINGS | {"t1": float(run.t[-1])}, numbers, remarks, {"": _draw(position, steepest, flattest)}
    )


def _run(quick: bool, progress: bool | None) -> Trajectory:
    system = symmetric_top(
        mass=MASS, length=LENGTH, transverse_inertia=TRANSVERSE, axial_inertia=AXIAL, gravity=GRAVITY
    )
    return simulate(
        system,
        system.start,
        t1=QUICK_END if quick else END,
        dt=STEP,
        integrator="gauss6",
        progress=progress,
    )


def turning_points(energy: float, vertical: float, spin: float) -> tuple[float, float]:
    r"""Smallest and largest nutation angle, from the constants of the motion: energy, $L_z$ and $\Omega_3$.

    With $u = \cos\theta$: $\dot u^2 = (1 - u^2)(\alpha - \beta u) - (b - a u)^2$, zero at both.
    """
    alpha = 2.0 * (energy - 0.5 * AXIAL * spin**2) / TRANSVERSE
    beta = 2.0 * MASS * GRAVITY * LENGTH / TRANSVERSE
    a, b = AXIAL * spin / TRANSVERSE, vertical / TRANSVERSE
    cubic = np.polysub(np.polymul([-1.0, 0.0, 1.0], [-beta, alpha]), np.polymul([-a, b], [-a, b]))
    low, high, _ = np.sort(np.roots(cubic).real)
    return math.acos(high), math.acos(low)


@styled
def _draw_coordinates(times: np.ndarray, position: np.ndarray) -> "Figure":
    figure, axes = canvas(
        3, 1, (8.0, 6.0), "Mass centre of the symmetric top, Gauss 6, h = 0.005", sharex=True
    )
    for ax, values, name in zip(axes, position.T, "xyz", strict=True):
        ax.plot(times, values, color=SYMPLECTIC, linewidth=0.9)
        ax.set_ylabel(f"{name} [m]")
    axes[-1].set_xlabel("time [s]")
    return figure


@styled
def _draw(position: np.ndarray, steepest: float, flattest: float) -> "Figure":
    figure, ax = canvas(1, 1, (6.0, 5.6), "Mass centre of the symmetric top from above, Gauss 6, h = 0.005")
    ax.plot(position[:, 0], position[:, 1], color=SYMPLECTIC, linewidth=0.8)
    angle = np.linspace(0.0, 2.0 * np.pi, 300)
    for limit in (steepest, flattest):
        radius = LENGTH * math.sin(limit)
        ax.plot(radius * np.cos(angle), radius * np.sin(angle), "--", color="#888888", linewidth=0.9)
    ax.plot(0.0, 0.0, "+", color="black")
    ax.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    return figure
