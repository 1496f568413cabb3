"""Implicit equations: iterations that converge to round-off or say that they did not."""

from poinsot.solvers._block_banded import BlockMatrix, Elimination, linearised
from poinsot.solvers._corner import Corner
from poinsot.solvers._fixed_point import fixed_point, measured_fixed_point
from poinsot.solvers._graph_elimination import EliminationOrder, GraphFactors
from poinsot.solvers._iteration import EPS, Again, SolveInfo, Stopping
from poinsot.solvers._linear import solve_in_loop, solve_small
from poinsot.solvers._long_elimination import LongElimination, LongFactor
from poinsot.solvers._newton import factored, newton, simplified_newton
from poinsot.solvers._safeguarded import safeguarded_fixed_point
from poinsot.solvers._sparse_rank import Dependence, Equations

__all__ = [
    "Again",
    "BlockMatrix",
    "EPS",
    "Elimination",
    "Corner",
    "Dependence",
    "EliminationOrder",
    "Equations",
    "GraphFactors",
    "LongElimination",
    "LongFactor",
    "SolveInfo",
    "Stopping",
    "factored",
    "fixed_point",
    "linearised",
    "measured_fixed_point",
    "newton",
    "safeguarded_fixed_point",
    "simplified_newton",
    "solve_in_loop",
    "solve_small",
]
