"""Measurements on problems, integrators and motions: they return data and never draw."""

from poinsot.analysis._body_certificate import BodyCertificate, certify_body
from poinsot.analysis._body_verify import body_matrix
from poinsot.analysis._cosserat import CosseratRod, cosserat_rod
from poinsot.analysis._damped_modes import DampedModes, damped_modes
from poinsot.analysis._dispersion import Dispersion, dispersion
from poinsot.analysis._drift import ConstraintDrift, constraint_drift, drift_exponent
from poinsot.analysis._equilibrium import Equilibrium, equilibrium, stationary_point
from poinsot.analysis._expansion import hessian
from poinsot.analysis._invariants import InvariantDeviations, invariant_deviations
from poinsot.analysis._lyapunov import LyapunovEstimate, lyapunov
from poinsot.analysis._modes import Modes, modes
from poinsot.analysis._order import OrderEstimate, order_estimate, reference_solution
from poinsot.analysis._poincare import PoincareSection, poincare_section
from poinsot.analysis._reversibility import reversibility
from poinsot.analysis._rod_comparison import RodComparison, cosserat_comparison
from poinsot.analysis._roundoff import RoundoffGrowth, roundoff_growth
from poinsot.analysis._symplecticity import SymplecticityCertificate, symplecticity
from poinsot.analysis._tangent import TangentMap, tangent_map
from poinsot.analysis._verdict_claims import ClaimRates, claim_rates
from poinsot.analysis._verdict_study import VerdictRates, verdict_rates
from poinsot.analysis._verify import Check, Verification, verify
from poinsot.analysis._work_points import Refused, WorkPoint, WorkPrecision, work_ratio
from poinsot.analysis._work_precision import InterruptedComparison, work_precision

__all__ = [
    "BodyCertificate",
    "Check",
    "ClaimRates",
    "ConstraintDrift",
    "CosseratRod",
    "DampedModes",
    "Dispersion",
    "Equilibrium",
    "InterruptedComparison",
    "InvariantDeviations",
    "LyapunovEstimate",
    "Modes",
    "OrderEstimate",
    "PoincareSection",
    "Refused",
    "RodComparison",
    "RoundoffGrowth",
    "SymplecticityCertificate",
    "TangentMap",
    "VerdictRates",
    "Verification",
    "WorkPoint",
    "WorkPrecision",
    "body_matrix",
    "certify_body",
    "claim_rates",
    "constraint_drift",
    "cosserat_comparison",
    "cosserat_rod",
    "damped_modes",
    "dispersion",
    "drift_exponent",
    "equilibrium",
    "hessian",
    "invariant_deviations",
    "lyapunov",
    "modes",
    "order_estimate",
    "poincare_section",
    "reference_solution",
    "reversibility",
    "roundoff_growth",
    "stationary_point",
    "symplecticity",
    "tangent_map",
    "verdict_rates",
    "verify",
    "work_precision",
    "work_ratio",
]
