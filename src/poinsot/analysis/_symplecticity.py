"""The symplecticity certificate of a one-step map."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Hamiltonian, InputError, Packed, Result, State, checked
from poinsot.core.types import IntScalar
from poinsot.integrators import AbstractIntegrator
from poinsot.kernels import once
from poinsot.simulation._validate import check_state, fixed_for


@dataclass(frozen=True)
class SymplecticityCertificate:
    """How far the derivative of one step is from a symplectic matrix."""

    h: float
    """Step size."""
    defect: float
    """Largest entry of the scaled defect; round-off for a symplectic method."""
    result: Result
    """Whether the step's implicit equations were solved; the defect means nothing else."""


@checked
def symplecticity(
    problem: Hamiltonian, integrator: AbstractIntegrator | str, state: State, h: float, *, t: float = 0.0
) -> SymplecticityCertificate:
    r"""Measure whether one step keeps the symplectic form.

    $$ \frac{\|D^T \Omega D - \Omega\|_{\max}}{\|D\|_2^2}, \qquad
       D = \frac{\partial \Phi_h(y)}{\partial y}, \quad
       \Omega = \begin{pmatrix} 0 & 1 \\ -1 & 0 \end{pmatrix} $$

    $D$ is found by automatic differentiation, with the implicit equations of the step differentiated by the
    implicit function theorem: an iteration that is merely unrolled leaves errors of 1e-12.

    Args:
        problem: a Hamiltonian one.
        integrator: the method, or its name.
        state: where to step from.
        h: step size.
        t: time of the step.
    """
    integrator = fixed_for(problem, integrator, "symplecticity")
    if not isinstance(problem, Hamiltonian):
        raise InputError(f"symplecticity is measured on a Hamiltonian problem, this one is {problem.kind!r}")
    y = check_state(problem, state, t)
    if y.ndim != 1:
        raise InputError(f"symplecticity takes one state, not a batch; the start has shape {y.shape}")
    D, result = step_derivative(
        problem, integrator, jnp.asarray(t, dtype=float), jnp.asarray(h, dtype=float), y
    )
    n = y.size // 2
    omega = jnp.block([[jnp.zeros((n, n)), jnp.eye(n)], [-jnp.eye(n), jnp.zeros((n, n))]])
    defect = jnp.max(jnp.abs(D.T @ omega @ D - omega)) / jnp.linalg.norm(D, 2) ** 2
    return SymplecticityCertificate(float(h), float(defect), Result(int(result)))


@once
def step_derivative(
    problem: Hamiltonian, integrator: AbstractIntegrator, t, h, y: Packed
) -> tuple[Float[Array, "n n"], IntScalar]:
    """Derivative of one step in the state, and the step's result."""

    def step(y):
        y1, _, info = integrator.step(problem, t, h, y, integrator.init(problem, t, h, y))
        return y1, info.result

    return jax.jacfwd(step, has_aux=True)(y)
