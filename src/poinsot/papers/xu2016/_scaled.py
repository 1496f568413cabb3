"""What the figures share: two inertias, two coordinates, the start from two positions, the pictures."""

from typing import TYPE_CHECKING, Literal

import jax
import numpy as np

from poinsot.coordinates import Directors, Quaternions
from poinsot.core import State
from poinsot.equations import ConstrainedBodies, Formulation
from poinsot.model import System
from poinsot.papers._bodies import BodyRun
from poinsot.papers._pictures import EXACT, canvas
from poinsot.viz._style import PALETTE, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Sigma = float | Literal["mean"]
PLAIN, SCALED, ENERGY_MOMENTUM = "σ = 0", "σ = mean", "energy-momentum"
SIGMAS: dict[str, Sigma] = {PLAIN: 0.0, SCALED: "mean"}
COORDINATES = {"quaternions": Quaternions, "directors": Directors}
LIMIT = {"quaternions": 1.0, "directors": 0.5}
r"""Largest $h \Omega_3$ that the first step can have with $\sigma = 0$; see `NO_SOLUTION`."""
NO_SOLUTION = (
    "With sigma = 0 a turn by theta about the third axis carries the momentum J3 sin(theta) / h in "
    "quaternions and J3 sin(2 theta) / (2 h) in directors. The first step, which starts from the velocity, "
    "therefore has no solution where h Omega_3 is beyond 1 and 1/2."
)
COLOURS = {PLAIN: PALETTE[1], SCALED: PALETTE[0], ENERGY_MOMENTUM: PALETTE[2]}
MARKERS = {PLAIN: "o", SCALED: "x", ENERGY_MOMENTUM: "None"}


def from_two_positions(example: System, formulation: Formulation, h: jax.Array) -> tuple[jax.Array, State]:
    r"""The exact places at times 0 and h, which start the recursion (72) without its first step (73).

    The momentum at the second is $p_1 = M(q_m)\,v_m + \tfrac h2 f$.
    """
    problem, exact = formulation.problem, example.exact
    assert isinstance(problem, ConstrainedBodies) and exact is not None
    q0, q1 = formulation.start(example.start).q, formulation.start(exact(h)).q
    q, v = 0.5 * (q0 + q1), (q1 - q0) / h
    force = jax.grad(problem.lagrangian, argnums=1)(0.5 * h, q, v)
    return h, State(q=q1, p=problem.tangent_momentum(h, q1, problem.momentum(q, v) + 0.5 * h * force))


@styled
def draw_mass_centre(runs: dict[str, BodyRun], fine: BodyRun, title: str) -> "Figure":
    """Two coordinates of the mass centre, the exact ones at the times of a fine run, and the errors."""
    figure, axes = canvas(2, 2, (10.0, 5.6), title, sharex=True)
    for row, place, name in zip(axes, (0, 2), "xz", strict=True):
        row[0].plot(fine.t, fine.exact_position[:, place], color=EXACT, linewidth=1.6, label="exact")
        for label, run in runs.items():
            method = label.partition(",")[0]
            style = {"color": COLOURS[method], "linewidth": 0.8, "markersize": 3.5}
            marks = {"marker": MARKERS[method], "markevery": max(1, len(run.t) // 80), "fillstyle": "none"}
            row[0].plot(run.t, run.position[:, place], "--", label=label, **style, **marks)
            row[1].semilogy(run.t[1:], np.abs(run.displacement[1:, place]), label=label, **style)
        row[0].set_ylabel(f"{name} [m]")
        row[1].set_ylabel(f"error of {name} [m]")
    for ax in axes[1]:
        ax.set_xlabel("time [s]")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
