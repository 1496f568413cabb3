"""Runs of the examples by adaptive solvers, and the numbers that the figures about them share."""

from typing import TYPE_CHECKING

from poinsot.integrators import AbstractAdaptive
from poinsot.model import System
from poinsot.papers.lang2010._formulations import COMPARED
from poinsot.simulation import BodyTrajectory, simulate
from poinsot.viz._style import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUICK = ("null space, quaternions", "absolute, quaternions")
"""Formulations of a quick look."""
COLOURS = dict(zip(COMPARED, PALETTE, strict=False))


def names(quick: bool) -> tuple[str, ...]:
    """Formulations that a figure shows."""
    return QUICK if quick else tuple(COMPARED)


def run(example: System, name: str, solver: AbstractAdaptive, tolerance: float, t1: float) -> BodyTrajectory:
    """An example in one formulation, with the relative and the absolute tolerance equal, as in the paper.

    A run that breaks off is returned as far as it came.
    """
    coordinates, form = COMPARED[name]
    made = simulate(
        example,
        example.start,
        t1=t1,
        rtol=tolerance,
        atol=tolerance,
        coordinates=coordinates,
        form=form,
        integrator=solver,
        progress=False,
        throw=False,
    )
    assert isinstance(made, BodyTrajectory)
    return made


def legend(ax: "Axes") -> None:
    """Beside the panel, so that it hides no curve."""
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
