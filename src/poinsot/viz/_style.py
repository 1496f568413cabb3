"""The look that all pictures share."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from poinsot.core import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
"""Colours that stay apart for colour-blind eyes (after Okabe and Ito), strongest first."""
QUIET = "#5A5A5A"
"""For what should not draw the eye: guides, annotations."""

_STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#333333",
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "axes.formatter.useoffset": False,
    "axes.grid": True,
    "axes.labelsize": 11,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.titlesize": 12,
    "figure.dpi": 110,
    "figure.titlesize": 12,
    "font.size": 10,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.solid_joinstyle": "round",
    "mathtext.fontset": "cm",
    "savefig.dpi": 160,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
}


P = ParamSpec("P")
R = TypeVar("R")


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Run a drawing function under the shared style, leaving the user's own settings alone."""

    @functools.wraps(draw)
    def drawing(*args: P.args, **kwargs: P.kwargs) -> R:
        matplotlib = optional("matplotlib", "plot", "a picture")
        cycler = optional("cycler", "plot", "a picture")
        with matplotlib.rc_context(_STYLE | {"axes.prop_cycle": cycler.cycler(color=PALETTE)}):
            return draw(*args, **kwargs)

    return drawing


def axes(ax: "Axes | None", size: tuple[float, float], projection: str | None = None) -> "Axes":
    """The given axes, or those of a new figure."""
    return ax if ax is not None else new_figure(size).add_subplot(projection=projection)


def stacked(figure: "Figure | None", rows: int) -> "tuple[Figure, list[Axes]]":
    """Panels one above the other over a common time axis."""
    whole = new_figure(stacked_size(rows)) if figure is None else figure
    return whole, list(whole.subplots(rows, 1, sharex=True, squeeze=False)[:, 0])


def stacked_size(rows: int) -> tuple[float, float]:
    """Size of a figure of stacked panels."""
    return 7.0, 1.2 + 2.0 * rows


def new_figure(size: tuple[float, float]) -> "Figure":
    """A figure that pyplot knows, so that `plt.show()` shows it when the user says so."""
    return optional("matplotlib.pyplot", "plot", "a picture").figure(figsize=size, layout="constrained")


def file_figure(size: tuple[float, float]) -> "Figure":
    """A figure that pyplot does not know: for files, opening no window whatever the backend."""
    return optional("matplotlib.figure", "plot", "a picture").Figure(figsize=size, layout="constrained")
