"""Figures 2.6 to 2.9: Kepler orbits by four methods.

Their runs take less than a second, so that the quick variant is the full one, without its times.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from poinsot.library import kepler
from poinsot.papers._pictures import EXACT, NOT_SYMPLECTIC, SYMPLECTIC, canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.simulation import Trajectory, simulate
from poinsot.viz._style import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ECCENTRICITY = 0.6
SHORT, LONG = 0.0005, 0.05
END = 200.0
METHODS = {
    "explicit-euler": ("explicit Euler", SHORT, 51.01),
    "symplectic-euler-a": ("symplectic Euler A", LONG, 13.71),
    "verlet": ("Störmer-Verlet", LONG, 7.26),
    "gauss6": ("Gauss of order 6", LONG, 34.09),
}
"""Label, step, and the seconds that the thesis needed."""
OWN = (
    "The thesis prints no steps, only that symplectic Euler takes one 100 times as long as explicit Euler. "
    "We take 0.05 and 0.0005 up to t = 200, as in figure I.2.2 of Hairer, Lubich and Wanner, Geometric "
    "Numerical Integration."
)


def figure_2_6(quick: bool, progress: bool | None) -> Findings:
    """Explicit Euler leaves the ellipse although its step is the shortest."""
    run, numbers = _run("explicit-euler", quick, progress)
    numbers.append(Number.at_least("relative error of the energy", _energy_error(run), 0.1))
    remarks = ["The claim: the orbit is inaccurate. It spirals away from the exact ellipse.", OWN]
    return _findings(run, "explicit-euler", numbers, remarks)


def figure_2_7(quick: bool, progress: bool | None) -> Findings:
    """Symplectic Euler is better than explicit Euler with a hundredth of its step."""
    run, numbers = _run("symplectic-euler-a", quick, progress)
    other, _ = _run("explicit-euler", quick, progress)
    momentum = np.ptp(run.conserved["angular momentum"])
    numbers += [
        Number.below(*_ratio("distance from the ellipse", _off_ellipse, run, "explicit Euler", other), 1.0),
        Number.below(*_ratio("energy error", _energy_error, run, "explicit Euler", other), 1.0),
        Number.at_most("change of angular momentum", momentum, 1e-11),
    ]
    remarks = [
        "The claim: symplectic Euler is the more accurate, with a step 100 times as long. Its orbit turns "
        "slowly but keeps its size and shape, and the angular momentum is exact.",
        "The thesis calls it implicit; for a separable Hamiltonian such as this one it is explicit.",
        OWN,
    ]
    return _findings(run, "symplectic-euler-a", numbers, remarks)


def figure_2_8(quick: bool, progress: bool | None) -> Findings:
    """Störmer-Verlet is more accurate than symplectic Euler."""
    run, numbers = _run("verlet", quick, progress)
    other, _ = _run("symplectic-euler-a", quick, progress)
    ratio = _ratio("energy error", _energy_error, run, "symplectic Euler A", other)
    numbers.append(Number.at_most(*ratio, 0.5))
    remarks = [
        "The claim: the higher order gives the more accurate orbit. It still turns slowly.",
        OWN,
    ]
    return _findings(run, "verlet", numbers, remarks)


def figure_2_9(quick: bool, progress: bool | None) -> Findings:
    """Gauss of order 6 lies on the exact ellipse."""
    run, numbers = _run("gauss6", quick, progress)
    other, _ = _run("verlet", quick, progress)
    work = 3.0 * run.attributes["iterations"]
    numbers += [
        Number.at_most(*_ratio("energy error", _energy_error, run, "Störmer-Verlet", other), 0.01),
        Number.at_most(
            *_ratio("distance from the ellipse", _off_ellipse, run, "Störmer-Verlet", other), 0.01
        ),
        Number.below("force evaluations, over those of explicit Euler", work * SHORT / run.t[-1], 1.0),
    ]
    remarks = [
        "The claim: Gauss 6 is far more accurate than explicit Euler, at less work.",
        OWN,
    ]
    return _findings(run, "gauss6", numbers, remarks)


def _run(method: str, quick: bool, progress: bool | None) -> tuple[Trajectory, list[Number]]:
    """The run, saved at the long step, with its errors and, unless quick, its time beside the thesis'."""
    system = kepler(eccentricity=ECCENTRICITY)
    _, step, published = METHODS[method]
    run = simulate(
        system,
        system.start,
        t1=END,
        dt=step,
        integrator=method,
        save_every=round(LONG / step),
        progress=progress,
    )
    seconds = run.attributes["wall_seconds"]
    numbers = [
        Number.shown("largest distance from the exact ellipse", _off_ellipse(run)),
        Number.shown("largest distance from the exact position at the same time", np.max(_off_position(run))),
    ]
    if not quick:
        numbers.append(Number.shown("computing time in seconds, compilation included", seconds, published))
    return run, numbers


def _ratio(
    name: str,
    measure: Callable[[Trajectory], float],
    run: Trajectory,
    other_label: str,
    other: Trajectory,
) -> tuple[str, float]:
    return f"{name}, over that of {other_label}", measure(run) / measure(other)


def _energy_error(run: Trajectory) -> float:
    return float(np.max(np.abs(run.energy / run.energy[0] - 1.0)))


def _off_ellipse(run: Trajectory) -> float:
    """Along the ray from the centre."""
    radius = np.hypot(run.q[:, 0], run.q[:, 1])
    ellipse = (1.0 - ECCENTRICITY**2) / (1.0 + ECCENTRICITY * run.q[:, 0] / radius)
    return float(np.max(np.abs(radius - ellipse)))


def _off_position(run: Trajectory) -> np.ndarray:
    """Distance from the exact position at the same time."""
    exact = kepler(eccentricity=ECCENTRICITY).exact
    assert exact is not None
    return np.linalg.norm(run.q - np.asarray(exact(run.t).q), axis=1)


def _findings(run: Trajectory, method: str, numbers: list[Number], remarks: list[str]) -> Findings:
    _, step, _ = METHODS[method]
    settings = {"eccentricity": ECCENTRICITY, "step": step, "steps": run.attributes["steps"]}
    return Findings(settings, numbers, remarks, {"": _draw(run, method)})


@styled
def _draw(run: Trajectory, method: str) -> "Figure":
    label, step, _ = METHODS[method]
    title = f"Kepler, {label}, h = {step:g}, up to t = {run.t[-1]:g}"
    figure, (orbit, error) = canvas(1, 2, (10.0, 4.6), title, width_ratios=(3, 2))
    color = NOT_SYMPLECTIC if method == "explicit-euler" else SYMPLECTIC
    orbit.plot(run.q[:, 0], run.q[:, 1], color=color, linewidth=0.5, label="numerical")
    angle, height = np.linspace(0.0, 2.0 * np.pi, 400), np.sqrt(1.0 - ECCENTRICITY**2)
    ellipse = np.cos(angle) - ECCENTRICITY, height * np.sin(angle)
    orbit.plot(*ellipse, "--", color=EXACT, linewidth=1.4, label="exact")
    orbit.plot(0.0, 0.0, "o", color=EXACT, markersize=5)
    orbit.set(xlabel="q₁", ylabel="q₂", xlim=(-2.9, 0.9), ylim=(-1.3, 1.5), aspect="equal")
    orbit.legend(loc="upper right")
    error.semilogy(run.t[1:], _off_position(run)[1:], color=color, linewidth=0.8)
    error.set(xlabel="time", ylabel="distance from the exact position", ylim=(1e-9, 10.0))
    return figure
