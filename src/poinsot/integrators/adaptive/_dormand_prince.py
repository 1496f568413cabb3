"""Dormand-Prince pairs of order 5 and 8: the steps are diffrax's, the loop around them is ours."""

import functools
import math
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from poinsot.core import AbstractProblem, Packed, Projection, optional
from poinsot.core.types import IntScalar, Scalar
from poinsot.integrators.adaptive._base import AbstractAdaptive, AdaptiveTraits, Engine, Task
from poinsot.integrators.adaptive._jitted import JittedEngine
from poinsot.integrators.adaptive._method import AbstractMethod, Attempt, Cost, Demands
from poinsot.integrators.adaptive._options import as_projection, cannot_project, check_step_limits

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
LEAST = math.log(1e-4)
"""Logarithm of the smallest ratio of errors that a step leaves to the next; that of no step before."""


class EmbeddedPair(AbstractMethod):
    r"""An explicit Runge-Kutta pair of diffrax under PI control (Hairer & Wanner IV.2).

    With the error $e_n$ of this step and $e_{n-1}$ of the last accepted one, both in units of the tolerance,

    $$ \frac{h_{n+1}}{h_n} = \Bigl(\frac{\theta}{e_n}\Bigr)^\alpha \Bigl(\frac{e_{n-1}}{\theta}\Bigr)^\beta,
       \qquad \beta = \frac{0.2}{p}, \quad \alpha = \frac1p - \tfrac34\beta, \quad \theta = 0.9^p, $$

    between 0.2 and 10, and at most 1 after a rejection. At $p = 5$ the exponents are those of DOPRI5. The
    errors settle at $\theta$, as they do under the plain rule $h_{n+1} = 0.9\, h_n e_n^{-1/p}$.
    """

    solver: Any
    term: Any
    """An `ODETerm` of diffrax whose arguments are the problem."""
    order: int = eqx.field(static=True)
    stages: int = eqx.field(static=True)
    """Right-hand sides of a step that has the first one from the step before."""
    moved: bool = eqx.field(static=True)
    """Whether the state is moved between steps, so that its right-hand side is evaluated anew."""

    def init(self, problem: AbstractProblem, t, y: Packed, demands: Demands) -> tuple[Any, Scalar]:
        """No right-hand side known, no error seen."""
        state = self.solver.init(self.term, t, t, y, problem)
        return (state, jnp.float64(LEAST), jnp.array(False)), jnp.float64(self.order)

    def attempt(self, problem: AbstractProblem, t, h, y: Packed, carry: Any, demands: Demands) -> Attempt:
        """One step of the pair."""
        state, last_log, refused = carry
        y1, difference, _, state1, _ = self.solver.step(self.term, t, t + h, y, problem, state, self.moved)
        error = demands.norm(difference, y, y1)
        accepted = error <= 1.0
        beta = 0.2 / self.order
        # In logarithms, because one of them and one exponential cost less than two powers.
        log = jnp.log(jnp.maximum(error, 1e-10)) - self.order * math.log(SAFETY)
        factor = jnp.exp(beta * last_log - (1.0 / self.order - 0.75 * beta) * log)
        factor = jnp.clip(factor, SHRINK, jnp.where(refused | ~accepted, 1.0, GROW))
        first, f = state
        state = jnp.where(accepted, state1[0], first), jnp.where(accepted, state1[1], f)
        carry = state, jnp.where(accepted, jnp.maximum(log, LEAST), last_log), ~accepted
        cost = Cost.of(rhs=self.stages + (first | self.moved).astype(jnp.int64))
        return Attempt(y1, accepted, factor * h, carry, jnp.int64(self.order), cost)

    def part(self, problem: AbstractProblem, t, h, y: Packed, order: IntScalar) -> Packed:
        """A shorter step of the pair."""
        state = self.solver.init(self.term, t, t + h, y, problem)
        return self.solver.step(self.term, t, t + h, y, problem, state, False)[0]


class DormandPrince5(AbstractAdaptive):
    r"""Dormand and Prince's explicit Runge-Kutta pair of orders 5 and 4, by diffrax, in one compiled loop.

    *Properties*: order 5; six evaluations per attempt, one more with projection. Steps under PI control, see
    `EmbeddedPair`. Dense output by part steps, as accurate as the run itself.

    Args:
        first_step: size of the first attempt; by default from the right-hand side and its slope.
        max_step: largest step, or None.
        projection: put positions, velocities or both back onto the constraints after each accepted step:
            "position", "velocity", "both", or True for both.

    Reference:
        Dormand, Prince: A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6 (1980) 19-26.
    """

    first_step: float | None = eqx.field(default=None, static=True)
    max_step: float | None = eqx.field(default=None, static=True)
    projection: Projection = eqx.field(default=False, static=True, converter=as_projection)

    def __check_init__(self):
        check_step_limits(self.first_step, self.max_step)

    @property
    def traits(self) -> AdaptiveTraits:
        """Explicit and of one step."""
        return _traits(
            "Dormand-Prince 5(4)",
            5,
            "Dormand, Prince: A family of embedded Runge-Kutta formulae, J. Comp. Appl. Math. 6 (1980) 19-26",
        )

    def refusal(self, problem: AbstractProblem) -> str | None:
        """Takes any ordinary differential equation; projects where there are constraints."""
        return AbstractAdaptive.refusal(self, problem) or cannot_project(problem, self.projection)

    def start(self, task: Task) -> Engine:
        """Begin a run."""
        return _start("Dopri5", self, task)


class DormandPrince8(AbstractAdaptive):
    r"""Prince and Dormand's explicit Runge-Kutta pair of orders 8 and 7, by diffrax, in one compiled loop.

    Not the pair of DOP853, which is `DormandPrince853`: it has thirteen stages and one error estimate, of
    order 7.

    *Properties*: order 8; thirteen evaluations per attempt, one more with projection. Steps under PI control,
    see `EmbeddedPair`. Dense output by part steps, as accurate as the run itself.

    Args:
        first_step: size of the first attempt; by default from the right-hand side and its slope.
        max_step: largest step, or None.
        projection: put positions, velocities or both back onto the constraints after each accepted step:
            "position", "velocity", "both", or True for both.

    Reference:
        Prince, Dormand: High order embedded Runge-Kutta formulae, J. Comput. Appl. Math. 7 (1981) 67-75.
    """

    first_step: float | None = eqx.field(default=None, static=True)
    max_step: float | None = eqx.field(default=None, static=True)
    projection: Projection = eqx.field(default=False, static=True, converter=as_projection)

    def __check_init__(self):
        check_step_limits(self.first_step, self.max_step)

    @property
    def traits(self) -> AdaptiveTraits:
        """Explicit and of one step."""
        return _traits(
            "Dormand-Prince 8(7)",
            8,
            "Prince, Dormand: High order embedded Runge-Kutta formulae, J. Comp. Appl. Math. 7 (1981) 67-75",
        )

    def refusal(self, problem: AbstractProblem) -> str | None:
        """Takes any ordinary differential equation; projects where there are constraints."""
        return AbstractAdaptive.refusal(self, problem) or cannot_project(problem, self.projection)

    def start(self, task: Task) -> Engine:
        """Begin a run."""
        return _start("Dopri8", self, task)


def _traits(name: str, order: int, reference: str) -> AdaptiveTraits:
    return AdaptiveTraits(
        name=name,
        order=order,
        one_step=True,
        stiff=False,
        needs="ode",
        package="diffrax",
        extra="adaptive",
        reference=reference,
    )


def _field(t, y: Packed, problem: AbstractProblem) -> Packed:
    return problem.vector_field(t, y)


@functools.cache
def _pair(name: str, order: int, moved: bool) -> EmbeddedPair:
    """One of diffrax's pairs."""
    diffrax = optional("diffrax", "adaptive", f"DormandPrince{order}")
    # The loop over stages is XLA's plain one: those for reverse-mode derivatives are slower.
    solver = getattr(diffrax, name)(scan_kind="lax")
    return EmbeddedPair(solver, diffrax.ODETerm(_field), order, solver.tableau.num_stages - 1, moved)


def _start(pair: str, solver: DormandPrince5 | DormandPrince8, task: Task) -> Engine:
    """A run with one of diffrax's pairs."""
    return JittedEngine(
        _pair(pair, solver.traits.order or 0, solver.projection != "none"),
        task,
        first_step=solver.first_step,
        max_step=solver.max_step,
        projection=solver.projection,
    )
