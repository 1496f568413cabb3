"""Odex: the explicit midpoint rule, extrapolated."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from poinsot.core import AbstractProblem, Packed, field, hold
from poinsot.core.types import IntScalar, Scalar
from poinsot.integrators.adaptive._base import AdaptiveTraits, Engine, Task
from poinsot.integrators.adaptive._extrapolation import (
    Scheme,
    Window,
    combine,
    extrapolate,
    initial_window,
)
from poinsot.integrators.adaptive._jitted import JittedEngine
from poinsot.integrators.adaptive._method import AbstractMethod, Attempt, Cost, Demands
from poinsot.integrators.adaptive._options import OneStepSolver

REFERENCE = "Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I (1993), section II.9"
SEQUENCE = tuple(range(2, 20, 2))
EVALUATIONS = tuple(1 + sum(n - 1 for n in SEQUENCE[:k]) for k in range(1, len(SEQUENCE) + 1))
"""Right-hand sides of the rows up to each one: that at the start of the step serves all of them."""
SCHEME = Scheme(
    sequence=SEQUENCE,
    power=2,
    work=tuple(map(float, EVALUATIONS)),
    aim=0.65,
    safety=0.94,
    least=0.02,
    lower=0.8,
    higher=0.9,
)


class MidpointExtrapolation(AbstractMethod):
    """The steps of `Odex`."""

    def init(self, problem: AbstractProblem, t, y: Packed, demands: Demands) -> tuple[Any, Scalar]:
        """The row to begin with."""
        window = initial_window(SCHEME, demands.rtol)
        return window, 2.0 * window.k.astype(float) - 1.0

    def attempt(self, problem: AbstractProblem, t, h, y: Packed, carry: Window, demands: Demands) -> Attempt:
        """One basic step."""
        f = hold(field(problem, t, y))
        rule, size = _midpoint(problem, t, h, y, f), demands.norm(h * f, y)

        def row(j, n, extra):
            end = rule(n)
            # The first row is h f(y_1): a slope that changes beyond all measure within it is an instability.
            change = lax.cond(j == 0, lambda: demands.norm(end - h * f, y), lambda: 0.0)
            return end, change <= 2.0 * size, extra

        done = extrapolate(SCHEME, row, h, y, carry, demands, ())
        cost = Cost.of(rhs=jnp.asarray((0, *EVALUATIONS))[done.row])
        return Attempt(done.y, done.accepted, done.window.h, done.window, done.row, cost)

    def part(self, problem: AbstractProblem, t, h, y: Packed, order: IntScalar) -> Packed:
        """A shorter step with as many rows."""
        return combine(SCHEME, _midpoint(problem, t, h, y, field(problem, t, y)), order, y)


def _midpoint(problem: AbstractProblem, t, h, y: Packed, f: Packed) -> Callable[[IntScalar], Packed]:
    r"""The step in n substeps of the rule: its increments $z_i = y_i - y_0$ keep more digits than $y_i$."""

    def rule(n: IntScalar) -> Packed:
        part = h / n.astype(float)

        def substep(i, z):
            before, now = z
            slope = field(problem, t + i.astype(float) * part, y + now)
            return now, hold(before + 2.0 * part * slope)

        return lax.fori_loop(1, n, substep, (jnp.zeros_like(y), part * f))[1]

    return rule


STEPS = MidpointExtrapolation()
"""One for all runs, so that what was compiled for it is found at once."""


class Odex(OneStepSolver):
    r"""Gragg's extrapolated midpoint rule with control of order and step: the method of the code ODEX.

    Within a step $H$, row j of the tableau takes $n_j = 2j$ substeps $h = H/n_j$ of the explicit midpoint
    rule,

    $$ y_1 = y_0 + h f(t_0, y_0), \qquad y_{i+1} = y_{i-1} + 2 h f(t_i, y_i), \qquad T_{j1} = y_{n_j} $$

    whose error has an expansion in $h^2$; k rows are extrapolated to order 2k, for k from 2 to 9. Row and
    step are where the work per unit step is least, see `extrapolate`. Unlike in ODEX there is no smoothing
    step at the end of a row: it is not needed for the expansion and costs an evaluation in each row.

    *Properties*: order up to 18; $1 + k^2$ evaluations for k rows. Dense output by part steps of the same
    order, as accurate as the run itself. It is made for small errors: on a gyro top it takes fewer
    evaluations than `DormandPrince853` from about 1e-9 on, and twice as many at 1e-3, where no constant order
    and step of the method takes a tenth less.

    Args:
        first_step: size of the first attempt; by default from the right-hand side and its slope.
        max_step: largest step, or None.
        projection: put positions, velocities or both back onto the constraints after each accepted step:
            "position", "velocity", "both", or True for both.

    Reference:
        Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I (1993), section II.9.
    """

    @property
    def traits(self) -> AdaptiveTraits:
        """Explicit, of one step, of many orders."""
        return AdaptiveTraits(
            name="Odex",
            order=None,
            one_step=True,
            stiff=False,
            needs="ode",
            package=None,
            extra=None,
            reference=REFERENCE,
        )

    def start(self, task: Task) -> Engine:
        """Begin a run."""
        return JittedEngine(
            STEPS,
            task,
            first_step=self.first_step,
            max_step=self.max_step,
            projection=self.projection,
        )
