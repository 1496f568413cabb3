"""Running a problem: the pure `solve`, and `simulate` for people."""

from typing import TYPE_CHECKING

from poinsot._lazy import lazy

if TYPE_CHECKING:
    from poinsot.simulation._body_trajectory import BodyTrajectory
    from poinsot.simulation._clock import timed
    from poinsot.simulation._ensemble import ensemble
    from poinsot.simulation._event import Event
    from poinsot.simulation._history import History, Steps
    from poinsot.simulation._report import Report
    from poinsot.simulation._scale import Scale
    from poinsot.simulation._simulate import Interrupted, SimulationError, simulate
    from poinsot.simulation._solve import Solution, solve
    from poinsot.simulation._trajectory import Trajectory
    from poinsot.simulation._verdict import Verdict

__all__ = [
    "BodyTrajectory",
    "Event",
    "History",
    "Interrupted",
    "Report",
    "Scale",
    "SimulationError",
    "Solution",
    "Steps",
    "Trajectory",
    "Verdict",
    "ensemble",
    "simulate",
    "solve",
    "timed",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "BodyTrajectory": "._body_trajectory",
        "timed": "._clock",
        "ensemble": "._ensemble",
        "Event": "._event",
        "History Steps": "._history",
        "Report": "._report",
        "Scale": "._scale",
        "Interrupted SimulationError simulate": "._simulate",
        "Solution solve": "._solve",
        "Trajectory": "._trajectory",
        "Verdict": "._verdict",
    },
)
