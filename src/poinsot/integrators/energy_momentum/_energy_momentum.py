"""Energy-momentum methods: Hamilton's equations with a discrete gradient."""

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array

from poinsot.core import AbstractConstrained, AbstractProblem, Hamiltonian, Packed, StepInfo
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators.constrained._fit import (
    CONVERGED,
    hamiltonian_refusal,
    position_refusal,
    position_size,
    slack,
)
from poinsot.solvers import EPS, Stopping, fixed_point, newton, safeguarded_fixed_point

FEW = 64
"""Numbers in a state up to which Newton's method may take over from repeated substitution."""


class EnergyMomentum(AbstractIntegrator):
    r"""Hamilton's equations with the discrete gradient of the problem; order 2.

    $$ q_1 = q_0 + h\,\bar\nabla_p H, \qquad
       p_1 = p_0 - h\,\bar\nabla_q H - h\,\bar\nabla (\lambda\cdot g), \qquad g(t_1, q_1) = 0 $$

    on a Hamiltonian problem without the constraint. Since $\bar\nabla H \cdot \Delta y$ is the change of
    energy and $\bar\nabla(\lambda\cdot g)\cdot\Delta q$ that of $\lambda\cdot g$, which is zero, the energy
    is kept to round-off. For quadratic constraints, such as those of directors and unit quaternions, the
    discrete gradient of $\lambda\cdot g$ is $G(q_m)^T\lambda$ at the midpoint $q_m = \tfrac12(q_0 + q_1)$.

    A problem whose discrete gradients respect a symmetry, on the surface and next to it, keeps its momentum
    as well. The gradient of bodies does when every potential declares its invariants, Gonzalez' does not; of
    directors the columns do, the rows do not.

    With constraints the positions are held, the velocities are not: their part across the surface alternates
    from step to step, and the multipliers with it, whose means over two steps have order 2. A composition
    therefore reaches order 4 and no more.

    Loads act at the midpoint.

    Without constraints the equations of a step are solved by repeated substitution; where that diverges, a
    state of up to 64 numbers is solved for by Newton's method.

    Without constraints a step costs in proportion to the number of bodies. With them it does not: the
    correction that makes the gradient a discrete one couples all bodies, the matrix of Newton's method is
    dense, and the cost grows with the third power of their number. For chains take the form "hamiltonian".
    """

    @property
    def traits(self) -> Traits:
        """Order 2, symmetric, keeps the energy."""
        return Traits(
            name="energy-momentum",
            order=2,
            symmetric=True,
            symplectic=False,
            conserves=frozenset({"energy"}),
            needs="hamiltonian",
            holds_joints=True,
            reference="Gonzalez, Time integration and discrete Hamiltonian systems (1996), (16)",
        )

    @property
    def holds_velocity(self) -> bool:
        """Never: their part across the surface alternates."""
        return False

    def refusal(self, problem: AbstractProblem) -> str | None:
        """Takes Hamiltonian problems, and those with constraints on positions that have a Hamiltonian."""
        if isinstance(problem, AbstractConstrained):
            return position_refusal(problem) or hamiltonian_refusal(problem) or problem.dense_refusal
        return super().refusal(problem)

    def claims(self, problem: AbstractProblem) -> Traits:
        """The energy is kept where time does not enter."""
        claims = super().claims(problem)
        assert isinstance(problem, (Hamiltonian, AbstractConstrained))
        return claims if problem.autonomous else replace(claims, conserves=frozenset())

    def init(self, problem: Hamiltonian | AbstractConstrained, t, h, y: Packed) -> tuple[Array, Array] | None:
        """Acceleration and multipliers for the first guess, where there are constraints."""
        if not isinstance(problem, AbstractConstrained):
            return None
        q, p = problem.split(y)
        return problem.acceleration(t, q, problem.velocity(t, q, p))

    def step(self, problem: Hamiltonian | AbstractConstrained, t, h, y: Packed, carry):
        """One step, see the class."""
        if isinstance(problem, AbstractConstrained):
            y1, carry, info = _on_surface(problem, t, h, y, carry)
        else:
            y1, info = _free(problem, t, h, y)
        return y1, carry, StepInfo.implicit(info.converged, info.iterations)


def _free(problem: Hamiltonian, t, h, y: Packed):
    """Without constraints: repeated substitution, and of few numbers Newton's method where that fails."""
    q0, p0 = problem.split(y)
    middle, lanes = t + 0.5 * h, problem.lanes(y)
    gradient = problem.discrete_gradient
    for _ in lanes:
        gradient = jax.vmap(gradient, in_axes=(None, -1, -1, -1, -1), out_axes=-1)

    def substitute(y1):
        q1, p1 = problem.split(y1)
        along_q, along_p = gradient(middle, q0, p0, q1, p1)
        if problem.force is not None:
            along_q -= problem.force(middle, 0.5 * (q0 + q1), 0.5 * (p0 + p1), problem.params)
        return y + h * jnp.concatenate([along_p, -along_q])

    guess = y + h * problem.vector_field(t, y)
    unit = EPS * (problem.magnitude(y) + problem.magnitude(guess)) + 1e-300
    components = tuple(range(y.ndim - len(lanes)))
    solve = safeguarded_fixed_point if y.shape[0] <= FEW else fixed_point
    return solve(substitute, guess, lambda dy: jnp.max(jnp.abs(dy) / unit, axis=components), Stopping())


def _on_surface(problem: AbstractConstrained, t, h, y: Packed, carry: tuple[Array, Array]):
    r"""With constraints: Newton's method for $q_1$, $p_1$ and the multipliers $h^2 \lambda$."""
    q0, p0 = problem.split(y)
    n, middle = q0.shape[0], t + 0.5 * h

    def residual(x):
        q1, p1, scaled = x[:n], x[n : 2 * n], x[2 * n :]
        along_q, along_p = problem.discrete_gradient(middle, q0, p0, q1, p1)
        q = 0.5 * (q0 + q1)
        push = along_q - problem.load(middle, q, problem.velocity(middle, q, 0.5 * (p0 + p1)))
        kick = h * (p1 - p0 + h * push) + problem.discrete_normal(middle, q0, q1, scaled)
        return jnp.concatenate([q1 - q0 - h * along_p, kick, problem.constraint(t + h, q1)])

    acceleration, multipliers = carry
    v0 = problem.velocity(t, q0, p0)
    q1 = q0 + h * (v0 + 0.5 * h * acceleration)
    p1 = problem.momentum(q1, v0 + h * acceleration)
    size = position_size(problem, q0, q1)
    guess = jnp.concatenate([q1, p1, h * h * multipliers])
    shift = slack(problem, t, q0, 2 * n)
    x, info = newton(residual, guess, lambda dx: size(dx[:n]), CONVERGED, None, shift)
    q1, p1, scaled = x[:n], x[n : 2 * n], x[2 * n :]
    acceleration = 2.0 * (problem.velocity(t + h, q1, p1) - (q1 - q0) / h) / h
    return x[: 2 * n], (acceleration, scaled / (h * h)), info
