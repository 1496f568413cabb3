"""Declared against measured: every trait of an integrator, on a standard nonlinear problem."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache

import numpy as np

from poinsot.analysis import _standard
from poinsot.analysis._body_verify import claims_with_joints, measured_claims
from poinsot.analysis._order import LEGS, OrderEstimate, order_estimate, reference_solution
from poinsot.analysis._reversibility import reversibility
from poinsot.analysis._symplecticity import symplecticity
from poinsot.analysis._travel import Travel, travel
from poinsot.core import Hamiltonian, Result, State, checked
from poinsot.integrators import AbstractIntegrator, Composition, as_fixed
from poinsot.integrators._tableau import simplifying_conditions
from poinsot.solvers import EPS

T1 = 3.0
"""End of the runs that measure the order."""
ORDER_TOLERANCE = 0.15
ROUND_OFF = 1e-13
"""Largest defect of one step, relative to its size, that counts as round-off."""
MOST_MEASURABLE = 8
"""Highest order whose slope shows in double precision."""
STEPS = 10_000
"""Steps over which invariants are followed."""


@dataclass(frozen=True)
class Check:
    """One property: what is declared, what was measured, and whether the two agree."""

    property: str
    declared: str
    measured: float
    tolerance: float
    passed: bool
    note: str = ""


@dataclass(frozen=True)
class Verification:
    """The checks of one integrator."""

    integrator: str
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every declared property was measured, and none is understated."""
        return all(check.passed for check in self.checks)

    def to_dict(self) -> dict:
        """Plain data, ready for JSON: what could not be measured is None."""
        checks = [asdict(check) for check in self.checks]
        for check in checks:
            check["measured"] = check["measured"] if math.isfinite(check["measured"]) else None
        return {"integrator": self.integrator, "passed": self.passed, "checks": checks}

    def __str__(self) -> str:
        rows = [("property", "declared", "measured", "tolerance", "", "")]
        for check in self.checks:
            verdict = "ok" if check.passed else "FAILED"
            measured = f"{check.measured:.1e}" if 0.0 < check.tolerance < 1e-3 else f"{check.measured:.4g}"
            rows.append(
                (check.property, check.declared, measured, f"{check.tolerance:.2g}", verdict, check.note)
            )
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
        return "\n".join([self.integrator, *lines])


@checked
def verify(integrator: AbstractIntegrator | str) -> Verification:
    r"""Measure every trait that an integrator declares.

    - *order*: slope of the global error within 0.15 of the declared order, separately for positions and
      momenta (`order_estimate`). Above order 8 doubles do not resolve a slope: there the simplifying
      conditions of the tableau, in 50 digits, prove the order, and the runs must still converge faster than
      $h^8$ down to round-off.
    - *symplectic*: certificate at most 1e-13 at two step sizes (`symplecticity`).
    - *symmetric*: a step undone by the step back, and by the step with momenta reversed, to 1e-13
      (`reversibility`).
    - *invariants*: the energy (up to order 8) and linear, bilinear and quadratic invariants kept over 10,000
      steps to one unit of round-off per step, of which a composition takes one for each factor.

    Integrators of bodies are measured on a body with a fixed point, in the coordinates and form they take by
    default (`certify_body`): order and symplecticity of rotation and angular momentum, energy, vertical
    angular momentum, and the constraints. Those that hold joints are measured on a tree and on a loop as
    well: there symplectic means on the tangent space of the closed joints.

    A property that is declared absent and yet holds to round-off is understated, which fails too. Implicit
    methods are measured on a Hamiltonian that is not separable.

    Args:
        integrator: an integrator, or the short name of a registered one.
    """
    name = integrator if isinstance(integrator, str) else repr(integrator)
    method = as_fixed("verify", integrator)
    joined = tuple(_yes_or_no(*claim) for claim in claims_with_joints(method))
    if method.needs in ("constrained", "group"):
        return Verification(name, tuple(_yes_or_no(*claim) for claim in measured_claims(method)) + joined)
    problem = _standard.separable() if method.needs == "separable" else _standard.nonseparable()
    run, h = _long_run(problem, method)
    checks = (
        *_orders(problem, method),
        _symplectic(problem, method, h),
        _symmetric(problem, method, h),
        *_invariants(problem, method, run, h),
        *joined,
    )
    return Verification(name, checks)


@cache
def _exact(separable: bool) -> State:
    problem = _standard.separable() if separable else _standard.nonseparable()
    return reference_solution(problem, _standard.START, [T1 * (leg + 1) / LEGS for leg in range(LEGS)])


def _orders(problem: Hamiltonian, method: AbstractIntegrator) -> Iterator[Check]:
    """Slopes of positions and momenta, or a proof by the coefficients where slopes do not show."""
    reference = _exact(problem.separable)
    estimate = order_estimate(problem, method, _standard.START, T1, reference=reference)
    if method.order <= MOST_MEASURABLE:
        for label, slope in estimate.slope.items():
            points = int(np.sum(estimate.used[label]))
            passed = abs(slope - method.order) <= ORDER_TOLERANCE
            note = f"slope over {points} points" if points else "fewer than three points above round-off"
            yield Check(f"order in {label}", str(method.order), slope, ORDER_TOLERANCE, passed, note)
        return
    proved, note = _proved_order(method)
    yield Check("order", str(method.order), proved, 0.0, proved == method.order, note)
    yield _convergence(estimate)


def _proved_order(method: AbstractIntegrator) -> tuple[int, str]:
    """Order that the coefficients guarantee by Butcher's theorem, and how."""
    tableau = getattr(method, "tableau", None)
    if tableau is not None:
        conditions = simplifying_conditions(tableau)
        return conditions.order, f"{conditions} in 50 digits; doubles resolve no slope"
    pair = getattr(method, "pair", None)
    if pair is not None:
        conditions, order = pair.conditions()
        return order, f"{conditions} of both tableaux in 50 digits; doubles resolve no slope"
    return 0, f"an order above {MOST_MEASURABLE} can only be proved of a tableau"


def _convergence(estimate: OrderEstimate) -> Check:
    """Slope between the two coarsest runs that succeeded, unless the finer is already at the floor."""
    slopes, arrived = [], True
    for label, error in estimate.error.items():
        k = int(np.argmax(np.isfinite(error)))
        slopes.append(np.log(error[k] / error[k + 1]) / np.log(estimate.h[k] / estimate.h[k + 1]))
        arrived &= bool(error[k + 1] <= estimate.floor[label][k + 1])
    slope, least = float(min(slopes)), MOST_MEASURABLE
    note = "round-off reached in one halving" if arrived else "slope of the two coarsest runs"
    return Check("convergence", f"> {least}", slope, 0.0, slope > least or arrived, note)


def _long_run(problem: Hamiltonian, method: AbstractIntegrator) -> tuple[Travel, float]:
    """Many steps, and their size: as large as the method bears, so that its own defects show.

    Where the implicit equations do not converge, the step is halved. A method that gains energy until it
    overflows is measured before it does.
    """
    h, steps, y = min(0.05 * method.order, 0.4), STEPS, problem.pack(_standard.START)
    run = travel(problem, method, y, h, steps)
    while not run.ok and steps > 1:
        if int(run.result) == Result.stage_equations_not_converged and h > 0.01:
            h /= 2.0
        else:
            steps //= 2
        run = travel(problem, method, y, h, steps)
    return run, h


def _symplectic(problem: Hamiltonian, method: AbstractIntegrator, h: float) -> Check:
    """The certificate at two step sizes."""
    certificates = [symplecticity(problem, method, _standard.START, size) for size in (h, h / 2.0)]
    converged = all(certificate.result is Result.successful for certificate in certificates)
    defect = max(certificate.defect for certificate in certificates) if converged else np.inf
    return _yes_or_no("symplectic", method.symplectic, defect, ROUND_OFF, f"h = {h:g} and {h / 2.0:g}")


def _symmetric(problem: Hamiltonian, method: AbstractIntegrator, h: float) -> Check:
    """A step back, and a step with momenta reversed: the standard Hamiltonians are even in them."""
    there = travel(problem, method, problem.pack(_standard.START), h, 1)
    q, p = problem.split(there.y)
    back = travel(problem, method, problem.pack(State(q=q, p=-p)), h, 1)
    q, p = problem.split(back.y)
    start = _standard.START
    returned = max(float(np.max(np.abs(q - start.q))), float(np.max(np.abs(p + start.p))))
    defect = max(returned, reversibility(problem, method, start, h)) if there.ok and back.ok else np.inf
    return _yes_or_no("symmetric", method.symmetric, defect, ROUND_OFF, f"h = {h:g}")


def _invariants(problem: Hamiltonian, method: AbstractIntegrator, run: Travel, h: float) -> Iterator[Check]:
    """Largest deviations over many steps: of what is kept at half the step, of the rest at the whole step.

    At the largest step that converges, what the iteration leaves over adds up; half of it converges well.
    """
    steps = int(run.steps)
    factors = len(method.scheme.weights) if isinstance(method, Composition) else 1
    tolerance = EPS * steps * factors
    gentle = travel(problem, method, problem.pack(_standard.START), h / 2.0, steps)
    # A method of still higher order keeps the energy to round-off by being accurate.
    energy = ("energy",) if method.order <= MOST_MEASURABLE else ()
    for kind in (*energy, *_standard.INVARIANTS):
        declared = kind in method.conserves
        chosen, size = (gentle, h / 2.0) if declared else (run, h)
        deviation = float(chosen.deviation[kind]) if chosen.ok else np.inf
        note = f"{steps} steps of {size:g}"
        name = kind if kind == "energy" else f"{kind} invariants"
        yield _yes_or_no(name, declared, deviation, tolerance, note)


def _yes_or_no(name: str, declared: bool, measured: float, tolerance: float, note: str) -> Check:
    """A property that holds to `tolerance` or not; a claim must be neither false nor understated."""
    holds = bool(measured <= tolerance)
    if holds and not declared:
        note = f"understated: it holds. {note}"
    return Check(name, "yes" if declared else "no", float(measured), tolerance, holds == declared, note)
