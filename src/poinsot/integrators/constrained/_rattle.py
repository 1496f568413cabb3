"""RATTLE: Störmer-Verlet on the surface of constraints."""

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

from poinsot.core import AbstractConstrained, AbstractProblem, Packed, StepInfo
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators.constrained._fit import (
    CONVERGED,
    dense_refusal,
    hamiltonian_refusal,
    length_refusal,
    position_refusal,
    position_size,
    slack,
)
from poinsot.solvers import SolveInfo, newton


class Rattle(AbstractIntegrator):
    r"""RATTLE, which keeps positions and velocities on the surface of their constraints; order 2.

    $$ \begin{aligned}
       p_{1/2} &= p_0 - \tfrac h2 H_q(q_0, p_{1/2}) - \tfrac h2 G(q_0)^T \lambda \\
       q_1 &= q_0 + \tfrac h2 \big[H_p(q_0, p_{1/2}) + H_p(q_1, p_{1/2})\big], \qquad g(t_1, q_1) = 0 \\
       p_1 &= p_{1/2} - \tfrac h2 H_q(q_1, p_{1/2}) - \tfrac h2 G(q_1)^T \mu, \qquad
       G(q_1) H_p(q_1, p_1) + g_t = 0
       \end{aligned} $$

    Symmetric and symplectic on the surface; keeps the momenta of linear symmetries, and both constraints to
    round-off. With a constant mass only the multipliers are unknown; else all of $p_{1/2}, q_1, \lambda$ are
    (the general Störmer-Verlet method). Loads act with the potential forces. The unknowns of each body have
    equations of their own, so that a step costs as much for each of many bodies.
    """

    @property
    def traits(self) -> Traits:
        """Order 2, symmetric, symplectic on the surface."""
        return Traits(
            name="RATTLE",
            order=2,
            symmetric=True,
            symplectic=True,
            conserves=frozenset({"linear", "bilinear"}),
            needs="constrained",
            holds_joints=True,
            reference="Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), VII (1.26)",
        )

    def refusal(self, problem: AbstractProblem) -> str | None:
        """Needs constraints on positions and a mass that can be inverted."""
        return (
            super().refusal(problem)
            or position_refusal(problem)
            or hamiltonian_refusal(problem)
            or length_refusal(problem)
            or dense_refusal(problem, "qqg")
        )

    def init(self, problem: AbstractConstrained, t, h, y: Packed) -> Array:
        r"""A first guess of the multipliers $\lambda$, without derivatives: the solution has none in it."""
        q, p = problem.split(lax.stop_gradient(y))
        return problem.acceleration(t, q, problem.velocity(t, q, p))[1]

    def step(self, problem: AbstractConstrained, t, h, y: Packed, carry: Array):
        """One step, see the class."""
        q0, p0 = problem.split(y)
        explicit = problem.separable and problem.conservative
        move = _explicit_move if explicit else _implicit_move
        q1, half, multipliers, info = move(problem, t, h, q0, p0, carry)
        p1 = problem.tangent_momentum(t + h, q1, half - 0.5 * h * problem.dHdq(t + h, q1, half))
        return jnp.concatenate([q1, p1]), multipliers, StepInfo.implicit(info.converged, info.iterations)


def _explicit_move(
    problem: AbstractConstrained, t, h, q0: Array, p0: Array, guess: Array
) -> tuple[Array, Array, Array, SolveInfo]:
    r"""Constant mass: $q_1 = q_0 + h M^{-1} p_{1/2}$ is a function of the multipliers alone.

    The unknown is $\tfrac12 h^2 \lambda$, whose equations do not degenerate for small steps.
    """
    kicked = p0 - 0.5 * h * problem.dHdq(t, q0, p0)
    free = q0 + h * problem.dHdp(q0, kicked)

    def shift(scaled):
        return problem.dHdp(q0, problem.normal(t, q0, scaled))

    size = position_size(problem, q0, free)
    scaled, info = newton(
        lambda x: problem.constraint(t + h, free - shift(x)),
        0.5 * h * h * guess,
        lambda dx: size(shift(dx)),
        CONVERGED,
        problem.blocks("g", forces=False),
        slack(problem, t, q0, 0),
    )
    half = kicked - problem.normal(t, q0, scaled / h)
    return free - shift(scaled), half, 2.0 * scaled / (h * h), info


def _implicit_move(
    problem: AbstractConstrained, t, h, q0: Array, p0: Array, guess: Array
) -> tuple[Array, Array, Array, SolveInfo]:
    r"""Any mass: $p_{1/2}$, $q_1$ and the multipliers $\tfrac12 h^2 \lambda$ at once."""
    n = q0.shape[0]

    def residual(x):
        half, q1, scaled = x[:n], x[n : 2 * n], x[2 * n :]
        kick = half - p0 + 0.5 * h * problem.dHdq(t, q0, half)
        drift = 0.5 * h * (problem.dHdp(q0, half) + problem.dHdp(q1, half))
        return jnp.concatenate(
            [h * kick + problem.normal(t, q0, scaled), q1 - q0 - drift, problem.constraint(t + h, q1)]
        )

    half = p0 - 0.5 * h * (problem.dHdq(t, q0, p0) + problem.normal(t, q0, guess))
    rate = problem.dHdp(q0, half)
    q1 = q0 + 0.5 * h * (rate + problem.dHdp(q0 + h * rate, half))
    size = position_size(problem, q0, q1)
    x, info = newton(
        residual,
        jnp.concatenate([half, q1, 0.5 * h * h * guess]),
        lambda dx: size(dx[n : 2 * n]),
        CONVERGED,
        problem.blocks("qqg", forces=not problem.conservative),
        slack(problem, t, q0, 2 * n),
    )
    return x[n : 2 * n], x[:n], 2.0 * x[2 * n :] / (h * h), info
