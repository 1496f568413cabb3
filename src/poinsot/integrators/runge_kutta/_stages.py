r"""Two ways to solve the stage equations of an implicit Runge-Kutta method.

$$ F_i = f\Big(t + c_i h,\; y + h \sum_j a_{ij} F_j\Big), \qquad i = 1, \dots, s. $$
"""

import abc
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array

from poinsot.core import (
    AbstractProblem,
    Checked,
    InputError,
    InWindows,
    Packed,
    StepInfo,
    abreast,
    as_count,
    as_number,
    hold,
    largest,
    one_block,
    whole,
)
from poinsot.integrators.runge_kutta._stage_inverse import stage_inverse
from poinsot.solvers import EPS, Again, Stopping, linearised, measured_fixed_point, simplified_newton

MANY = 64
"""Numbers in a state above which its right-hand side is costly, and has a noise of its own."""
LONG = 1024
"""Numbers in a state from which its stages are evaluated one after the other."""


@dataclass(frozen=True)
class StageEquations:
    """The equations of one step: the problem, where the step starts, and the method's matrix."""

    problem: AbstractProblem
    times: Array
    h: Array
    y: Packed
    weights: Any
    """The coefficients `a_ij`: a pytree of arrays with one row for each stage."""
    combine: Callable
    """Makes of some of their rows, and of the stage derivatives, `sum_j a_ij F_j` for these rows."""
    matrix: np.ndarray | None
    """The matrix itself, or None when positions and momenta have one each."""
    noise: Packed | None
    """Size of what rounding the state makes of the right-hand side, see `field_noise`."""
    former: Array
    """Stage derivatives of the step before: unlike a guess that is far off, they tell what size to expect."""

    @property
    def lanes(self) -> int:
        """Number of axes along which there are independent runs."""
        return len(self.problem.lanes(self.y))

    @property
    def one_by_one(self) -> bool:
        """Whether stages are evaluated one after the other: those of a long state, to stay in the cache."""
        return self.y.size > LONG and not self.lanes

    def increments(self, F: Array) -> Array:
        """What is added to the state at all stages."""
        return self.h * self.combine(self.weights, F)

    def derivatives(self, stages: Array) -> Array:
        """Right-hand sides at all stages."""
        if self.one_by_one:
            return lax.map(lambda stage: self.problem.vector_field(*stage), (self.times, stages))
        return jax.vmap(self.problem.vector_field)(self.times, stages)

    def substitution(self, inverse_unit: Packed) -> Callable:
        """The map from stage derivatives to right-hand sides at their stages, and the size of the change."""
        if isinstance(self.problem, InWindows):
            return self._in_windows(self.problem, inverse_unit)
        return self._one_by_one(inverse_unit) if self.one_by_one else self._together(inverse_unit)

    def _together(self, inverse_unit: Packed) -> Callable:
        def substitute(F: Array) -> tuple[Array, Array]:
            def one(t, row, former):
                following = self.problem.vector_field(t, self._stage(self.y, row, F))
                return following, largest((following - former) * inverse_unit, self.lanes)

            following, changes = abreast(one, self.times, self._rows, F)
            return following, jnp.max(changes, axis=0)

        return substitute

    def _one_by_one(self, inverse_unit: Packed) -> Callable:
        """Stages of a long state are combined and measured one by one too, while they are in the cache."""

        def substitute(F: Array) -> tuple[Array, Array]:
            def one(stage: tuple) -> tuple[Array, Array]:
                t, row, former = stage
                following = self.problem.vector_field(t, self._stage(self.y, row, F))
                return following, largest((following - former) * inverse_unit)

            following, changes = lax.map(one, (self.times, self._rows, F))
            return following, jnp.max(changes)

        return substitute

    def _in_windows(self, problem: InWindows, inverse_unit: Packed) -> Callable:
        """Window by window of a row of bodies: all stages of one while it is in the cache.

        New derivatives of a window take the place of the former ones, of which the next window needs those of
        one body. Written into a second array they would cost as much time again, for memory.
        """
        all_near_y, inverse_unit = hold(problem.with_margins(self.y)), inverse_unit[0]

        def substitute(F: Array) -> tuple[Array, Array]:
            def one(carry: tuple[Array, Array], window: tuple) -> tuple[tuple[Array, Array], Array]:
                F, before = carry
                k, near_y = window
                own = lax.dynamic_index_in_dim(F, k, axis=1, keepdims=False)
                # Behind the last window there is none, and no body that acts on its last one.
                behind = lax.dynamic_index_in_dim(F, k + 1, axis=1, keepdims=False)[..., :1]
                own, behind = hold((own, behind))
                near_F = hold(jnp.concatenate([before, own, behind], axis=-1))

                def stage(given: tuple) -> tuple[Array, Array]:
                    row, former = given
                    following = hold(problem.local.rate(problem.places(k), self._stage(near_y, row, near_F)))
                    return following, largest((following - former) * inverse_unit)

                following, changes = lax.map(stage, (self._rows, own))
                F = lax.dynamic_update_index_in_dim(F, following, k, axis=1)
                return (F, own[..., -1:]), jnp.max(changes)

            nothing = jnp.zeros_like(F[:, 0, :, :1])
            (F, _), changes = lax.scan(one, (F, nothing), (problem.numbers(), all_near_y))
            return F, jnp.max(changes)

        return substitute

    @property
    def _rows(self) -> Any:
        """The coefficients as arrays, to go over their rows."""
        return jax.tree.map(jnp.asarray, self.weights)

    def _stage(self, y: Array, row: Any, F: Array) -> Array:
        """The state at the stage that belongs to a row of the coefficients."""
        alone = jax.tree.map(lambda weights: weights[None], row)
        return hold(y + self.h * self.combine(alone, F)[0])

    @property
    def unit(self) -> Packed:
        """One unit of round-off of each component of the result."""
        increments = jnp.abs(self.h) * reduce(jnp.maximum, jnp.abs(self.former))
        unit = EPS * (self.problem.magnitude(self.y) + self.problem.magnitude(increments)) + 1e-300
        return unit if self.noise is None else jnp.maximum(unit, jnp.abs(self.h) * self.noise)


def forced(problem: AbstractProblem) -> bool:
    """Whether forces act that have no energy, as far as the problem knows of forces."""
    return not problem.conservative


def field_noise(problem: AbstractProblem, t, y: Packed) -> tuple[Packed, Packed | None]:
    """The right-hand side, and the size of its change where each number of the state is rounded up or down.

    Bodies of a long chain have forces made of small differences of large positions, and those of a chain at
    rest have momenta that are nothing but round-off: no iteration gets below it. A few numbers, such as those
    of one body, have no such noise, and are spared the evaluation; but forces without an energy may balance
    others.
    """
    if (y.size <= MANY and not forced(problem)) or problem.lanes(y):
        return problem.vector_field(t, y), None
    up = ((jnp.arange(y.size) * 40503 >> 7) % 2 == 0).reshape(y.shape)
    rounded = y * (1.0 + jnp.where(up, EPS, -EPS))
    exact, moved = lax.map(lambda y: problem.vector_field(t, y), jnp.stack([y, rounded]))
    return exact, problem.magnitude(moved - exact)


MOST_ITERATIONS = 10**6
"""Iterations that a user may allow; one that needs more will not converge."""
Iterations = Annotated[int, whole(1, MOST_ITERATIONS)]


class AbstractStageSolver(Checked):
    """Solves the stage equations to round-off."""

    tolerance: eqx.AbstractVar[float]
    max_iterations: eqx.AbstractVar[int]

    def __check_init__(self):
        name, accept = type(self).__name__, Stopping().accept
        if not 0.0 <= as_number(self.tolerance, f"tolerance of {name}") <= accept:
            raise InputError(
                f"tolerance of {name} = {self.tolerance!r}; it must be between 0 and {accept:g}, in units of "
                "round-off"
            )

    @abc.abstractmethod
    def solve(
        self, equations: StageEquations, guess: Array, again: Again | None = None
    ) -> tuple[Array, StepInfo]:
        """The stage derivatives `F`, from a guess of them, or from others where that leads nowhere."""


class FixedPoint(AbstractStageSolver):
    r"""Repeated substitution: converges when $h \, \|f'\|$ is below about one. The default.

    Its unknowns are the stage derivatives, so that an iteration costs `s` right-hand sides and nothing is
    evaluated twice. Memory and cost are linear in the size of the problem.

    Args:
        tolerance: error of the iteration at which to stop, in units of round-off of the state; 0 goes on
            until nothing changes any more.
        max_iterations: give up after so many.
        look_every: measure the change after so many substitutions; by default after two of a few numbers,
            where that costs as much as they do, else after each.
    """

    tolerance: float = eqx.field(default=0.01, static=True)
    max_iterations: Iterations = eqx.field(default=100, static=True)
    look_every: int | None = eqx.field(default=None, static=True)

    def __check_init__(self):
        if self.look_every is not None:
            as_count(self.look_every, "look_every of FixedPoint", most=self.max_iterations)

    def solve(
        self, equations: StageEquations, guess: Array, again: Again | None = None
    ) -> tuple[Array, StepInfo]:
        """See the class."""
        inverse_unit = jnp.abs(equations.h) / equations.unit
        often = 1 if equations.y.size > MANY and not equations.lanes else 2
        stopping = Stopping(
            self.tolerance, max_iterations=self.max_iterations, look_every=self.look_every or often
        )
        F, info = measured_fixed_point(equations.substitution(inverse_unit), guess, stopping, again)
        return F, StepInfo.implicit(info.converged, info.iterations)


class SimplifiedNewton(AbstractStageSolver):
    r"""Newton's method with the Jacobian of the step's start, for stiff problems or large steps.

    Its unknowns are the increments $Z_i = h \sum_j a_{ij} F_j$, and the derivatives are recovered as
    $F = (hA)^{-1} Z$ where $A$ is regular, so that a stiff right-hand side does not amplify round-off. Each
    step factors a matrix of size `n` for each eigenvalue of $A$, conjugate ones together. Those of a chain of
    bodies are block-tridiagonal, so that memory and cost are linear in the number of bodies; else they are
    dense.

    Args:
        tolerance: as for `FixedPoint`.
        max_iterations: give up after so many.
    """

    tolerance: float = eqx.field(default=0.01, static=True)
    max_iterations: Iterations = eqx.field(default=50, static=True)

    def solve(
        self, equations: StageEquations, guess: Array, again: Again | None = None
    ) -> tuple[Array, StepInfo]:
        """See the class."""
        if equations.matrix is None:
            raise InputError("SimplifiedNewton does not serve partitioned methods; use FixedPoint()")
        if equations.lanes:
            raise InputError("SimplifiedNewton solves one run at a time; use jax.vmap, or FixedPoint()")
        A, h, y, shape = equations.matrix, equations.h, equations.y, guess.shape
        blocks = equations.problem.blocks("y") or one_block(y.size)

        def field(flat):
            return equations.problem.vector_field(equations.times[0], flat.reshape(y.shape)).ravel()

        inverse = stage_inverse(A, h, linearised(field, y.ravel(), blocks)[1], blocks)
        inverse_unit = 1.0 / equations.unit

        def residual(flat):
            Z = flat.reshape(shape)
            return (Z - equations.increments(equations.derivatives(y[None] + Z))).ravel()

        def size(dZ):
            return largest(dZ.reshape(shape) * inverse_unit[None])

        def start(F: Array) -> Array:
            return equations.increments(F).ravel()

        if again is not None:
            derivatives = again.starts
            again = again._replace(starts=lambda count: start(derivatives(count)))
        stopping = Stopping(tolerance=self.tolerance, max_iterations=self.max_iterations)
        flat, info = simplified_newton(
            residual, start(guess), inverse, size, stopping, blocks.repeated(len(A)), again
        )
        Z = flat.reshape(shape)
        if np.linalg.matrix_rank(A) == len(A):
            F = jnp.tensordot(np.linalg.inv(A), Z, 1) / h
        else:
            F = equations.derivatives(y[None] + Z)
        return F, StepInfo.implicit(info.converged, info.iterations)
