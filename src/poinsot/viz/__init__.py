"""Pictures: of runs, and of what analysis measures. Matplotlib loads when the first one is drawn."""

from poinsot.viz._analysis_plots import (
    plot_lyapunov,
    plot_order,
    plot_poincare,
    plot_roundoff,
    plot_work_precision,
)
from poinsot.viz._trajectory_plots import TrajectoryPlots

__all__ = [
    "TrajectoryPlots",
    "plot_lyapunov",
    "plot_order",
    "plot_poincare",
    "plot_roundoff",
    "plot_work_precision",
]
