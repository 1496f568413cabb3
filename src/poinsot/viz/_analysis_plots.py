"""Pictures of measurements, from plain arrays."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from poinsot.viz._decimate import envelope
from poinsot.viz._style import PALETTE, QUIET, axes, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


@styled
def plot_order(
    h: ArrayLike,
    errors: ArrayLike,
    slope: float,
    *,
    used: ArrayLike | None = None,
    label: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Error against step size, with a line of the fitted slope.

    Args:
        h: step sizes.
        errors: errors at these.
        slope: the fitted order.
        used: which points the fit used; the others (round-off, steps too large) are drawn hollow.
        label: name of the method, for the legend.
        ax: where to draw.
    """
    h, errors = np.asarray(h, dtype=float), np.asarray(errors, dtype=float)
    used = np.ones(len(h), dtype=bool) if used is None else np.asarray(used, dtype=bool)
    ax = axes(ax, (5.8, 4.6))
    fits = [line for line in ax.get_lines() if line.get_linestyle() == "--"]
    colour = PALETTE[len(fits) % len(PALETTE)]
    ax.loglog(h[~used], errors[~used], "o", markersize=6, markerfacecolor="none", color=colour)
    name = f"{label}: " if label else ""
    ax.loglog(h[used], errors[used], "o", markersize=6, color=colour, label=f"{name}slope {slope:.2f}")
    if np.any(used):
        middle = np.exp(np.mean(np.log(errors[used]) - slope * np.log(h[used])))
        ends = np.array([h[used].min(), h[used].max()])
        ax.loglog(ends, middle * ends**slope, "--", linewidth=1.0, color=colour)
    ax.set(xlabel="step $h$", ylabel="error", title="Order of convergence")
    ax.legend(loc="upper left")
    return ax


@styled
def plot_work_precision(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    work: str = "evaluations of the right-hand side",
    ax: "Axes | None" = None,
) -> "Axes":
    """Error against work, a curve for each method: the lower and the farther left, the better.

    Args:
        curves: for each method its work and its errors.
        work: what the work is measured in, for the axis.
        ax: where to draw.
    """
    ax = axes(ax, (6.8, 4.6))
    for i, (name, (cost, errors)) in enumerate(curves.items()):
        marker, colour = MARKERS[i % len(MARKERS)], PALETTE[i % len(PALETTE)]
        ax.loglog(np.asarray(cost), np.asarray(errors), marker=marker, markersize=5, color=colour, label=name)
    ax.set(xlabel=work, ylabel="error", title="Work and precision")
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


@styled
def plot_poincare(
    points: ArrayLike, *, labels: tuple[str, str] = ("$q$", "$p$"), ax: "Axes | None" = None
) -> "Axes":
    """The points of a Poincaré section.

    Args:
        points: of shape `(points, 2)`.
        labels: names of the axes.
        ax: where to draw; further orbits drawn into the same axes get colours of their own.
    """
    points = np.asarray(points, dtype=float)
    ax = axes(ax, (5.6, 5.2))
    size = float(np.clip(120.0 / max(len(points), 1) ** 0.5, 0.8, 4.0))
    colour = PALETTE[len(ax.get_lines()) % len(PALETTE)]
    ax.plot(points[:, 0], points[:, 1], linestyle="", marker=".", markersize=size, color=colour)
    ax.set(xlabel=labels[0], ylabel=labels[1], title="Poincaré section")
    return ax


@styled
def plot_lyapunov(t: ArrayLike, estimates: ArrayLike, *, ax: "Axes | None" = None) -> "Axes":
    """The running estimate of the largest Lyapunov exponent, with its last value.

    Args:
        t: times, positive.
        estimates: the estimate at these times.
        ax: where to draw.
    """
    t, estimates = np.asarray(t, dtype=float), np.asarray(estimates, dtype=float)
    ax = axes(ax, (7.0, 4.2))
    ax.axhline(0.0, color=QUIET, linewidth=0.8, zorder=1)
    ax.semilogx(*envelope(t, estimates), color=PALETTE[0])
    ax.axhline(
        estimates[-1],
        color=PALETTE[1],
        linewidth=1.0,
        linestyle="--",
        label=f"{estimates[-1]:.4g} at the end",
    )
    ax.set(xlabel="$t$", ylabel=r"$\lambda$", title="Largest Lyapunov exponent")
    ax.legend(loc="best")
    return ax


@styled
def plot_roundoff(curves: Mapping[str, tuple[ArrayLike, ArrayLike]], *, ax: "Axes | None" = None) -> "Axes":
    r"""Energy errors of ensembles against steps, with the growth of a random walk and of a drift beside them.

    Args:
        curves: for each way of computing its step numbers and its errors, one row per run, as
            `RoundoffGrowth` has them. Single runs are drawn thin, their root mean square thick.
        ax: where to draw.
    """
    ax = axes(ax, (6.8, 4.6))
    for i, (name, (steps, errors)) in enumerate(curves.items()):
        steps, errors = np.asarray(steps, dtype=float), np.abs(np.asarray(errors, dtype=float))
        rms, colour = np.sqrt(np.mean(errors**2, axis=0)), PALETTE[i % len(PALETTE)]
        ax.loglog(steps, errors.T, color=colour, linewidth=0.5, alpha=0.25)
        ax.loglog(steps, rms, color=colour, linewidth=2.2, label=name)
        for power, style in ((0.5, ":"), (1.0, "--")):
            ax.loglog(steps, rms[0] * (steps / steps[0]) ** power, style, color=QUIET, linewidth=0.9)
    ax.plot([], [], ":", color=QUIET, label=r"$\sqrt{n}$, random walk")
    ax.plot([], [], "--", color=QUIET, label="$n$, drift")
    ax.set(xlabel="steps $n$", ylabel="relative energy error", title="Growth of round-off")
    ax.legend(loc="upper left")
    return ax
