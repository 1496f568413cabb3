"""Figure 2.10: the Poincaré section of the galactic orbit."""

from typing import TYPE_CHECKING

import numpy as np

from poinsot.analysis import PoincareSection
from poinsot.papers._pictures import SYMPLECTIC, canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.chaurasia2012._table_2_1 import PRINTED, ROWS, section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

END, QUICK_END = 200_000.0, 20_000.0


def figure_2_10(quick: bool, progress: bool | None) -> Findings:
    """Points of the section by Gauss 6, with the corrected data and with the printed ones."""
    row, t1 = ROWS[0], QUICK_END if quick else END
    cuts = {
        data: section(row, parameters, t1, locate=True, progress=progress)
        for data, parameters in (("corrected", {}), ("printed", PRINTED))
    }
    points = cuts["corrected"]
    numbers = [
        Number.near("points per unit time, corrected data", points.count / t1, row.hairer / 1e6, 1e-4),
        Number.shown("points per unit time, printed data", cuts["printed"].count / t1),
        Number.at_most(
            "largest distance of a point from the plane", float(np.max(np.abs(points.state.q[:, 1]))), 1e-12
        ),
    ]
    remarks = [
        "The section is the half-plane q2 = 0, q1 > 0, crossed upwards; local solves locate its points.",
        f"The thesis draws it up to t = 1e6; we draw up to t = {t1:g}, where it already has its shape, and "
        "compare the rate of points with that of Hairer's count.",
    ]
    settings = {"method": row.method, "step": row.step, "t1": t1, "printed": PRINTED}
    return Findings(settings, numbers, remarks, {"": _draw(cuts)})


def _draw(cuts: dict[str, PoincareSection]) -> "Figure":
    figure, axes = canvas(
        1,
        2,
        (10.0, 5.0),
        "Poincaré section of the galactic orbit, Gauss 6, h = 1/5",
        sharey=True,
        sharex=True,
    )
    for ax, (data, cut) in zip(axes, cuts.items(), strict=True):
        ax.plot(cut.state.q[:, 0], cut.state.q[:, 2], ".", markersize=1.0, color=SYMPLECTIC)
        ax.set_title(f"{data} data: {cut.count} points", fontsize=10)
        ax.set_xlabel("q₁")
    axes[0].set_ylabel("q₃")
    return figure
