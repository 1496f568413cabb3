"""The look that pictures of reproductions share."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SYMPLECTIC = "#0072b2"
NOT_SYMPLECTIC = "#d55e00"
EXACT = "#444444"


def canvas(rows: int, columns: int, size: tuple[float, float], title: str, **options) -> "tuple[Figure, Any]":
    """A figure and its axes, as `pyplot.subplots` makes them, but outside pyplot's global state."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=150, layout="constrained")
    figure.suptitle(title, fontsize=11)
    axes = figure.subplots(rows, columns, **options)
    for ax in figure.axes:
        ax.tick_params(labelsize=8)
        if ax.name != "3d":
            ax.spines[["top", "right"]].set_visible(False)
            ax.grid(alpha=0.25, linewidth=0.5)
    return figure, axes
