"""Curves, paths and files: what the pictures of runs are made of."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from poinsot.viz._decimate import envelope
from poinsot.viz._style import PALETTE, file_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE, SQUARE = (7.0, 4.2), (5.6, 5.4)
LINE_MOST = 50_000
"""States up to which an orbit is a line; a longer one is drawn as this many dots."""
STILL = 1e-9
"""Part of the largest number below which changes are not seen."""
READABLE = 20
"""Oscillations that can be told apart in one panel."""
LEGEND_MOST = 8
"""Curves up to which a panel has a legend."""


@styled
def write(draw: Callable[["Figure"], object], size: tuple[float, float], path: Path) -> Path:
    """Draw into a figure of its own and write that."""
    figure = file_figure(size)
    draw(figure)
    figure.savefig(path)
    return path


def curves(ax: "Axes", t: np.ndarray, values: np.ndarray, names: list[str] | None = None) -> None:
    """A curve for each component of `values`, against time, with a legend if there are a few."""
    columns = values.reshape(len(t), -1).T
    labels = names if names and 1 < len(names) <= LEGEND_MOST else [None] * len(columns)
    for i, (column, label) in enumerate(zip(columns, labels, strict=True)):
        ax.plot(*envelope(t, column), label=label, color=PALETTE[i % len(PALETTE)])
    if labels[0] is not None:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.2)
    if t[0] != t[-1]:
        ax.set_xlim(t[0], t[-1])


def path_with_start(ax: "Axes", *coordinates: np.ndarray) -> None:
    """A path through the plane or through space, its start marked."""
    n = len(coordinates[0])
    if n <= LINE_MOST:
        ax.plot(*coordinates, linewidth=0.8, color=PALETTE[0])
    else:
        # A thinned line would show chords that the motion never took.
        chosen = np.linspace(0, n - 1, LINE_MOST).round().astype(int)
        thinned = (values[chosen] for values in coordinates)
        ax.plot(*thinned, linestyle="", marker=".", markersize=0.8, color=PALETTE[0])
    start = (values[:1] for values in coordinates)
    ax.plot(*start, linestyle="", marker="o", markersize=6, color=PALETTE[1], label="start")
    ax.legend(loc="upper right")


def beginning(values: np.ndarray, oscillations: int) -> int:
    """Number of states until some component has gone through so many oscillations, or all.

    What goes up and down by no more than round-off of the largest number is still.
    """
    rows = values.reshape(len(values), -1)
    finest = STILL * np.max(np.abs(rows), initial=0.0)
    rising = np.diff(np.round(rows / finest) if finest else rows, axis=0)
    # Where a component is still, it goes on as before.
    last = np.maximum.accumulate(np.where(rising, np.arange(len(rising))[:, None], 0), axis=0)
    rising = np.take_along_axis(rising, last, axis=0) > 0.0
    turns = np.cumsum(rising[1:] != rising[:-1], axis=0)
    late = np.flatnonzero(np.max(turns, axis=1, initial=0) > 2 * oscillations)
    return int(late[0]) + 2 if len(late) else len(values)


def symbol(name: str, i: int, values: np.ndarray) -> str:
    """The symbol of a component, numbered from one when there are several."""
    return f"${name}$" if values[0].size == 1 else f"${name}_{{{i + 1}}}$"
