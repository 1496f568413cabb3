"""Measurements on problems, integrators and motions: they return data and never draw."""

from poinsot.analysis._invariants import InvariantDeviations, invariant_deviations
from poinsot.analysis._order import OrderEstimate, order_estimate, reference_solution
from poinsot.analysis._poincare import PoincareSection, poincare_section
from poinsot.analysis._reversibility import reversibility
from poinsot.analysis._symplecticity import SymplecticityCertificate, symplecticity
from poinsot.analysis._verify import Check, Verification, verify

__all__ = [
    "Check",
    "InvariantDeviations",
    "OrderEstimate",
    "PoincareSection",
    "SymplecticityCertificate",
    "Verification",
    "invariant_deviations",
    "order_estimate",
    "poincare_section",
    "reference_solution",
    "reversibility",
    "symplecticity",
    "verify",
]
