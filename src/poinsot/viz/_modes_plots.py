"""Pictures of small vibrations: frequencies, mode shapes, waves, and a chain beside its rod."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from poinsot.viz._style import PALETTE, QUIET, axes, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COMPONENTS = ("$u_x$", "$u_y$", "$u_z$", "$w_x$", "$w_y$", "$w_z$")
"""Displacements and rotation vectors, in the order of a mode shape."""
QUIETEST = 1e-6
"""Components of a shape below this part of the largest are not drawn."""
MARKERS = ("o", "s", "^", "D", "v", "P")


@styled
def plot_modes(
    squares: ArrayLike, shapes: ArrayLike, *, count: int = 4, title: str = "Natural modes"
) -> "Figure":
    """Frequencies of all modes on the left, shapes of the first ones along the bodies on the right.

    Args:
        squares: squared angular frequencies; negative ones are unstable and drawn below zero.
        shapes: (mode, body, 6).
        count: how many shapes.
        title: of the figure.
    """
    squares, shapes = np.asarray(squares, dtype=float), np.asarray(shapes, dtype=float)
    count = min(count, len(shapes))
    figure = new_figure((9.0, max(3.6, 1.0 + 1.5 * count)))
    figure.suptitle(title)
    sides: Any = figure.subfigures(1, 2, width_ratios=(1.0, 1.4))
    left, right = sides
    _frequencies(left.subplots(), squares)
    panels = right.subplots(max(count, 1), 1, sharex=True, squeeze=False)[:, 0]
    for mode, ax in enumerate(panels[:count]):
        _shape(ax, shapes[mode])
        root = np.sqrt(abs(squares[mode]))
        ax.set_title(
            rf"mode {mode}, $\omega = {root:.4g}${'i, unstable' if squares[mode] < 0 else ''}", fontsize=10
        )
    panels[-1].set_xlabel("body")
    lines = {str(line.get_label()): line for ax in panels for line in ax.get_lines()}
    drawn = {name: lines[name] for name in COMPONENTS if name in lines}
    right.legend(drawn.values(), drawn.keys(), loc="outside right upper")
    return figure


def _frequencies(ax: "Axes", squares: np.ndarray) -> None:
    """Angular frequencies over the number of the mode."""
    roots = np.sign(squares) * np.sqrt(np.abs(squares))
    stable = squares >= 0.0
    places = np.arange(len(squares))
    ax.vlines(places, 0.0, roots, color=QUIET, linewidth=0.6)
    ax.plot(places[stable], roots[stable], "o", markersize=4, color=PALETTE[0], label="stable")
    if np.any(~stable):
        ax.plot(
            places[~stable], roots[~stable], "s", markersize=4, color=PALETTE[1], label="unstable, times i"
        )
        ax.legend(loc="upper left")
    ax.set(xlabel="mode", ylabel=r"angular frequency $\omega$")


def _shape(ax: "Axes", shape: np.ndarray) -> None:
    """Those components of one shape that are not zero, over the bodies."""
    largest = np.max(np.abs(shape), initial=0.0)
    for place, values in enumerate(shape.T):
        if np.max(np.abs(values)) > QUIETEST * largest:
            dashes = "-" if place < 3 else "--"
            ax.plot(values, dashes, marker=".", color=PALETTE[place], label=COMPONENTS[place])
    ax.axhline(0.0, color=QUIET, linewidth=0.6)


@styled
def plot_dispersion(
    phase: ArrayLike,
    squares: ArrayLike,
    *,
    rod: ArrayLike | None = None,
    title: str = "Waves",
    ax: "Axes | None" = None,
) -> "Axes":
    """Frequency of waves over their phase from one body to the next.

    Args:
        phase: wave number times spacing.
        squares: (phase, branch) squared angular frequencies; unstable ones are drawn below zero.
        rod: the same of a rod, drawn dashed.
        title: of the picture.
        ax: where to draw.
    """
    ax = axes(ax, (6.4, 4.6))
    phase, squares = np.asarray(phase, dtype=float), np.asarray(squares, dtype=float)
    for branch, values in enumerate(squares.T):
        ax.plot(phase, np.sign(values) * np.sqrt(np.abs(values)), color=PALETTE[branch % len(PALETTE)])
    if rod is not None:
        highest = 1.1 * np.sqrt(np.max(np.abs(squares)))
        for values in np.asarray(rod, dtype=float).T:
            ax.plot(phase, np.sqrt(np.abs(values)), "--", linewidth=1.0, color=QUIET)
        ax.set_ylim(min(0.0, ax.get_ylim()[0]), highest)
    if np.min(squares) < -1e-9 * np.max(np.abs(squares)):
        ax.axhspan(ax.get_ylim()[0], 0.0, color=PALETTE[1], alpha=0.08)
        note = {"fontsize": 9, "color": QUIET, "ha": "right", "va": "bottom"}
        ax.text(0.99, 0.01, r"unstable, $\omega$ times i", transform=ax.transAxes, **note)
    ax.set(xlabel="$k a$", ylabel=r"angular frequency $\omega$", title=title)
    return ax


@styled
def plot_rod_comparison(
    counts: ArrayLike,
    differences: ArrayLike,
    kinds: Sequence[str],
    waves: Mapping[str, ArrayLike],
    *,
    title: str = "A chain and its rod",
) -> "Figure":
    """Relative differences of frequencies against the number of bodies, and waves along both.

    Args:
        counts: numbers of bodies.
        differences: (count, mode), relative.
        kinds: what each mode of the rod is.
        waves: `phase`, `chain` and `rod`: squared frequencies of waves along the finest chain and its rod.
        title: of the figure.
    """
    counts, differences = np.asarray(counts, dtype=float), np.abs(np.asarray(differences, dtype=float))
    figure = new_figure((11.0, 4.8))
    figure.suptitle(title)
    left, right = figure.subplots(1, 2)
    names = list(dict.fromkeys(kinds))
    for mode, kind in enumerate(kinds):
        place = names.index(kind)
        label = kind if mode == list(kinds).index(kind) else None
        colour, marker = PALETTE[place % len(PALETTE)], MARKERS[place % len(MARKERS)]
        left.loglog(counts, differences[:, mode], marker=marker, markersize=4, color=colour, label=label)
    guide = 0.5 * np.min(differences[0][differences[0] > 0.0]) * (counts / counts[0]) ** -2.0
    left.loglog(counts, guide, ":", color=QUIET, label="slope -2")
    left.set(xlabel="bodies", ylabel=r"relative difference of $\omega$", title="Convergence")
    left.set_xticks(counts, [f"{count:g}" for count in counts])
    left.minorticks_off()
    left.legend()
    plot_dispersion(waves["phase"], waves["chain"], rod=waves["rod"], title="Waves (rod: dashed)", ax=right)
    return figure
