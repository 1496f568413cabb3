"""Pictures: of runs, and of what analysis measures. Matplotlib loads when the first one is drawn."""

from typing import TYPE_CHECKING

from poinsot._lazy import lazy

if TYPE_CHECKING:
    from poinsot.viz._analysis_plots import (
        plot_lyapunov,
        plot_order,
        plot_poincare,
        plot_roundoff,
        plot_work_precision,
    )
    from poinsot.viz._body_plots import BodyPlots
    from poinsot.viz._modes_plots import plot_dispersion, plot_modes, plot_rod_comparison
    from poinsot.viz._trajectory_plots import TrajectoryPlots
    from poinsot.viz._work_plots import plot_formalisms

__all__ = [
    "BodyPlots",
    "TrajectoryPlots",
    "plot_dispersion",
    "plot_formalisms",
    "plot_lyapunov",
    "plot_modes",
    "plot_order",
    "plot_poincare",
    "plot_rod_comparison",
    "plot_roundoff",
    "plot_work_precision",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "plot_lyapunov plot_order plot_poincare plot_roundoff plot_work_precision": "._analysis_plots",
        "BodyPlots": "._body_plots",
        "plot_dispersion plot_modes plot_rod_comparison": "._modes_plots",
        "TrajectoryPlots": "._trajectory_plots",
        "plot_formalisms": "._work_plots",
    },
)
