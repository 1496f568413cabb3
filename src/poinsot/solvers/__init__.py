"""Implicit equations: iterations that converge to round-off or say that they did not."""

from poinsot.solvers._fixed_point import fixed_point
from poinsot.solvers._iteration import EPS, SolveInfo, Stopping
from poinsot.solvers._linear import solve_small
from poinsot.solvers._newton import newton, simplified_newton

__all__ = ["EPS", "SolveInfo", "Stopping", "fixed_point", "newton", "simplified_newton", "solve_small"]
