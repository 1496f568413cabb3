"""Stiffly accurate Runge-Kutta methods for constrained systems of index 2 and 3."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from poinsot.core import AbstractConstrained, AbstractProblem, InputError, Packed, StepInfo
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators._tableau import ButcherTableau
from poinsot.integrators.constrained._fit import CONVERGED, dense_refusal, mass_refusal, position_size, slack
from poinsot.solvers import newton


class ConstrainedRungeKutta(AbstractIntegrator):
    r"""A stiffly accurate Runge-Kutta method on the differential-algebraic equations themselves.

    The stages have unknown velocities $V_i$ and multipliers $\Lambda_i$,

    $$ Q_i = q_0 + h \sum_j a_{ij} V_j, \qquad
       M(Q_i) V_i = p_0 + h \sum_j a_{ij} \big[L_q + F - G(Q)^T \Lambda\big]_j $$

    and satisfy $g(t_i, Q_i) = 0$ when the problem has index 3, $G(Q_i) V_i + g_t = 0$ when it has index 2.
    The result is the last stage, its momentum without the part across the surface.

    Positions and momenta then have the order of the tableau for both indices, $2s - 1$ for Radau IIA with $s$
    stages, $2s - 2$ for Lobatto IIIC. At index 3 velocities of the last stage itself have no more than order
    $s$ for Radau IIA, all of the loss being across the surface. At index 2 the constraints on positions are
    not imposed and drift with the error of the method. Energy is damped.

    The unknowns of a chain are solved for along it, at a cost in proportion to the number of bodies.

    Args:
        tableau: the coefficients; `RadauIIA(3).tableau` or `LobattoIIIC(3).tableau`.
    """

    tableau: ButcherTableau = eqx.field(static=True)

    def __check_init__(self):
        tableau = self.tableau
        if tableau.A[-1] != tableau.b or np.linalg.matrix_rank(tableau.A_hi) < tableau.stages:
            raise InputError(
                f"tableau {tableau.name!r} is not stiffly accurate with a regular matrix, so that the result "
                "would leave the constraints; take that of RadauIIA or LobattoIIIC"
            )

    def __repr__(self) -> str:
        return f"ConstrainedRungeKutta({self.tableau.name})"

    @property
    def traits(self) -> Traits:
        """Those of the tableau."""
        return Traits(
            name=f"{self.tableau.name} with constraints",
            order=self.tableau.order,
            symmetric=False,
            symplectic=False,
            conserves=frozenset({"linear"}),
            needs="constrained",
            holds_joints=True,
            reference="Hairer, Lubich, Roche, Numerical Solution of Differential-Algebraic Systems (1989)",
        )

    def refusal(self, problem: AbstractProblem) -> str | None:
        """Needs a Lagrangian."""
        return super().refusal(problem) or mass_refusal(problem) or dense_refusal(problem, "qg")

    def init(self, problem: AbstractConstrained, t, h, y: Packed) -> None:
        """Nothing is carried."""

    def step(self, problem: AbstractConstrained, t, h, y: Packed, carry: None):
        """One step, see the class."""
        q0, p0 = problem.split(y)
        n, A, times = q0.shape[0], self.tableau.A_hi, t + self.tableau.c_hi * h
        v0 = problem.velocity(t, q0, p0)
        acceleration, multipliers = problem.acceleration(t, q0, v0)
        stages = A.shape[0]

        def force(t, q, v, multipliers):
            slope = jax.grad(problem.lagrangian, argnums=1)(t, q, v)
            return slope + problem.load(t, q, v) - problem.normal(t, q, multipliers)

        def parts(x):
            X = x.reshape(stages, -1)
            V, scaled = X[:, :n], X[:, n:]
            Q = q0[None] + h * (A @ V)
            return Q, V, p0[None] + h * (A @ jax.vmap(force)(times, Q, V, scaled))

        def residual(x):
            Q, V, P = parts(x)
            if problem.index == 3:
                held = jax.vmap(problem.constraint)(times, Q)
            else:
                held = jax.vmap(problem.constraint_rate)(times, Q, V)
            return jnp.concatenate([jax.vmap(problem.momentum)(Q, V) - P, held], axis=1).ravel()

        V = v0[None] + (h * self.tableau.c_hi)[:, None] * acceleration[None]
        guess = jnp.concatenate([V, jnp.broadcast_to(multipliers, (stages, multipliers.size))], axis=1)
        size = position_size(problem, q0, q0 + h * (v0 + 0.5 * h * acceleration))

        def moved(dx):
            return size(h * dx.reshape(stages, -1)[:, :n])

        blocks = problem.blocks("qg" * stages, forces=True)
        shift = slack(problem, t, q0, n)
        if shift is not None:
            shift = jnp.tile(shift * (h * h if problem.index == 3 else h), stages)
        x, info = newton(residual, guess.ravel(), moved, CONVERGED, blocks, shift)
        Q, _, P = parts(x)
        q1 = Q[-1]
        p1 = problem.tangent_momentum(t + h, q1, P[-1])
        return jnp.concatenate([q1, p1]), None, StepInfo.implicit(info.converged, info.iterations)
