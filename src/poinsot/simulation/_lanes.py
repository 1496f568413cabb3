"""Many runs of any problem as lanes of one array: the layout that fills vector units and GPUs."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from poinsot.core import AbstractProblem, Packed, State, StepInfo, UserFunction
from poinsot.integrators import AbstractIntegrator, Traits


def over_lanes(function, *fixed):
    """Apply a function to every lane, the last axis of each further argument and of each result."""
    return lambda *values: jax.vmap(lambda *one: function(*fixed, *one), in_axes=-1, out_axes=-1)(*values)


class LanedProblem(AbstractProblem):
    """A problem of one run, taking a last axis of many."""

    kind: ClassVar[str] = "lanes"
    labels: ClassVar[tuple[str, ...]] = ()

    problem: AbstractProblem
    params: Any
    invariants: dict[str, UserFunction]
    vectorised: bool = eqx.field(static=True)

    def __init__(self, problem: AbstractProblem):
        self.problem, self.params = problem, problem.params
        self.invariants, self.vectorised = {}, True

    def pack(self, state: State) -> Packed:
        """Packed states, the runs along the last axis."""
        return over_lanes(self.problem.pack)(state)

    def unpack(self, y: Packed) -> State:
        """Labelled states, the runs along their last axis."""
        return over_lanes(self.problem.unpack)(y)

    def vector_field(self, t, y: Packed) -> Packed:
        """Right-hand side of each run."""
        return over_lanes(self.problem.vector_field, t)(y)

    def magnitude(self, y: Packed) -> Packed:
        """Scale of each run."""
        return over_lanes(self.problem.magnitude)(y)

    def clearance(self, y: Packed) -> Array | None:
        """Distance of each run from where its problem loses its meaning."""
        if jax.eval_shape(lambda y: self.problem.clearance(y[..., 0]), y) is None:
            return None
        return over_lanes(self.problem.clearance)(y)

    def first_integrals(self, t, y: Packed) -> dict[str, Array]:
        """Of each run."""
        return over_lanes(self.problem.first_integrals, t)(y)


class LanedIntegrator(AbstractIntegrator):
    """An integrator that steps every lane of a `LanedProblem`."""

    integrator: AbstractIntegrator

    @property
    def traits(self) -> Traits:
        """Those of the integrator."""
        return self.integrator.traits

    def refusal(self, problem: AbstractProblem) -> str | None:
        """What the integrator says to the problem of one run."""
        assert isinstance(problem, LanedProblem)
        return self.integrator.refusal(problem.problem)

    def init(self, problem: LanedProblem, t, h, y: Packed) -> Any:
        """What each lane carries."""
        return over_lanes(self.integrator.init, problem.problem, t, h)(y)

    def step(self, problem: LanedProblem, t, h, y: Packed, carry: Any):
        """One step of every lane."""
        y, carry, info = over_lanes(self.integrator.step, problem.problem, t, h)(y, carry)
        return y, carry, StepInfo(info.result, jnp.max(info.iterations))
