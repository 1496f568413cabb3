"""Figures 1 and 2: angular velocity and rotation of the free body, beside the exact motion."""

import math
from typing import TYPE_CHECKING

import numpy as np

from poinsot.coordinates import Group
from poinsot.integrators import KryslEndresNewmark, LieRattle, TerzeRattle
from poinsot.library import tumbling_body
from poinsot.papers._bodies import BodyRun, ladder, slope
from poinsot.papers._pictures import EXACT, canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.terze2013._momentum import extrapolated, predicted
from poinsot.viz._style import PALETTE, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEP = 0.1
END, QUICK_END = 100.0, 25.0
FINE = (0.025, 0.0125)
ORDER_END = 10.0
J = np.array([0.9144, 1.098, 1.66])
OMEGA = np.array([0.45549, 0.82623, 0.03476])
METHODS = {
    "Terze": TerzeRattle(),
    "Krysl-Endres": KryslEndresNewmark(),
    "Lie RATTLE": LieRattle(),
}
SETTINGS = {
    "inertia": J.tolist(),
    "angular velocity": OMEGA.tolist(),
    "rotation (ours)": "identity",
    "step (ours)": STEP,
}
READING = (
    "The scheme is (9) with the skew part of its exponent, the reading of order 2 that stays on the group; "
    "figure 3 has it to the letter as well."
)
OWN = "The paper prints no step, no length of the run and no initial rotation; these and the bounds are ours."


def figure_1(quick: bool, progress: bool | None) -> Findings:
    """Body angular velocity over time."""
    t1 = QUICK_END if quick else END
    runs, fine = _runs(t1)
    terze = runs["Terze"]
    reached = np.max(np.abs(terze.angular_velocity), axis=0)
    numbers = [
        Number.matches(
            f"largest Omega_{place + 1} [rad/s]",
            reached[place],
            largest_rate(place),
            0.01,
            "energy and momentum",
        )
        for place in (0, 2)
    ]
    for name in METHODS:
        coarse_error, fine_error = (rate_error(fine[name][h]) for h in FINE)
        numbers += [
            Number.shown(f"{name}: largest error of Omega [rad/s]", rate_error(runs[name])),
            _order(name, slope(coarse_error, fine_error, FINE[0] / FINE[1])),
        ]
    gain = rate_error(runs["Lie RATTLE"]) / rate_error(terze)
    numbers.append(Number.at_most("error of Omega, Lie RATTLE over Terze", gain, 0.25))
    remarks = [
        "The figure shows the angular velocity of the body, and ours follows the exact motion, at the order "
        "of Störmer-Verlet. Of the three methods compared the scheme is the least accurate: its energy falls "
        "all the time.",
        READING,
        OWN,
    ]
    return Findings(SETTINGS | {"t1": t1}, numbers, remarks, {"": _draw_rates(runs)})


def figure_2(quick: bool, progress: bool | None) -> Findings:
    """Elements of the rotation matrix over time."""
    t1 = QUICK_END if quick else END
    runs, fine = _runs(t1)
    numbers = []
    for name in METHODS:
        coarse_error, fine_error = (rotation_error(fine[name][h]) for h in FINE)
        numbers += [
            Number.shown(f"{name}: largest error of an element", rotation_error(runs[name])),
            _order(name, slope(coarse_error, fine_error, FINE[0] / FINE[1])),
        ]
    terze, rattle = runs["Terze"], runs["Lie RATTLE"]
    half = np.argmin(np.abs(terze.t - 0.5 * terze.t[-1]))
    trend = (terze.energy[-1] - terze.energy[0]) / (terze.energy[half] - terze.energy[0])
    numbers += [
        Number.shown("Terze: relative change of spatial momentum", terze.momentum_change, 0.0),
        _momentum_number(fine["Terze"]),
        Number.at_least("Terze: relative change of energy", terze.energy_change, 1e-4),
        Number.between("Terze: change of energy, whole run over its first half", trend, 1.5, 2.5),
        Number.at_most("Lie RATTLE: relative change of spatial momentum", rattle.momentum_change, 1e-12),
        Number.at_most("Lie RATTLE: relative change of energy", rattle.energy_change, 1e-4),
    ]
    remarks = [
        "The figure shows the nine elements; ours follow the exact motion at the order of Störmer-Verlet.",
        "Of the properties of Störmer-Verlet that the abstract names, the scheme does not keep momentum: it "
        "moves at the rate that the third power of the step in the expansion of one step has. And "
        "the energy drifts evenly, as it does not for a symplectic method. Lie RATTLE, which follows from a "
        "discrete action in the same exponential map, keeps the one and bounds the other.",
        READING,
        OWN,
    ]
    return Findings(SETTINGS | {"t1": t1}, numbers, remarks, {"": _draw_rotation(runs["Terze"])})


def _momentum_number(runs: dict[float, BodyRun]) -> Number:
    """Change of spatial momentum, which the paper says is kept, beside the expansion of a step."""
    coarse, fine = (runs[h] for h in FINE)
    known = float(np.linalg.norm(predicted(J, fine)))
    measured = float(np.linalg.norm(extrapolated(coarse, fine)))
    name = f"Terze: change of spatial momentum up to t = {ORDER_END:g} over h^2, as h goes to 0"
    return Number.matches(name, measured, known, 0.02 * known, "expansion of a step", 0.0)


def _order(name: str, measured: float) -> Number:
    """That of Störmer-Verlet, which the paper claims for its scheme; the others declare theirs."""
    title = f"{name}: order of the error up to t = {ORDER_END:g}"
    if name == "Terze":
        return Number.near(title, measured, 2.0, 0.1)
    return Number.matches(title, measured, 2.0, 0.1, "order of the method")


def largest_rate(place: int) -> float:
    r"""Largest $\Omega_1$ or $\Omega_3$, reached where $\Omega_2 = 0$, from energy and momentum alone.

    With $2T = \sum J_k \Omega_k^2$ and $L^2 = \sum J_k^2 \Omega_k^2$:
    $\Omega_1^2 = (2 T J_3 - L^2) / (J_1 (J_3 - J_1))$, and likewise with 1 and 3 exchanged.
    """
    twice, square = float(np.sum(J * OMEGA**2)), float(np.sum((J * OMEGA) ** 2))
    own, other = J[place], J[2 - place]
    return math.sqrt((twice * other - square) / (own * (other - own)))


def rate_error(run: BodyRun) -> float:
    """Largest error of a component of the angular velocity."""
    return float(np.max(np.abs(run.angular_velocity - run.exact_angular_velocity)))


def rotation_error(run: BodyRun) -> float:
    """Largest error of an element of the rotation."""
    return float(np.max(np.abs(run.rotation - run.exact_rotation)))


def _runs(t1: float) -> tuple[dict[str, BodyRun], dict[str, dict[float, BodyRun]]]:
    """One run of each method with the step of the figures, and short ones with finer steps."""
    drawn, fine = {}, {}
    for name, method in METHODS.items():
        runs = ladder(tumbling_body(), method, Group("matrix"), (STEP, *FINE), t1, form="group")
        drawn[name] = runs[STEP]
        fine[name] = {h: runs[h].until(ORDER_END) for h in FINE}
    return drawn, fine


@styled
def _draw_rates(runs: dict[str, BodyRun]) -> "Figure":
    title = f"Free body, scheme of Terze et al., h = {STEP}"
    figure, (above, below) = canvas(2, 1, (8.5, 6.0), title, sharex=True)
    run = runs["Terze"]
    for place, color in enumerate(PALETTE[:3]):
        above.plot(
            run.t, run.angular_velocity[:, place], color=color, linewidth=1.0, label=f"Ω{'₁₂₃'[place]}"
        )
        above.plot(run.t, run.exact_angular_velocity[:, place], ":", color=EXACT, linewidth=1.0)
    above.plot([], [], ":", color=EXACT, label="exact")
    above.set_ylabel("Ω [rad/s]")
    above.legend(ncols=4, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    for (name, method_run), color in zip(runs.items(), PALETTE[3:], strict=False):
        error = np.max(np.abs(method_run.angular_velocity - method_run.exact_angular_velocity), axis=-1)
        below.semilogy(method_run.t[1:], error[1:], color=color, linewidth=0.9, label=name)
    below.set(xlabel="time [s]", ylabel="error of Ω [rad/s]")
    below.legend(loc="lower right", ncols=3)
    return figure


@styled
def _draw_rotation(run: BodyRun) -> "Figure":
    title = f"Free body, rotation matrix by the scheme of Terze et al., h = {STEP}; dotted: exact"
    figure, axes = canvas(3, 3, (10.0, 6.0), title, sharex=True, sharey=True)
    for i in range(3):
        for j in range(3):
            axes[i, j].plot(run.t, run.rotation[:, i, j], color=PALETTE[0], linewidth=1.0)
            axes[i, j].plot(run.t, run.exact_rotation[:, i, j], ":", color=EXACT, linewidth=1.0)
            axes[i, j].set_ylabel(f"R{'₁₂₃'[i]}{'₁₂₃'[j]}")
        axes[2, i].set_xlabel("time [s]")
    return figure
