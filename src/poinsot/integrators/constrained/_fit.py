"""What methods that impose constraints ask of a problem beyond its kind."""

import jax.numpy as jnp
from jaxtyping import Array

from poinsot.core import PLACING, AbstractConstrained, AbstractProblem
from poinsot.solvers import EPS, Stopping

CONVERGED = Stopping(tolerance=1e-4, max_iterations=30)
"""Newton's method doubles the digits at each iteration: the tolerance costs nothing."""


def slack(problem: AbstractConstrained, t, q: Array, others: int) -> Array | None:
    """The shift for unknowns of which multipliers come after so many others; None where none is needed."""
    diagonal = problem.slack(t, q)
    return None if diagonal is None else jnp.concatenate([jnp.zeros(others), -PLACING * diagonal])


def position_refusal(problem: AbstractProblem) -> str | None:
    """Why the constraints on positions cannot be imposed, or None if they can."""
    if isinstance(problem, AbstractConstrained) and problem.index != 3:
        return (
            f"imposes the constraints on positions, but the form of index {problem.index} contains those on "
            "velocities alone; take the form 'index3'"
        )
    return None


def hamiltonian_refusal(problem: AbstractProblem) -> str | None:
    """Why there is no Hamiltonian on the whole space, or None if there is one."""
    if isinstance(problem, AbstractConstrained) and not problem.regular:
        return "needs a mass matrix that can be inverted; here it is singular, which Variational() can take"
    return None


def dense_refusal(problem: AbstractProblem, unknowns: str) -> str | None:
    """Why there are too many such unknowns, or None where they are few or have structure."""
    if not isinstance(problem, AbstractConstrained) or problem.blocks(unknowns, forces=True) is not None:
        return None
    return problem.dense_refusal


def mass_refusal(problem: AbstractProblem) -> str | None:
    """Why momenta do not follow from velocities, or None if they do."""
    if isinstance(problem, AbstractConstrained) and not problem.massive:
        return (
            "needs a mass matrix; in the form 'hamiltonian' with joints there is a Hamiltonian alone; take "
            "the form 'index3', or ConstrainedGauss()"
        )
    return None


def length_refusal(problem: AbstractProblem) -> str | None:
    """Why a method that keeps no quadratic invariants of positions cannot be used, or None if it can."""
    if isinstance(problem, AbstractConstrained) and not problem.massive:
        return (
            "does not keep the length of quaternions, which the form 'hamiltonian' with joints leaves to the "
            "integrator; take the form 'index3', or ConstrainedGauss()"
        )
    return None


def position_size(problem: AbstractConstrained, q: Array, guess: Array):
    """Size of a change of positions, in units of round-off of those at the start and at the guessed end."""
    unit = EPS * jnp.maximum(problem.extent(q), problem.extent(guess)) + 1e-300
    return lambda dq: jnp.max(jnp.abs(dq) / jnp.broadcast_to(unit, dq.shape))
