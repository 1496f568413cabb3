"""Figure 3: how well the rotation matrix stays one, with the scheme as it works and as it is printed."""

from typing import TYPE_CHECKING

import jax
import numpy as np

from poinsot.coordinates import Group
from poinsot.integrators import TerzeRattle
from poinsot.library import tumbling_body
from poinsot.papers._bodies import ladder
from poinsot.papers._pictures import NOT_SYMPLECTIC, canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.terze2013._free_body import END, OMEGA, OWN, QUICK_END, SETTINGS, STEP, J
from poinsot.viz._style import PALETTE, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FINE, FINE_STEPS = 0.0025, 1000
"""Step and number of steps beside the theory of small steps."""
TERMS = 16
"""Terms of the exponential series; its argument is about a tenth."""


def figure_3(quick: bool, progress: bool | None) -> Findings:
    """Diagonal of the product with the transpose, and the determinant."""
    t1 = QUICK_END if quick else END
    run = ladder(tumbling_body(), TerzeRattle(), Group("matrix"), (STEP,), t1, form="group")[STEP]
    printed = as_printed(STEP, round(t1 / STEP))
    numbers = [
        Number.at_most(
            "largest distance of the diagonal of R^T R from 1", _largest(diagonal(run.rotation)), 1e-12
        ),
        Number.at_most("largest distance of det R from 1", _largest(determinant(run.rotation)), 1e-12),
        Number.shown("the same for (9) as printed: diagonal", _largest(diagonal(printed)), 0.0),
        Number.shown("the same for (9) as printed: determinant", _largest(determinant(printed)), 0.0),
        _volume_number(),
    ]
    remarks = [
        "The claim: R stays orthogonal with determinant 1, by the exponential map. With the skew part of the "
        "exponent it does, to round-off.",
        "As printed, the exponent h R0^T P(1/2) D^-1 has the symmetric part (h^2 / 2) hat(Omega)^2, once the "
        "multiplier is eliminated as the text says, and R leaves the group: log det R falls by h |Omega|^2 "
        "in unit time. Which reading the authors ran is not known.",
        OWN,
    ]
    return Findings(SETTINGS | {"t1": t1}, numbers, remarks, {"": _draw(run.t, run.rotation, printed)})


def _volume_number() -> Number:
    """Loss of volume as printed, which the paper says is none, beside what the symmetric part makes it."""
    exact = tumbling_body().exact
    assert exact is not None
    Omega = np.asarray(jax.jit(exact)(FINE * np.arange(FINE_STEPS + 1)).angular_velocity)[:, 0]
    known = -FINE * float(np.trapezoid(np.sum(Omega**2, axis=1), dx=FINE))
    measured = float(np.log1p(determinant(as_printed(FINE, FINE_STEPS))[-1]))
    name = f"(9) as printed: log det R at t = {FINE * FINE_STEPS:g}, h = {FINE}"
    return Number.matches(name, measured, known, 0.02 * abs(known), "-h times the integral of |Omega|^2", 0.0)


def as_printed(h: float, steps: int) -> np.ndarray:
    r"""Rotations of the free body by equation (9), letter by letter.

    $$ P_{1/2} = P_0 - \tfrac h2 R_0 \Lambda_0, \qquad R_1 = R_0 \exp(h R_0^T P_{1/2} D^{-1}), \qquad
       P_1 = P_{1/2} - \tfrac h2 R_1 \Lambda_1 $$

    $\Lambda_0$ is what the second derivative of $R^T R = I$ makes it, $\Lambda_1$ puts $P_1$ on (8).
    """
    d = 0.5 * np.sum(J) - J
    weights = d[:, None] * d / (d[:, None] + d)
    x, y, z = OMEGA
    R, P = np.eye(3), np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) * d
    rotations = [R]
    for _ in range(steps):
        V = P / d
        P = P - 0.5 * h * R @ (weights * (2.0 * V.T @ V))
        R = R @ exponential(h * R.T @ P / d)
        off = R.T @ (P / d)
        P = P - R @ (weights * (off + off.T))
        rotations.append(R)
    return np.stack(rotations)


def exponential(matrix: np.ndarray) -> np.ndarray:
    """Exponential of a small matrix, by its series."""
    term = total = np.eye(len(matrix))
    for k in range(1, TERMS):
        term = term @ matrix / k
        total = total + term
    return total


def diagonal(R: np.ndarray) -> np.ndarray:
    """Diagonal of the product of each matrix with its transpose, less 1."""
    return np.sum(R * R, axis=-2) - 1.0


def determinant(R: np.ndarray) -> np.ndarray:
    """Determinant of each matrix, less 1."""
    return np.linalg.det(R) - 1.0


def _largest(values: np.ndarray) -> float:
    return float(np.max(np.abs(values)))


@styled
def _draw(t: np.ndarray, working: np.ndarray, printed: np.ndarray) -> "Figure":
    title = f"Free body, distance of R from a rotation, h = {STEP}"
    figure, axes = canvas(1, 2, (10.0, 4.2), title, sharex=True)
    for ax, R, name in zip(
        axes, (working, printed), ("skew part of the exponent", "as printed"), strict=True
    ):
        for place, color in enumerate((PALETTE[0], PALETTE[2], PALETTE[4])):
            label = f"(RᵀR){'₁₂₃'[place]}{'₁₂₃'[place]} − 1"
            ax.plot(t, diagonal(R)[:, place], color=color, linewidth=0.9, label=label)
        ax.plot(t, determinant(R), "--", color=NOT_SYMPLECTIC, linewidth=0.9, label="det R − 1")
        ax.set_title(name)
        ax.set_xlabel("time [s]")
    axes[0].legend()
    return figure
