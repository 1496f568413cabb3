"""Pictures of what an error costs: methods in rows, formulations as curves."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from poinsot.viz._style import PALETTE, QUIET, file_figure, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WORK = {"rhs": "evaluations of the right-hand side", "seconds": "time [s]"}
"""What errors are drawn against, and its name on the axis."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", "--", ":", "-.")
WORST = 10.0
"""Errors above are drawn here, failed runs too: such a run has lost the motion."""

Points = Sequence[Mapping[str, Any]]


@styled
def plot_formalisms(
    points: Points,
    *,
    methods: Sequence[str] | None = None,
    work: Sequence[str] = tuple(WORK),
    title: str = "Work and precision",
    to_file: bool = False,
) -> "Figure":
    """Errors against work, a row of panels for each method and a curve for each formulation.

    Of a problem without formulations there is one row, with a curve for each method. Runs that failed, or
    whose error is above ten, are drawn hollow at ten.

    Args:
        points: of `WorkPrecision`, as dictionaries: method, formulation, error and what is in `work`.
        methods: those to draw; all by default.
        work: what errors are drawn against, "rhs" or "seconds", a column of panels for each.
        title: of the figure.
        to_file: make a figure that opens no window.
    """
    shown = [p for p in points if methods is None or p["method"] in methods]
    formulations = list(dict.fromkeys(p["formulation"] for p in shown))
    several = formulations != [""]
    key = "formulation" if several else "method"
    curves = list(dict.fromkeys(p[key] for p in shown))
    rows = list(dict.fromkeys(p["method"] for p in shown)) if several else [""]
    size = (4.2 * len(work) + 2.6, 1.2 + 2.9 * len(rows))
    figure = (file_figure if to_file else new_figure)(size)
    figure.suptitle(title)
    panels = figure.subplots(len(rows), len(work), squeeze=False, sharey=True, sharex="col")
    for row, method in zip(panels, rows, strict=True):
        own = [p for p in shown if not several or p["method"] == method]
        for ax, kind in zip(row, work, strict=True):
            for place, curve in enumerate(curves):
                _curve(ax, [p for p in own if p[key] == curve], kind, place, curve)
        row[0].set_ylabel("error")
        row[0].set_title(method)
    for ax, kind in zip(panels[-1], work, strict=True):
        ax.set_xlabel(WORK[kind])
    note = {"fontsize": 8, "color": QUIET, "ha": "right", "va": "bottom"}
    first = panels[0][0]
    first.text(0.99, WORST, "hollow: above, or failed", transform=first.get_yaxis_transform(), **note)
    handles, names = first.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right upper")
    return figure


def _curve(ax: "Axes", points: Points, work: str, place: int, name: str) -> None:
    """One curve, in the colour, the marker and the dashes of its place."""
    colour, marker = PALETTE[place % len(PALETTE)], MARKERS[place % len(MARKERS)]
    dashes = DASHES[place // len(PALETTE) % len(DASHES)]
    cost = np.array([np.nan if p[work] is None else p[work] for p in points], dtype=float)
    error = np.array([np.inf if p["error"] is None else p["error"] for p in points], dtype=float)
    good = error <= WORST
    ax.axhline(WORST, color=QUIET, linewidth=0.6, linestyle=":", zorder=1)
    ax.loglog(cost[good], error[good], dashes, marker=marker, markersize=4, color=colour, label=name)
    lost = np.full(np.count_nonzero(~good), WORST)
    ax.loglog(
        cost[~good], lost, linestyle="", marker=marker, markersize=4, markerfacecolor="none", color=colour
    )
