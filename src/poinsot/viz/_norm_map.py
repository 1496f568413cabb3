"""How well each body of a run keeps the constraint of its coordinates."""

from typing import TYPE_CHECKING

import numpy as np

from poinsot.core import InputError
from poinsot.simulation import BodyTrajectory
from poinsot.viz._drawing import curves
from poinsot.viz._style import QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 4
"""Bodies up to which each has a curve; more are rows of a map."""
COLUMNS, ROWS = 600, 300
"""Of a map: what a page can show."""
FLOOR = 1e-17
"""Colour of what is zero."""


def draw_norms(ax: "Axes", run: BodyTrajectory) -> str:
    """Error of each body against time: curves of a few bodies, a map of many. Returns a title.

    It is that of the length of the quaternion; in other coordinates the largest residual of the constraints.
    """
    residual, names = run.motion["constraint"], run.attributes["bodies"]
    if residual.size == 0:
        raise InputError(f"unit_norm: {run.attributes['coordinates']} has no constraints")
    if residual.shape[2] == 1:
        # The constraint is half the change of the squared length.
        error = np.abs(np.expm1(0.5 * np.log1p(2.0 * residual[:, :, 0])))
        label, title = r"$|\,|q| - 1\,|$", "Length of the quaternions: error"
    else:
        error, label, title = np.max(np.abs(residual), axis=2), "largest residual", "Constraints: residual"
    if len(names) <= FEW:
        _draw_curves(ax, run.t, error, names, label)
    else:
        _draw_map(ax, run.t, error, label)
    ax.set_xlabel("$t$")
    return f"{title} at most {np.max(error):.2g}"


def _draw_map(ax: "Axes", t: np.ndarray, error: np.ndarray, label: str) -> None:
    """Error `(time, body)` as a map over time and body; of neighbouring cells the largest is shown."""
    columns, rows = _starts(len(error), COLUMNS), _starts(error.shape[1], ROWS)
    most = np.maximum.reduceat(np.maximum.reduceat(error, columns, axis=0), rows, axis=1)
    shown = np.log10(np.maximum(most, FLOOR))
    low = np.floor(np.min(shown))
    high = max(np.ceil(np.max(shown)), low + 1.0)
    edges = np.append(t[columns], t[-1]), np.append(rows, error.shape[1]) - 0.5
    image = ax.pcolormesh(*edges, shown.T, cmap="magma_r", vmin=low, vmax=high, rasterized=True)
    ax.grid(False)
    ax.set_ylabel("body")
    ax.locator_params(axis="y", integer=True)
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
    bar.set_label(label)
    ticks = np.arange(low, high + 0.5, max(1.0, np.ceil((high - low) / 6.0)))
    bar.set_ticks(ticks, labels=[f"$10^{{{tick:.0f}}}$" if tick > np.log10(FLOOR) else "0" for tick in ticks])


def _draw_curves(ax: "Axes", t: np.ndarray, error: np.ndarray, names: list[str], label: str) -> None:
    """Error of each of a few bodies against time."""
    curves(ax, t, np.where(error > 0.0, error, np.nan), names)
    ax.set_yscale("log")
    ax.axhline(np.finfo(float).eps, color=QUIET, linewidth=0.8, linestyle=":")
    ax.set_ylabel(label)


def _starts(length: int, parts: int) -> np.ndarray:
    """Where stretches begin, so many or one for each item if these are fewer."""
    return np.linspace(0, length, min(parts, length), endpoint=False).astype(int)
