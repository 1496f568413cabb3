"""Figures 2.2 to 2.5: phase portraits and energies of the nonlinear pendulum."""

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from poinsot.core import Hamiltonian
from poinsot.integrators import as_fixed
from poinsot.library import nonlinear_pendulum
from poinsot.papers._pictures import NOT_SYMPLECTIC, SYMPLECTIC, canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.simulation import Trajectory, simulate
from poinsot.viz._style import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEP = 0.3
STEPS, QUICK_STEPS = 25_000, 2_500
LOWEST = -73.0 / 72.0
"""Energy of the stable rest, at q = 0 and p = -1/6."""


def figure_2_2(quick: bool, progress: bool | None) -> Findings:
    """The portrait spirals inwards."""
    system, run = _run("radau3", quick, progress)
    early, late = (np.ptp(run.q[part]) for part in (slice(0, 50), slice(-50, None)))
    numbers = [
        Number.at_most("area of phase space kept by a step", _area(system, "radau3"), 1.0 - 1e-4),
        Number.at_most(
            "amplitude at the end over amplitude at the start", late / early, 0.9 if quick else 0.2
        ),
    ]
    remarks = ["The claim: the motion dies out, its portrait spirals to the rest position."]
    return _findings(run, numbers, remarks, _portrait(run, "Radau IIA of order 3"))


def figure_2_3(quick: bool, progress: bool | None) -> Findings:
    """The portrait stays a closed curve."""
    system, run = _run("midpoint", quick, progress)
    early, late = (np.ptp(run.q[part]) for part in (slice(0, 50), slice(-50, None)))
    numbers = [
        Number.matches("area of phase space kept by a step", _area(system, "midpoint"), 1.0, 1e-13, "theory"),
        Number.between("amplitude at the end over amplitude at the start", late / early, 0.98, 1.02),
    ]
    remarks = ["The claim: phase space is conserved, the portrait stays on a closed curve."]
    return _findings(run, numbers, remarks, _portrait(run, "implicit midpoint"))


def figure_2_4(quick: bool, progress: bool | None) -> Findings:
    """The energy sinks all the time."""
    _, run = _run("radau3", quick, progress)
    windows = np.max(run.energy[: 50 * (len(run) // 50)].reshape(-1, 50), axis=1)
    share = (run.energy[0] - run.energy[-1]) / (run.energy[0] - LOWEST)
    numbers = [
        Number.at_most(
            "largest rise of the energy from window to window", float(np.max(np.diff(windows))), 1e-9
        ),
        Number.at_least("share of the available energy lost", share, 0.1 if quick else 0.9),
    ]
    remarks = ["The claim: the energy keeps decreasing. It goes towards that of the rest position, -73/72."]
    return _findings(run, numbers, remarks, _energy(run, "Radau IIA of order 3", NOT_SYMPLECTIC))


def figure_2_5(quick: bool, progress: bool | None) -> Findings:
    """The energy stays within a band."""
    _, run = _run("midpoint", quick, progress)
    half, deviation = len(run) // 2, np.abs(run.energy - run.energy[0])
    numbers = [
        Number.at_most("largest deviation of the energy", float(np.max(deviation)), 0.05),
        Number.between(
            "largest deviation, second half over first",
            float(np.max(deviation[half:]) / np.max(deviation[:half])),
            0.9,
            1.1,
        ),
    ]
    remarks = ["The claim: the energy remains bounded. It swings in a band that does not move."]
    return _findings(run, numbers, remarks, _energy(run, "implicit midpoint", SYMPLECTIC))


def _run(method: str, quick: bool, progress: bool | None) -> tuple[Hamiltonian, Trajectory]:
    system = nonlinear_pendulum()
    t1 = STEP * (QUICK_STEPS if quick else STEPS)
    return system, simulate(system, system.start, t1=t1, dt=STEP, integrator=method, progress=progress)


def _area(problem: Hamiltonian, method: str) -> float:
    """Determinant of the derivative of one step at the start: what becomes of a small area there."""
    integrator = as_fixed("pendulum", method)
    t, h = jnp.asarray(0.0), jnp.asarray(STEP)

    def step(y):
        return integrator.step(problem, t, h, y, integrator.init(problem, t, h, y))[0]

    return float(jnp.linalg.det(jax.jacfwd(step)(problem.pack(problem.start))))


def _findings(run: Trajectory, numbers: list[Number], remarks: list[str], figure: "Figure") -> Findings:
    own = (
        "The thesis prints the step and the start but not the length of the run; the number of steps is ours."
    )
    steps = run.attributes["steps"]
    settings = {"q0": float(run.q[0, 0]), "p0": 0.0, "step": STEP, "steps": steps}
    return Findings(settings, numbers, [*remarks, own], {"": figure})


@styled
def _portrait(run: Trajectory, label: str) -> "Figure":
    figure, ax = canvas(1, 1, (6.5, 5.0), f"Nonlinear pendulum, {label}, h = {STEP}")
    points = ax.scatter(run.q[:, 0], run.p[:, 0], c=run.t, s=1.5, cmap="viridis", linewidths=0.0)
    ax.plot(run.q[:1, 0], run.p[:1, 0], "o", markersize=5, color="black", label="start")
    ax.set(xlabel="q", ylabel="p", xlim=(-3.0, 3.0), ylim=(-2.6, 2.6))
    ax.legend()
    figure.colorbar(points, label="time [s]")
    return figure


@styled
def _energy(run: Trajectory, label: str, color: str) -> "Figure":
    title = f"Energy of the nonlinear pendulum, {label}, h = {STEP}"
    figure, (whole, detail) = canvas(1, 2, (9.0, 3.6), title, width_ratios=(2, 1), sharey=True)
    whole.plot(run.t, run.energy, color=color, linewidth=0.5)
    whole.set(xlabel="time [s]", ylabel="H [J]", xlim=(0.0, run.t[-1]))
    first = run.t <= 60.0
    detail.plot(run.t[first], run.energy[first], ".-", color=color, linewidth=0.8, markersize=2.5)
    detail.set(xlabel="time [s], first minute")
    return figure
