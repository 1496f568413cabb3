"""Measurements on problems, integrators and motions: they return data and never draw."""

from poinsot.analysis._body_certificate import BodyCertificate, certify_body
from poinsot.analysis._body_verify import body_matrix
from poinsot.analysis._drift import ConstraintDrift, constraint_drift, drift_exponent
from poinsot.analysis._invariants import InvariantDeviations, invariant_deviations
from poinsot.analysis._lyapunov import LyapunovEstimate, lyapunov
from poinsot.analysis._order import OrderEstimate, order_estimate, reference_solution
from poinsot.analysis._poincare import PoincareSection, poincare_section
from poinsot.analysis._reversibility import reversibility
from poinsot.analysis._roundoff import RoundoffGrowth, roundoff_growth
from poinsot.analysis._symplecticity import SymplecticityCertificate, symplecticity
from poinsot.analysis._tangent import TangentMap, tangent_map
from poinsot.analysis._verify import Check, Verification, verify
from poinsot.analysis._work_points import Refused, WorkPoint, WorkPrecision, work_ratio
from poinsot.analysis._work_precision import InterruptedComparison, work_precision

__all__ = [
    "BodyCertificate",
    "Check",
    "ConstraintDrift",
    "InterruptedComparison",
    "InvariantDeviations",
    "LyapunovEstimate",
    "OrderEstimate",
    "PoincareSection",
    "Refused",
    "RoundoffGrowth",
    "SymplecticityCertificate",
    "TangentMap",
    "Verification",
    "WorkPoint",
    "WorkPrecision",
    "body_matrix",
    "certify_body",
    "constraint_drift",
    "drift_exponent",
    "invariant_deviations",
    "lyapunov",
    "order_estimate",
    "poincare_section",
    "reference_solution",
    "reversibility",
    "roundoff_growth",
    "symplecticity",
    "tangent_map",
    "verify",
    "work_precision",
    "work_ratio",
]
