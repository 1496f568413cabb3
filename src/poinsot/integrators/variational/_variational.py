"""The variational integrator of the midpoint rule, on the surface of constraints."""

import jax
import jax.numpy as jnp
from jaxtyping import Array

from poinsot.core import AbstractConstrained, AbstractProblem, Packed, StepInfo
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators.constrained._fit import (
    CONVERGED,
    dense_refusal,
    mass_refusal,
    position_refusal,
    position_size,
    slack,
)
from poinsot.solvers import newton


class Variational(AbstractIntegrator):
    r"""The discrete Lagrangian $h L(q_m, v_m)$ made stationary on the surface of constraints; order 2.

    With $q_m = \tfrac12(q_0 + q_1)$, $v_m = (q_1 - q_0)/h$ and the force $f = L_q + F$ there,

    $$ M(q_m)\,v_m = p_0 + \tfrac h2 f - h\,G(q_0)^T \lambda, \qquad g(t_1, q_1) = 0, \qquad
       p_1 = P(q_1)\big(M(q_m)\,v_m + \tfrac h2 f\big) $$

    where $P$ takes the part of a momentum along the surface. As a map of positions and momenta it may be
    composed, and takes steps of any size and sign. Symmetric and symplectic on the surface; keeps the momenta
    of linear symmetries, and both constraints to round-off.

    The mass may be singular across the surface, but then a step carries only so much: a body in quaternions
    with $\sigma = 0$ that turns by $\theta$ about a principal axis has the momentum $J \sin(\theta)/h$, so
    that a start with $h\Omega > 1$ has no next step.

    The first guess is the parabola through the last position and its own, with the velocity here.

    The unknowns of a chain are solved for along it, at a cost in proportion to the number of bodies.
    """

    @property
    def traits(self) -> Traits:
        """Order 2, symmetric, symplectic on the surface."""
        return Traits(
            name="variational midpoint",
            order=2,
            symmetric=True,
            symplectic=True,
            conserves=frozenset({"linear", "bilinear"}),
            needs="constrained",
            holds_joints=True,
            reference="Xu, Zhong, Numerical influences of inertia representation for rigid bodies, (72)",
        )

    def refusal(self, problem: AbstractProblem) -> str | None:
        """Needs constraints on positions and a Lagrangian."""
        reason = super().refusal(problem) or position_refusal(problem) or mass_refusal(problem)
        return reason or dense_refusal(problem, "qg")

    def init(self, problem: AbstractConstrained, t, h, y: Packed) -> Array:
        """The acceleration at the start, for the first guess."""
        q, p = problem.split(y)
        return problem.acceleration(t, q, problem.velocity(t, q, p))[0]

    def step(self, problem: AbstractConstrained, t, h, y: Packed, carry: Array):
        """One step, see the class."""
        q0, p0 = problem.split(y)
        n, middle = q0.shape[0], t + 0.5 * h

        def force(q1):
            q, v = 0.5 * (q0 + q1), (q1 - q0) / h
            return jax.grad(problem.lagrangian, argnums=1)(middle, q, v) + problem.load(middle, q, v)

        def residual(x):
            # Times h throughout: the unknown h^2 lambda keeps the equations well scaled for small steps.
            q1, scaled = x[:n], x[n:]
            moved = problem.momentum(0.5 * (q0 + q1), q1 - q0)
            balance = moved - h * (p0 + 0.5 * h * force(q1)) + problem.normal(t, q0, scaled)
            return jnp.concatenate([balance, problem.constraint(t + h, q1)])

        v0 = problem.velocity(t, q0, p0)
        parabola = q0 + h * (v0 + 0.5 * h * carry)
        guess = jnp.concatenate([parabola, jnp.zeros_like(problem.constraint(t, q0))])
        size = position_size(problem, q0, parabola)
        blocks, shift = problem.blocks("qg", forces=True), slack(problem, t, q0, n)
        x, info = newton(residual, guess, lambda dx: size(dx[:n]), CONVERGED, blocks, shift)
        q1, scaled = x[:n], x[n:]
        # The same as M v_m + h f / 2, without the round-off of q_1 divided by h.
        p1 = problem.tangent_momentum(t + h, q1, p0 + h * force(q1) - problem.normal(t, q0, scaled / h))
        acceleration = 2.0 * (problem.velocity(t + h, q1, p1) - (q1 - q0) / h) / h
        return jnp.concatenate([q1, p1]), acceleration, StepInfo.implicit(info.converged, info.iterations)
