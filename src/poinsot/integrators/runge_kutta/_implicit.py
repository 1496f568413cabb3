"""Implicit Runge-Kutta methods: one stepper for every full tableau."""

from functools import cache

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from poinsot.core import AbstractProblem, Packed
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators._tableau import ButcherTableau
from poinsot.integrators._update import add, no_error
from poinsot.integrators.runge_kutta._stages import (
    AbstractStageSolver,
    FixedPoint,
    StageEquations,
    field_noise,
)
from poinsot.integrators.runge_kutta._weights import weighted, weights


class StageCarry(eqx.Module):
    """What an implicit method hands to its next step."""

    derivatives: Array
    """Stage derivatives of the last step, from which the next ones are extrapolated."""
    h: Array
    """Its step size, in each lane; zero before the first step."""
    error: Array | None
    """Round-off not yet added to the state."""
    noise: Array | None
    """Of the right-hand side, as it was at the start of the run; see `field_noise`."""


class ImplicitRungeKutta(AbstractIntegrator):
    r"""An implicit Runge-Kutta method, from any tableau.

    $$ F_i = f\Big(t + c_i h,\; y_0 + h \sum_j a_{ij} F_j\Big), \qquad y_1 = y_0 + h \sum_i b_i F_i $$

    The first guess of the stage derivatives extrapolates the polynomial through those of the last step,
    when that step had the same size; else it is the last of them.

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
        return first_carry(problem, self.tableau.stages, t, y, self.compensated)

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
        )
        guess = predict(h, carry, extrapolation(tableau))
        F, info = self.solver.solve(equations, guess)
        b = weights(tableau.b_hi[None], tableau.b_lo[None], self.compensated)
        y1, error = add(y, h * weighted(b, F)[0], carry.error)
        return y1, next_carry(carry, F, h, error), info


def first_carry(problem: AbstractProblem, stages: int, t, y: Packed, compensated: bool) -> StageCarry:
    """What goes into the first step: derivatives at its start, and no last step to extrapolate from."""
    rate, noise = field_noise(problem, t, y)
    return StageCarry(
        derivatives=jnp.broadcast_to(rate[None], (stages, *y.shape)),
        h=jnp.zeros(problem.lanes(y)),
        error=no_error(y, compensated),
        noise=noise,
    )


def next_carry(carry: StageCarry, F: Array, h, error: Array | None) -> StageCarry:
    """What goes into the next step."""
    return StageCarry(F, h + jnp.zeros_like(carry.h), error, carry.noise)


def predict(h, carry: StageCarry, matrix: np.ndarray) -> Array:
    """First guess of the stage derivatives."""
    return jnp.where(h == carry.h, weighted((matrix,), carry.derivatives), carry.derivatives[-1:])


@cache
def extrapolation(tableau: ButcherTableau) -> np.ndarray:
    """Matrix that carries values at the nodes `c_j` of one step to those of the next, at `1 + c_i`.

    By the polynomial through them; with coinciding nodes the last stage is repeated instead.
    """
    c = tableau.c_hi
    s = len(c)
    if len(set(c)) < s:
        return np.tile(np.eye(s)[-1], (s, 1))
    others = [[m for m in range(s) if m != j] for j in range(s)]
    rows = [[np.prod((1.0 + ci - c[m]) / (c[j] - c[m])) for j, m in enumerate(others)] for ci in c]
    return np.array(rows)


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
