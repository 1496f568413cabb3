"""Dormand-Prince pairs of order 5 and 8: the coefficients are diffrax's, the loops are ours."""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jax import lax

from poinsot.core import AbstractProblem, Packed, field, hold, optional
from poinsot.core.types import BoolScalar, IntScalar, Scalar
from poinsot.integrators.adaptive._base import AdaptiveTraits, Engine, Task
from poinsot.integrators.adaptive._jitted import JittedEngine
from poinsot.integrators.adaptive._method import AbstractMethod, Attempt, Cost, Demands
from poinsot.integrators.adaptive._options import OneStepSolver

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
LEAST = math.log(1e-4)
"""Logarithm of the smallest ratio of errors that a step leaves to the next; that of no step before."""


class Memory(NamedTuple):
    """What is carried from attempt to attempt."""

    slope: Packed
    """The right-hand side where the attempt starts, if `known`."""
    known: BoolScalar
    log_error: Scalar
    r"""$\log (e_{n-1} / \theta)$."""
    refused: BoolScalar
    """Whether the attempt before was rejected."""


class EmbeddedPair(AbstractMethod):
    r"""An explicit Runge-Kutta pair under PI control (Hairer & Wanner IV.2).

    With the error $e_n$ of this step and $e_{n-1}$ of the last accepted one, both in units of the tolerance,

    $$ \frac{h_{n+1}}{h_n} = \Bigl(\frac{\theta}{e_n}\Bigr)^\alpha \Bigl(\frac{e_{n-1}}{\theta}\Bigr)^\beta,
       \qquad \beta = \frac{0.2}{p}, \quad \alpha = \frac1p - \tfrac34\beta, \quad \theta = 0.9^p, $$

    between 0.2 and 10, and at most 1 after a rejection. At $p = 5$ the exponents are those of DOPRI5. The
    errors settle at $\theta$, as they do under the plain rule $h_{n+1} = 0.9\, h_n e_n^{-1/p}$.
    """

    A: tuple[tuple[float, ...], ...] = eqx.field(static=True)
    """Coefficients of the stages after the first; the last is at the new state, and the next step's first."""
    c: tuple[float, ...] = eqx.field(static=True)
    error: tuple[float, ...] = eqx.field(static=True)
    """Weights of the error estimate."""
    order: int = eqx.field(static=True)
    moved: bool = eqx.field(static=True)
    """Whether the state is moved between steps, so that its right-hand side is evaluated anew."""

    def init(self, problem: AbstractProblem, t, y: Packed, demands: Demands) -> tuple[Any, Scalar]:
        """No right-hand side known, no error seen."""
        return Memory(y, jnp.array(False), jnp.float64(LEAST), jnp.array(False)), jnp.float64(self.order)

    def attempt(self, problem: AbstractProblem, t, h, y: Packed, carry: Any, demands: Demands) -> Attempt:
        """One step of the pair."""
        slope = lax.cond(carry.known, lambda: carry.slope, lambda: field(problem, t, y))
        y1, slopes = self._stages(problem, t, h, y, slope)
        square = demands.squared_norm(h * _sum(self.error, slopes), y, y1)
        accepted = square <= 1.0
        beta = 0.2 / self.order
        # In logarithms, because one of them and one exponential cost less than two powers.
        log = 0.5 * jnp.log(jnp.maximum(square, 1e-20)) - self.order * math.log(SAFETY)
        factor = jnp.exp(beta * carry.log_error - (1.0 / self.order - 0.75 * beta) * log)
        factor = jnp.clip(factor, SHRINK, jnp.where(carry.refused | ~accepted, 1.0, GROW))
        memory = Memory(
            slope=jnp.where(accepted, slopes[-1], slopes[0]),
            known=jnp.array(not self.moved),
            log_error=jnp.where(accepted, jnp.maximum(log, LEAST), carry.log_error),
            refused=~accepted,
        )
        cost = Cost.of(rhs=jnp.where(carry.known, len(self.c), len(self.c) + 1))
        return Attempt(y1, accepted, factor * h, memory, jnp.int64(self.order), cost)

    def part(self, problem: AbstractProblem, t, h, y: Packed, order: IntScalar) -> Packed:
        """A shorter step of the pair."""
        return self._stages(problem, t, h, y, field(problem, t, y))[0]

    def _stages(
        self, problem: AbstractProblem, t, h, y: Packed, slope: Packed
    ) -> tuple[Packed, list[Packed]]:
        """The state at the last stage and the slopes at all, of which the first is given."""
        slopes = [hold(slope)]
        for weights, node in zip(self.A[:-1], self.c[:-1], strict=True):
            # The last slope comes in late: all but it is added up while it is computed.
            ready = y + h * _sum(weights[:-1], slopes[:-1]) if len(slopes) > 1 else y
            stage = hold(ready + (weights[-1] * h) * slopes[-1])
            slopes.append(hold(field(problem, t + node * h, stage)))
        end = hold(y + h * _sum(self.A[-1], slopes))
        slopes.append(hold(field(problem, t + self.c[-1] * h, end)))
        return end, slopes


def _sum(weights: Sequence[float], slopes: Sequence[Packed]) -> Packed:
    """The weighted sum of slopes."""
    terms = [weight * slope for weight, slope in zip(weights, slopes, strict=True) if weight]
    return sum(terms[1:], start=terms[0])


class DormandPrince5(OneStepSolver):
    r"""Dormand and Prince's explicit Runge-Kutta pair of orders 5 and 4, in one compiled loop.

    The coefficients are those of diffrax.

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

    @property
    def traits(self) -> AdaptiveTraits:
        """Explicit and of one step."""
        return _traits(
            "Dormand-Prince 5(4)",
            5,
            "Dormand, Prince: A family of embedded Runge-Kutta formulae, J. Comp. Appl. Math. 6 (1980) 19-26",
        )

    def start(self, task: Task) -> Engine:
        """Begin a run."""
        return _start("Dopri5", 5, self, task)


class DormandPrince8(OneStepSolver):
    r"""Prince and Dormand's explicit Runge-Kutta pair of orders 8 and 7, in one compiled loop.

    Not the pair of DOP853, which is `DormandPrince853`: it has thirteen stages and one error estimate, of
    order 7. The coefficients are those of diffrax.

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

    @property
    def traits(self) -> AdaptiveTraits:
        """Explicit and of one step."""
        return _traits(
            "Dormand-Prince 8(7)",
            8,
            "Prince, Dormand: High order embedded Runge-Kutta formulae, J. Comp. Appl. Math. 7 (1981) 67-75",
        )

    def start(self, task: Task) -> Engine:
        """Begin a run."""
        return _start("Dopri8", 8, self, task)


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


@functools.cache
def _pair(name: str, order: int, moved: bool) -> EmbeddedPair:
    """One of diffrax's pairs."""
    diffrax = optional("diffrax", "adaptive", f"DormandPrince{order}")
    tableau = getattr(diffrax, name).tableau
    A = tuple(tuple(line.tolist()) for line in tableau.a_lower)
    return EmbeddedPair(A, tuple(tableau.c.tolist()), tuple(tableau.b_error.tolist()), order, moved)


def _start(pair: str, order: int, solver: DormandPrince5 | DormandPrince8, task: Task) -> Engine:
    """A run with one of diffrax's pairs."""
    return JittedEngine(
        _pair(pair, order, solver.projection != "none"),
        task,
        first_step=solver.first_step,
        max_step=solver.max_step,
        projection=solver.projection,
    )
