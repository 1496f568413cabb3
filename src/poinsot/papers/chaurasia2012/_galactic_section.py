"""Figure 2.10: the Poincaré section of the galactic orbit."""

from typing import TYPE_CHECKING

import numpy as np

from poinsot.analysis import PoincareSection
from poinsot.papers._pictures import SYMPLECTIC, canvas
from poinsot.papers._reproduction import Findings, Number
from poinsot.papers.chaurasia2012._galactic_table import DATA, END, PRINTED, QUICK_END, ROWS, judge, section
from poinsot.viz._style import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure_2_10(quick: bool, progress: bool | None) -> Findings:
    """Points of the section by Gauss 6, with the corrected data and with the printed ones."""
    row, t1 = ROWS[0], QUICK_END if quick else END
    cuts = {
        data: section(row, parameters, t1, locate=True, progress=progress)
        for data, parameters in (("corrected", {}), ("printed", PRINTED))
    }
    points, name = cuts["corrected"], f"points up to t = {t1:g}"
    from_plane = np.max(np.abs(points.state.q[:, 1]))
    numbers = [
        judge(name, points.count, row, quick),
        Number.shown(f"{name}, printed data", cuts["printed"].count, None if quick else row.hairer),
        Number.at_most("largest distance of a point from the plane", from_plane, 1e-12),
    ]
    remarks = [
        "The section is the half-plane q2 = 0, q1 > 0, crossed upwards; local solves locate its points.",
        "The orbit of the printed data (c = 0.5, p2 = 1.688) fills another region: see table 2.1.",
    ]
    settings = {"method": row.method, "step": row.step, "t1": t1} | DATA
    return Findings(settings, numbers, remarks, {"": _draw(cuts)})


@styled
def _draw(cuts: dict[str, PoincareSection]) -> "Figure":
    title = "Poincaré section of the galactic orbit, Gauss 6, h = 1/5"
    figure, axes = canvas(1, 2, (10.0, 5.0), title, sharex=True, sharey=True)
    for ax, (data, cut) in zip(axes, cuts.items(), strict=True):
        size = 0.5 if cut.count > 5000 else 2.0
        ax.plot(cut.state.q[:, 0], cut.state.q[:, 2], ".", markersize=size, color=SYMPLECTIC)
        ax.set_title(f"{data} data: {cut.count} points")
        ax.set_xlabel("q₁")
    axes[0].set_ylabel("q₃")
    return figure
