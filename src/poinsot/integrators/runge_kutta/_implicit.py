"""Implicit Runge-Kutta methods: one stepper for every full tableau."""

import equinox as eqx

from poinsot.core import AbstractProblem, Packed
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators._tableau import ButcherTableau
from poinsot.integrators._update import add
from poinsot.integrators.runge_kutta._prediction import (
    StageCarry,
    first_carry,
    next_carry,
    noticed,
    plainer,
    predict,
)
from poinsot.integrators.runge_kutta._stages import AbstractStageSolver, FixedPoint, StageEquations
from poinsot.integrators.runge_kutta._weights import weighted, weights


class ImplicitRungeKutta(AbstractIntegrator):
    r"""An implicit Runge-Kutta method, from any tableau.

    $$ F_i = f\Big(t + c_i h,\; y_0 + h \sum_j a_{ij} F_j\Big), \qquad y_1 = y_0 + h \sum_i b_i F_i $$

    The first guess of the stage derivatives extrapolates the polynomial through those of the last two steps,
    when these had the same size; else it is the last of them.

    With `compensated` three sources of systematic round-off go (Hairer, McLachlan and Razakarivony 2008):
    coefficients act in double-double precision, the update is summed with compensation, and the stages are
    to be iterated until nothing changes (`FixedPoint(tolerance=0)`).

    Args:
        tableau: the coefficients.
        solver: how to solve the stage equations, `FixedPoint()` or `SimplifiedNewton()`.
        compensated: double-double coefficients and compensated summation of the update.
    """

    tableau: ButcherTableau = eqx.field(static=True)
    solver: AbstractStageSolver = FixedPoint()
    compensated: bool = eqx.field(default=False, static=True)

    def __repr__(self) -> str:
        compensated = ", compensated" if self.compensated else ""
        return f"ImplicitRungeKutta({self.tableau.name}, {self.solver}{compensated})"

    @property
    def traits(self) -> Traits:
        """Those of the tableau."""
        return tableau_traits(self.tableau)

    @property
    def remedy(self) -> str | None:
        """Newton's method, unless it is in use."""
        if not isinstance(self.solver, FixedPoint):
            return None
        return "for a stiff problem use solver=pt.integrators.SimplifiedNewton()"

    def init(self, problem: AbstractProblem, t, h, y: Packed) -> StageCarry:
        """No last step to extrapolate from."""
        return first_carry(problem, self.tableau, t, h, y, self.compensated)

    def step(self, problem: AbstractProblem, t, h, y: Packed, carry: StageCarry):
        """One step, see the class."""
        tableau = self.tableau
        equations = StageEquations(
            problem=problem,
            times=t + tableau.c_hi * h,
            h=h,
            y=y,
            weights=weights(tableau.A_hi, tableau.A_lo, self.compensated),
            combine=weighted,
            matrix=tableau.A_hi,
            noise=carry.noise,
            former=carry.derivatives,
        )
        guess, again = predict(h, carry, tableau), plainer(h, carry, tableau)
        F, info = self.solver.solve(equations, guess, again)
        b = weights(tableau.b_hi[None], tableau.b_lo[None], self.compensated)
        y1, error = add(y, h * weighted(b, F)[0], carry.error)
        return y1, noticed(problem, next_carry(carry, tableau, F, h, error)), info


def tableau_traits(tableau: ButcherTableau) -> Traits:
    """Traits of a Runge-Kutta method: all follow from its coefficients."""
    return Traits(
        name=tableau.name,
        order=tableau.order,
        symmetric=tableau.symmetric,
        symplectic=tableau.symplectic,
        conserves=frozenset({"linear", "quadratic", "bilinear"} if tableau.symplectic else {"linear"}),
        needs="ode",
        reference=tableau.reference,
    )
