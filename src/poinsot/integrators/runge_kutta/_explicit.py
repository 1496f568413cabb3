"""Explicit Runge-Kutta methods: one stepper for every lower triangular tableau."""

from typing import ClassVar

import equinox as eqx
from jaxtyping import Array

from poinsot.core import AbstractProblem, Packed, StepInfo
from poinsot.integrators._base import AbstractIntegrator
from poinsot.integrators._tableau import ButcherTableau
from poinsot.integrators._update import add, no_error
from poinsot.integrators.coefficients import explicit as coefficients
from poinsot.integrators.runge_kutta._implicit import polynomial_invariants


class AbstractExplicitRungeKutta(AbstractIntegrator):
    r"""Steps any explicit tableau.

    $$ F_i = f\Big(t + c_i h,\; y_0 + h \sum_{j<i} a_{ij} F_j\Big), \qquad y_1 = y_0 + h \sum_i b_i F_i $$

    With `compensated` the round-off lost in adding the increment is carried into the next step.
    """

    needs: ClassVar[str] = "ode"
    tableau: eqx.AbstractVar[ButcherTableau]
    compensated: eqx.AbstractVar[bool]

    @property
    def order(self) -> int:
        """Order of the tableau."""
        return self.tableau.order

    @property
    def symmetric(self) -> bool:
        """No explicit method is its own adjoint."""
        return self.tableau.symmetric

    @property
    def symplectic(self) -> bool:
        """No explicit method satisfies the symplecticity condition."""
        return self.tableau.symplectic

    @property
    def conserves(self) -> frozenset[str]:
        """Linear invariants."""
        return polynomial_invariants(self.tableau)

    @property
    def reference(self) -> str:
        """Source of the tableau."""
        return self.tableau.reference

    def init(self, problem: AbstractProblem, t, h, y: Packed) -> Array | None:
        """No round-off lost so far."""
        return no_error(y, self.compensated)

    def step(self, problem: AbstractProblem, t, h, y: Packed, carry: Array | None):
        """One step, see the class."""
        tableau, F = self.tableau, []
        for row, node in zip(tableau.A_hi, tableau.c_hi, strict=True):
            stage = y + h * _combination(row, F) if F else y
            F.append(problem.vector_field(t + float(node) * h, stage))
        y1, error = add(y, h * _combination(tableau.b_hi, F), carry)
        return y1, error, StepInfo.explicit()


def _combination(weights, F: list[Packed]) -> Packed:
    """Weighted sum of stage derivatives, leaving out zero weights."""
    terms = [float(w) * f for w, f in zip(weights, F, strict=False) if w != 0.0]
    return sum(terms[1:], terms[0])


class ExplicitRungeKutta(AbstractExplicitRungeKutta):
    """An explicit Runge-Kutta method from your own tableau.

    Args:
        tableau: a `ButcherTableau`, lower triangular.
        compensated: carry the round-off of each addition into the next step.
    """

    tableau: ButcherTableau = eqx.field(static=True)
    compensated: bool = eqx.field(default=False, static=True)

    def __check_init__(self):
        if not self.tableau.explicit:
            raise ValueError(f"tableau {self.tableau.name!r} is implicit; use ImplicitRungeKutta")


class ExplicitEuler(AbstractExplicitRungeKutta):
    r"""Euler's method, $y_1 = y_0 + h f(t_0, y_0)$; order 1. Energy grows: here for comparison."""

    compensated: bool = eqx.field(default=False, static=True)

    @property
    def tableau(self) -> ButcherTableau:
        """One stage."""
        return coefficients.explicit_euler()


class Heun(AbstractExplicitRungeKutta):
    """Heun's method of order 2: the trapezoidal rule with an Euler predictor."""

    compensated: bool = eqx.field(default=False, static=True)

    @property
    def tableau(self) -> ButcherTableau:
        """Two stages."""
        return coefficients.heun()


class RK4(AbstractExplicitRungeKutta):
    """The classical Runge-Kutta method of order 4."""

    compensated: bool = eqx.field(default=False, static=True)

    @property
    def tableau(self) -> ButcherTableau:
        """Four stages."""
        return coefficients.rk4()


class DormandPrince(AbstractExplicitRungeKutta):
    """The order 5 formula of Dormand and Prince with a fixed step."""

    compensated: bool = eqx.field(default=False, static=True)

    @property
    def tableau(self) -> ButcherTableau:
        """Six stages (the seventh only serves the error estimate)."""
        return coefficients.dormand_prince5()
