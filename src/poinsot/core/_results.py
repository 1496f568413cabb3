"""How a step or a run ended: one enumeration, each member a sentence of cause and remedy."""

import enum

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from poinsot.core.types import IntScalar


class Result(enum.IntEnum):
    """Outcome of a run. Inside compiled code it travels as an integer; the first failure wins."""

    successful = 0
    stage_equations_not_converged = 1
    non_finite = 2
    stopped_by_event = 3
    interrupted = 4
    near_singularity = 5
    step_too_small = 6
    monitor_too_fast = 7
    event_undefined = 8
    bad_start = 9
    out_of_reach = 10
    memory_full = 11
    joints_may_fold = 12

    @property
    def message(self) -> str:
        """What happened, why, and what to do about it."""
        return _MESSAGES[self]

    @property
    def ok(self) -> bool:
        """Whether the run did what was asked: reached its end, or its stop condition."""
        return self in (Result.successful, Result.stopped_by_event)


_MESSAGES = {
    Result.successful: "the run reached its end",
    Result.stage_equations_not_converged: (
        "the implicit equations of a step did not converge to round-off: the step is too large for the "
        "iteration (reduce dt), or the motion meets a singularity"
    ),
    Result.non_finite: (
        "the state became infinite or NaN: the motion met a singularity of the problem, or the step is "
        "unstable (reduce dt, or take an implicit method)"
    ),
    Result.stopped_by_event: "the stop condition was met",
    Result.interrupted: "the run was interrupted",
    Result.near_singularity: (
        "the motion came too near to a singularity of its coordinates, for Euler angles gimbal lock (take "
        "another sequence, a smaller margin, or coordinates without singularities: quaternions, directors or "
        "the group)"
    ),
    Result.step_too_small: (
        "the solver needs a smaller step than the time can resolve: the motion meets a singularity, or the "
        "tolerance is finer than the right-hand side is accurate (raise rtol and atol; for a stiff problem "
        "take Radau5, Bdf or Seulex)"
    ),
    Result.monitor_too_fast: (
        "the monitor function changes so fast that the next step would be several times as long or short as "
        "the last: steps cannot follow it reversibly (reduce dt, or take a smoother monitor)"
    ),
    Result.event_undefined: (
        "the stop condition became NaN, where it could be met unseen: make it a number at every state of the "
        "motion"
    ),
    Result.out_of_reach: (
        "at this pace the run would take more than a month: t1 is too far away for steps of this size (take "
        "an earlier t1, a larger dt, or larger tolerances)"
    ),
    Result.memory_full: (
        "the saved steps fill the memory (save fewer, by save_every or save_at, or take an earlier t1)"
    ),
    Result.bad_start: (
        "the run cannot start: the step is zero, a number is not finite, or the start is off its "
        "constraints, joints or freedoms (take problem.consistent(state) or system.assemble(state))"
    ),
    Result.joints_may_fold: (
        "the joints lose rank and could go on in two ways, between which a solver that lets them drift open "
        "cannot tell (take projection=True, or LieRattle on the group)"
    ),
}


def _none() -> Array:
    return jnp.int32(0)


class StepInfo(eqx.Module):
    """What one step reports. `StepInfo()` is that of a step that solves nothing and cannot fail."""

    result: Int[Array, "*lanes"] = eqx.field(default_factory=_none, converter=jnp.asarray)
    """The outcome: a `poinsot.Result`, of all lanes or of each."""
    iterations: IntScalar = eqx.field(default_factory=_none, converter=jnp.asarray)
    """Iterations of its implicit equations."""

    @classmethod
    def explicit(cls, lanes: tuple[int, ...]) -> "StepInfo":
        """Report of a step that solves nothing."""
        return cls(jnp.full(lanes, Result.successful, dtype=jnp.int32), jnp.int32(0))

    @classmethod
    def implicit(cls, converged: Bool[Array, "*lanes"], iterations: IntScalar) -> "StepInfo":
        """Report of a step that solved equations."""
        result = jnp.where(converged, Result.successful, Result.stage_equations_not_converged)
        return cls(result.astype(jnp.int32), iterations)

    def then(self, later: "StepInfo") -> "StepInfo":
        """Report of two steps in a row: the first failure wins, iterations add up."""
        result = jnp.where(self.result == Result.successful, later.result, self.result)
        return StepInfo(result, self.iterations + later.iterations)
