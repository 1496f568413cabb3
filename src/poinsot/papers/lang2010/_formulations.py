"""The five formulations that the paper compares, and their runs on its examples."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax
import numpy as np

from poinsot.coordinates import AbstractCoordinates, Directors, EulerAngles, Quaternions
from poinsot.equations import formulate
from poinsot.integrators import DormandPrince
from poinsot.kernels import once
from poinsot.model import System
from poinsot.simulation import solve
from poinsot.viz._style import PALETTE, file_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


QUATERNIONS, DIRECTORS, ANGLES = Quaternions(I0=0.0), Directors(constraints="rows"), EulerAngles("zxz")
FORMULATIONS: dict[str, tuple[AbstractCoordinates, str]] = {
    "null space, quaternions": (QUATERNIONS, "null_space"),
    "null space, directors": (DIRECTORS, "null_space"),
    "absolute, quaternions": (QUATERNIONS, "index0"),
    "absolute, directors": (DIRECTORS, "index1"),
    "Euler angles": (ANGLES, "null_space"),
}
"""Coordinates and form of each; the paper solves the linear system of (23) as it stands, our form index 1."""
GENERAL = "absolute, quaternions (4)"
COMPARED = FORMULATIONS | {GENERAL: (QUATERNIONS, "index1")}
"""Those whose accuracy is compared: quaternions by equation (40), which holds their length near one, and by
the general equation (4), which lets it drift."""
UNKNOWNS = {
    "null space, quaternions": 7,
    "null space, directors": 12,
    "absolute, quaternions": 8,
    "absolute, directors": 18,
    "Euler angles": 6,
    GENERAL: 8,
}
NULL_SPACE = ("null space, quaternions", "null space, directors", "Euler angles")
ABSOLUTE = ("absolute, quaternions", "absolute, directors")


@dataclass(frozen=True)
class Run:
    """What the figures show of one body, time first."""

    t: np.ndarray
    rotation: np.ndarray
    Omega: np.ndarray
    energy: np.ndarray

    @property
    def energy_change(self) -> float:
        """Largest change of the energy, relative to its start."""
        return float(np.max(np.abs(self.energy / self.energy[0] - 1.0)))


def run(example: System, name: str, dt: float, t1: float, save_every: int) -> Run:
    """An example in one formulation by DoPri5, the paper's first choice, with a fixed step."""
    formulation = formulate(example, *FORMULATIONS[name])
    steps = round(t1 / dt)

    @once
    def whole(start):
        solution = solve(
            formulation.problem, DormandPrince(), start, dt=dt, steps=steps, save_every=save_every
        )
        packed = jax.vmap(formulation.problem.pack)(solution.state)
        motion = jax.vmap(formulation.motion)(solution.t, packed)
        seen = motion.rotation[:, 0], motion.angular_velocity[:, 0], motion.energy
        return (solution.t, *seen), solution.result

    seen, result = jax.tree.map(np.asarray, whole(formulation.start(example.start)))
    assert result == 0, f"{name} on {example.name} ended with result {result}"
    return Run(*seen)


def panels(run: Run, title: str, until: float, spin: tuple[int, float]) -> "tuple[Figure, Axes]":
    """Directors and angular velocity over time, one above the other, and free axes beside them.

    Args:
        run: the motion.
        title: of the figure.
        until: end of the time shown.
        spin: the component of the angular velocity that would hide the others, and what is taken from it.
    """
    figure = file_figure((11.0, 7.0))
    figure.suptitle(title)
    rows = ("d1", "d2", "d3", "Omega")
    axes = figure.subplot_mosaic([[row, "side"] for row in rows], width_ratios=(1.5, 1.0))
    shown = run.t <= until
    component, shift = spin
    for place, row in enumerate(rows):
        values = run.Omega if row == "Omega" else run.rotation[:, :, place]
        for k, letter in enumerate("123" if row == "Omega" else "xyz"):
            less = shift if row == "Omega" and k == component else 0.0
            label = f"$\\Omega_{letter}$" if row == "Omega" else letter
            label += f" − {less:g}" if less else ""
            axes[row].plot(
                run.t[shown], values[shown, k] - less, color=PALETTE[k], linewidth=0.8, label=label
            )
        axes[row].set_xlim(0.0, until)
        axes[row].set_ylabel("Ω [1/s]" if row == "Omega" else f"$d^{place + 1}$")
        axes[row].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.0)
    for row in rows[:-1]:
        axes[row].tick_params(labelbottom=False)
    axes["Omega"].set_xlabel("time [s]")
    figure.align_ylabels([axes[row] for row in rows])
    return figure, axes["side"]
