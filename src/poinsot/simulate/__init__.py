"""Running a problem: the pure `solve`, and `simulate` for people."""

from poinsot.simulate._ensemble import ensemble
from poinsot.simulate._event import Event
from poinsot.simulate._report import Report
from poinsot.simulate._simulate import Interrupted, SimulationError, simulate
from poinsot.simulate._solve import Solution, solve
from poinsot.simulate._trajectory import Trajectory
from poinsot.simulate._verdict import Verdict

__all__ = [
    "Event",
    "Interrupted",
    "Report",
    "SimulationError",
    "Solution",
    "Trajectory",
    "Verdict",
    "ensemble",
    "simulate",
    "solve",
]
