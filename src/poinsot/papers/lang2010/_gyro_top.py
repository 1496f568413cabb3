"""Figure 11: the motion of the gyro top, Example A."""

import math
from typing import TYPE_CHECKING

import numpy as np

from poinsot.library import gyro_top
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.lang2010._formulations import FORMULATIONS, NULL_SPACE, Run, panels, run
from poinsot.viz._style import PALETTE, QUIET, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEP, END, SHOWN, SAVE_EVERY = 0.005, 60.0, 10.0, 4
INERTIA, MGL, SPIN = (50.0, 42.0, 10.0), 11.09 * 9.81, 20.0
AT_THE_END = (0.756009978045224, -0.27599588076720194, 20.006758534296225)
"""Angular velocity after a minute, by a Taylor method of high order at a tolerance of 1e-16 (heyoka)."""

ORDERED = (
    ("absolute, quaternions", "null space, quaternions"),
    ("absolute, directors", "null space, directors"),
    ("null space, directors", "null space, quaternions"),
    ("absolute, directors", "absolute, quaternions"),
)
"""Pairs of which the paper finds the second more accurate."""


def figure_11(quick: bool, progress: bool | None) -> Findings:
    """Directors and angular velocity in five formulations; in two of them if quick."""
    names = ("null space, quaternions", "absolute, quaternions") if quick else tuple(FORMULATIONS)
    example = gyro_top(INERTIA, MGL, spin=SPIN)
    runs = {name: run(example, name, STEP, END, SAVE_EVERY) for name in names}
    top = runs["null space, quaternions"]
    numbers = [*_claims(top), *_ends(runs), *_comparison(runs)]
    return Findings(
        settings={
            "inertia": INERTIA,
            "mgl": MGL,
            "theta at the start": math.pi / 3,
            "spin": SPIN,
            "step": STEP,
            "t1": END,
        },
        numbers=numbers,
        remarks=[
            "The claim of the figure: nutation and precession are visible. Their frequencies stand beside "
            "those of a fast top to first order; mgl J / (J3 spin)^2 = 0.13 is the size of what is left out.",
            "The paper shows the solution without naming method or time; ours is by DoPri5 with a fixed step "
            "in the formulations it compares, over the minute of its accuracy plots.",
            "Its claims about them hold: with the same steps the null-space forms are more accurate than the "
            "forms in absolute coordinates with the same parameters, and quaternions more than directors.",
        ],
        figures={"": _draw(top)},
    )


def _claims(top: Run) -> list[Number]:
    """Nutation and precession, measured and from the theory of the fast top."""
    J1, J2, J3 = INERTIA
    tilt = np.arccos(top.rotation[:, 2, 2])
    azimuth = np.unwrap(np.arctan2(top.rotation[:, 1, 2], top.rotation[:, 0, 2]))
    precession = (azimuth[-1] - azimuth[0]) / (top.t[-1] - top.t[0])
    # In the body a free axis goes round at the second rate; what is left of the spin is seen from outside.
    nutation = SPIN * (1.0 - math.sqrt((J1 - J3) * (J2 - J3) / (J1 * J2)))
    slow = MGL / (J3 * SPIN)
    left_out = MGL * math.sqrt(J1 * J2) / (J3 * SPIN) ** 2
    theory = "fast top"
    return [
        Number.matches("nutation [rad/s]", _frequency(top.t, tilt), nutation, left_out * nutation, theory),
        Number.matches("precession [rad/s]", precession, slow, left_out * slow, theory),
        Number.matches("smallest tilt [rad], where it starts", np.min(tilt), math.pi / 3, 1e-6, "theory"),
        Number.shown("largest tilt [rad]", float(np.max(tilt))),
    ]


def _frequency(t: np.ndarray, values: np.ndarray) -> float:
    """Strongest angular frequency of evenly spaced values."""
    fine = 16 * len(t)
    spectrum = np.abs(np.fft.rfft((values - np.mean(values)) * np.hanning(len(t)), fine))
    return 2.0 * math.pi * float(np.argmax(spectrum)) / (fine * float(t[1] - t[0]))


def _ends(runs: dict[str, Run]) -> list[Number]:
    top = runs["null space, quaternions"]
    return [
        Number.matches(
            f"null space, quaternions: Omega_{k + 1} after a minute", top.Omega[-1, k], value, 2e-5, "heyoka"
        )
        for k, value in enumerate(AT_THE_END)
    ]


def _error(run: Run) -> float:
    return float(np.max(np.abs(run.Omega[-1] - np.array(AT_THE_END))))


def _comparison(runs: dict[str, Run]) -> list[Number]:
    """Errors and energies in each formulation, and the ones that the paper orders."""
    numbers = []
    for name, made in runs.items():
        bound = 1e-3 if name in NULL_SPACE else 1e-2
        numbers += [
            Number.at_most(f"{name}: error of Omega after a minute", _error(made), bound),
            Number.shown(f"{name}: largest relative change of energy", made.energy_change),
        ]
    for worse, better in ORDERED:
        if worse in runs and better in runs:
            ratio = _error(runs[worse]) / _error(runs[better])
            numbers.append(Number.above(f"error: {worse} over {better}", ratio, 1.0))
    return numbers


@styled
def _draw(top: Run) -> "Figure":
    title = "Gyro top (Example A): directors and angular velocity"
    figure, side = panels(top, title, SHOWN, (2, SPIN))
    axis = top.rotation[:, :2, 2]
    shown = top.t <= SHOWN
    side.plot(*axis.T, color=QUIET, linewidth=0.5, alpha=0.8, label=f"{END:g} s")
    side.plot(*axis[shown].T, color=PALETTE[2], linewidth=1.2, label=f"first {SHOWN:g} s")
    side.set(aspect="equal", xlabel="x", ylabel="y", title="Tip of $d^3$ from above")
    side.legend(loc="center")
    return figure
