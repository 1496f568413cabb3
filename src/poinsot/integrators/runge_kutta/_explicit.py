"""Explicit Runge-Kutta methods: one stepper for every lower triangular tableau."""

from functools import lru_cache

import equinox as eqx
import numpy as np
from jaxtyping import Array

from poinsot.core import AbstractProblem, InputError, Packed, StepInfo, field
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators._tableau import ButcherTableau
from poinsot.integrators._update import add, no_error
from poinsot.integrators.runge_kutta._implicit import tableau_traits

RAYS = 181
"""Directions in which the end of the region of stability is looked for."""


class ExplicitRungeKutta(AbstractIntegrator):
    r"""An explicit Runge-Kutta method, from any lower triangular tableau.

    $$ F_i = f\Big(t + c_i h,\; y_0 + h \sum_{j<i} a_{ij} F_j\Big), \qquad y_1 = y_0 + h \sum_i b_i F_i $$

    Args:
        tableau: the coefficients.
        compensated: carry the round-off lost in adding the increment into the next step.
    """

    tableau: ButcherTableau = eqx.field(static=True)
    compensated: bool = eqx.field(default=False, static=True)

    def __check_init__(self):
        if not self.tableau.explicit:
            raise InputError(f"tableau {self.tableau.name!r} is implicit; use ImplicitRungeKutta")

    def __repr__(self) -> str:
        return f"ExplicitRungeKutta({self.tableau.name}{', compensated' if self.compensated else ''})"

    @property
    def traits(self) -> Traits:
        """Those of the tableau."""
        return tableau_traits(self.tableau)

    @property
    def reach(self) -> float:
        """By the stability function, a polynomial."""
        return _reach(self.tableau)

    def init(self, problem: AbstractProblem, t, h, y: Packed) -> Array | None:
        """No round-off lost so far."""
        return no_error(y, self.compensated)

    def step(self, problem: AbstractProblem, t, h, y: Packed, carry: Array | None):
        """One step, see the class."""
        tableau, F = self.tableau, []
        for row, node in zip(tableau.A_hi, tableau.c_hi, strict=True):
            stage = y + h * _combination(row, F) if F else y
            F.append(field(problem, t + float(node) * h, stage))
        y1, error = add(y, h * _combination(tableau.b_hi, F), carry)
        return y1, error, StepInfo.explicit(problem.lanes(y))


def _combination(weights, F: list[Packed]) -> Packed:
    """Weighted sum of stage derivatives, leaving out zero weights."""
    terms = [float(w) * f for w, f in zip(weights, F, strict=False) if w != 0.0]
    return sum(terms[1:], terms[0])


@lru_cache
def _reach(tableau: ButcherTableau) -> float:
    r"""Largest $|z|$ with $|R(z)| \le 1$ left of the imaginary axis, $R(z) = 1 + \sum_k z^{k+1}\, b^T A^k e$.

    On a ray the equation $|R|^2 = 1$ is a polynomial in $|z|$, whose largest root is the end of the region.
    """
    A, b = np.asarray(tableau.A_hi), np.asarray(tableau.b_hi)
    powers, coefficients = np.ones(len(b)), [1.0]
    for _ in b:
        coefficients.append(float(b @ powers))
        powers = A @ powers
    largest = 0.0
    for angle in np.linspace(0.5 * np.pi, np.pi, RAYS):
        along = np.array(coefficients) * np.exp(1j * angle * np.arange(len(coefficients)))
        square = np.real(np.convolve(along, np.conj(along)))
        square[0] -= 1.0
        roots = np.asarray(np.roots(np.trim_zeros(square[::-1], "f")), dtype=complex)
        real = np.real(roots)[np.abs(np.imag(roots)) <= 1e-6 * np.maximum(1e-6, np.abs(roots))]
        largest = max(largest, float(np.max(real, initial=0.0)))
    return largest
