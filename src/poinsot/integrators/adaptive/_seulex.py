"""Seulex: the linearly implicit Euler method, extrapolated, for stiff problems."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import AbstractProblem, Packed, field, hold
from poinsot.core.types import BoolScalar, IntScalar, Scalar
from poinsot.integrators.adaptive._base import AdaptiveTraits, Engine, Task
from poinsot.integrators.adaptive._extrapolation import Scheme, Window, combine, extrapolate, initial_window
from poinsot.integrators.adaptive._inverse import inverse
from poinsot.integrators.adaptive._jitted import JittedEngine
from poinsot.integrators.adaptive._method import AbstractMethod, Attempt, Cost, Demands
from poinsot.integrators.adaptive._options import OneStepSolver

REFERENCE = "Hairer, Wanner: Solving Ordinary Differential Equations II (1996), section IV.9"
SEQUENCE = tuple(range(2, 14))
SUBSTEPS = tuple(sum(SEQUENCE[:k]) for k in range(1, len(SEQUENCE) + 1))
SCHEME = Scheme(
    sequence=SEQUENCE,
    power=1,
    # A Jacobian counts as five right-hand sides, a factorisation and a solution as one each.
    work=tuple(5.0 + 2.0 * substeps + k for k, substeps in enumerate(SUBSTEPS, start=1)),
    aim=0.6,
    safety=0.93,
    least=0.1,
    lower=0.7,
    higher=0.9,
)


class Memory(NamedTuple):
    """What is carried from attempt to attempt."""

    window: Window
    jacobian: Float[Array, "n n"]
    here: BoolScalar
    """Whether it is of the state the attempt starts from."""
    stale: BoolScalar
    """Whether it must be computed anew."""


class EulerExtrapolation(AbstractMethod):
    """The steps of `Seulex`."""

    def init(self, problem: AbstractProblem, t, y: Packed, demands: Demands) -> tuple[Any, Scalar]:
        """The row to begin with, and no Jacobian yet."""
        window = initial_window(SCHEME, demands.rtol)
        window = window._replace(k=jnp.maximum(window.k, 3))
        memory = Memory(window, jnp.zeros((y.size, y.size)), jnp.array(False), jnp.array(True))
        return memory, window.k.astype(float)

    def attempt(self, problem: AbstractProblem, t, h, y: Packed, carry: Memory, demands: Demands) -> Attempt:
        """One basic step."""
        jacobian = lax.cond(carry.stale, lambda: _jacobian(problem, t, y), lambda: carry.jacobian)
        here = carry.stale | carry.here
        rule = _linearly_implicit(problem, t, h, y, jacobian)

        def row(j, n, rate):
            end, start = rule(n)
            rate = lax.cond(j == 0, lambda: _rate(problem, t, y, start, demands), lambda: rate)
            return end, rate <= 1.0, rate

        done = extrapolate(SCHEME, row, h, y, carry.window, demands, jnp.float64(0.0))
        enough = jnp.minimum(1e-4, demands.rtol)
        stale = jnp.where(done.accepted, done.extra > enough, ~here)
        memory = Memory(done.window, jacobian, here & ~done.accepted, stale)
        # One right-hand side more than substeps: that of the rate of convergence.
        rhs = jnp.asarray((0, *SUBSTEPS))[done.row] + 1
        cost = Cost.of(rhs=rhs, jacobians=carry.stale, factorisations=done.row)
        return Attempt(done.y, done.accepted, done.window.h, memory, done.row, cost)

    def part(self, problem: AbstractProblem, t, h, y: Packed, order: IntScalar) -> Packed:
        """A shorter step with as many rows, and a Jacobian of its own."""
        rule = _linearly_implicit(problem, t, h, y, _jacobian(problem, t, y))
        return combine(SCHEME, lambda n: rule(n)[0], order, y)


def _jacobian(problem: AbstractProblem, t, y: Packed) -> Float[Array, "n n"]:
    return jax.jacfwd(problem.vector_field, argnums=1)(t, y)


class Start(NamedTuple):
    """The first substep of a row."""

    h: Scalar
    matrix: Float[Array, "n n"]
    """Inverse of that of the substep."""
    increment: Packed


def _times(matrix: Float[Array, "n n"], y: Packed) -> Packed:
    # For few unknowns a sum is faster than a call of a matrix product.
    return jnp.sum(matrix * y[None], axis=1)


def _linearly_implicit(
    problem: AbstractProblem, t, h, y: Packed, jacobian: Float[Array, "n n"]
) -> Callable[[IntScalar], tuple[Packed, Start]]:
    """The step in n substeps of the rule: its increment, and how it started."""

    def rule(n: IntScalar) -> tuple[Packed, Start]:
        part = h / n.astype(float)
        matrix = hold(inverse(jnp.eye(y.size) - part * jacobian))

        def substep(i, loop):
            so_far, first = loop
            slope = field(problem, t + (i + 1).astype(float) * part, y + so_far)
            increment = _times(matrix, hold(part * slope))
            return hold((so_far + increment, jnp.where(i == 0, increment, first)))

        end, first = lax.fori_loop(0, n, substep, (jnp.zeros_like(y), jnp.zeros_like(y)))
        return end, Start(part, matrix, first)

    return rule


def _rate(problem: AbstractProblem, t, y: Packed, start: Start, demands: Demands) -> Scalar:
    r"""How fast Newton's iteration for the implicit Euler method would converge on the first substep.

    $$ \vartheta = \frac{\|\Delta_1\|}{\|\Delta_0\|}, \qquad
       \Delta_0 = y_1 - y_0, \quad (I - hA)\,\Delta_1 = h f(t_1, y_1) - \Delta_0 $$

    Above one, the step is far too long for the linearisation; near zero, the Jacobian will do for another
    step.
    """
    slope = field(problem, t + start.h, y + start.increment)
    correction = _times(start.matrix, start.h * slope - start.increment)
    return demands.norm(correction, y) / jnp.maximum(demands.norm(start.increment, y), 1e-300)


STEPS = EulerExtrapolation()
"""One for all runs, so that what was compiled for it is found at once."""


class Seulex(OneStepSolver):
    r"""The extrapolated linearly implicit Euler method with control of order and step, as in the code SEULEX.

    Within a step $H$, row j of the tableau takes $n_j = j + 1$ substeps $h = H/n_j$,

    $$ (I - hA)(y_{i+1} - y_i) = h f(t_{i+1}, y_i), \qquad A \approx \partial f / \partial y\,(t_0, y_0) $$

    whose error has an expansion in $h$; k rows are extrapolated to order k, for k from 2 to 12. Row and step
    are where the work per unit step is least, see `extrapolate`. The Jacobian, by automatic differentiation,
    serves further steps where Newton's iteration with it would converge at once.

    *Properties*: order up to 12; $k(k+3)/2 + 1$ evaluations and k factorisations for k rows. Fast motions
    that the step does not resolve are damped. Dense output by part steps of the same order.
    Stiff directions may not turn much within a step: on a pendulum whose support is an undamped bushing the
    steps shorten as it stiffens, and at a coarse tolerance digits are lost that `Radau5` keeps. The weights
    of k rows amplify round-off, by 70 for k = 4 and a hundred thousand for k = 10: what an unstable motion
    makes of it can be more than of the error of another method.

    Args:
        first_step: size of the first attempt; by default from the right-hand side and its slope.
        max_step: largest step, or None.
        projection: put positions, velocities or both back onto the constraints after each accepted step:
            "position", "velocity", "both", or True for both.

    Reference:
        Hairer, Wanner: Solving Ordinary Differential Equations II (1996), section IV.9.
    """

    @property
    def traits(self) -> AdaptiveTraits:
        """Linearly implicit, of one step, of many orders."""
        return AdaptiveTraits(
            name="Seulex",
            order=None,
            one_step=True,
            stiff=True,
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
