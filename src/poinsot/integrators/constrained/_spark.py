"""Symplectic methods of high order on the surface of constraints: Gauss and Lobatto."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import (
    PLACING,
    AbstractConstrained,
    AbstractProblem,
    Packed,
    StepInfo,
    check_argument,
    one_block,
    whole,
)
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators.coefficients.collocation import MOST_STAGES
from poinsot.integrators.coefficients.spark import SparkCoefficients, gauss_lobatto, lobatto_lobatto
from poinsot.integrators.constrained._fit import (
    dense_refusal,
    hamiltonian_refusal,
    length_refusal,
    position_refusal,
    position_size,
)
from poinsot.solvers import Elimination, Stopping, fixed_point, linearised

FAMILIES = {
    "gauss": (gauss_lobatto, whole(1, MOST_STAGES - 1)),
    "lobatto": (lobatto_lobatto, whole(2, MOST_STAGES)),
}
"""Coefficients of each family, and its numbers of stages."""


class Stages(NamedTuple):
    """What a step solves for."""

    rates: Float[Array, "s n"]
    r"""$H_p$ at the inner nodes."""
    forces: Float[Array, "s n"]
    r"""$-H_q$ there, with the loads."""
    multipliers: Float[Array, "k m"]
    r"""$h^2\Lambda$ at the outer nodes, without the last."""


class Spark(AbstractIntegrator):
    r"""Symplectic partitioned Runge-Kutta methods that hold positions and velocities to constraints.

    $$ \begin{aligned}
       Q_i &= q_0 + h\sum_j a_{ij} H_p(Q_j, P_j), \qquad
       \tilde Q_i = q_0 + h\sum_j \bar a_{ij} H_p(Q_j, P_j), \qquad g(\tilde t_i, \tilde Q_i) = 0 \\
       P_i &= p_0 - h\sum_j \hat a_{ij} H_q(Q_j, P_j)
              - h\sum_j \tilde a_{ij}\, G(\tilde Q_j)^T\Lambda_j \\
       q_1 &= q_0 + h\sum_j b_j H_p(Q_j, P_j), \qquad
       p_1 = p_0 - h\sum_j b_j H_q(Q_j, P_j) - h\sum_j \tilde b_j\, G(\tilde Q_j)^T\Lambda_j, \qquad
       G(q_1) H_p(q_1, p_1) + g_t = 0
       \end{aligned} $$

    The family "gauss" has $s$ Gauss nodes $Q_i$ and $s + 1$ Lobatto nodes $\tilde Q_i$, and order $2s$; in
    "lobatto" both are the same $s$ Lobatto nodes, and the order is $2s - 2$. Gauss with one stage is the
    midpoint rule of `Variational`, Lobatto with two stages is `Rattle`. Symmetric and symplectic on the
    surface; keeps the momenta of linear symmetries, and both constraints to round-off.

    The equations are solved by repeated substitution, in which multipliers are corrected by a matrix of their
    own, found and eliminated once in a step; where the constraints are in a row it is block-tridiagonal. As
    with every such iteration, steps must resolve the fastest rotation and the stiffest potential.

    Args:
        family: "gauss" or "lobatto".
        stages: number of inner nodes; at least 1, for "lobatto" 2.
    """

    family: Literal["gauss", "lobatto"] = eqx.field(default="gauss", static=True)
    stages: int = eqx.field(default=2, static=True)

    def __check_init__(self):
        check_argument(self.stages, f"stages of Spark({self.family!r})", FAMILIES[self.family][1])

    @property
    def coefficients(self) -> SparkCoefficients:
        """Those of the family."""
        return FAMILIES[self.family][0](self.stages)

    @property
    def traits(self) -> Traits:
        """Symmetric, symplectic on the surface."""
        return Traits(
            name=self.coefficients.name,
            order=self.coefficients.order,
            symmetric=True,
            symplectic=True,
            conserves=frozenset({"linear", "bilinear"}),
            needs="constrained",
            holds_joints=True,
            reference=self.coefficients.reference,
        )

    def refusal(self, problem: AbstractProblem) -> str | None:
        """Needs constraints on positions and a Hamiltonian."""
        reason = super().refusal(problem) or position_refusal(problem) or hamiltonian_refusal(problem)
        if reason is None and self.family == "lobatto":
            reason = length_refusal(problem)
        return reason or dense_refusal(problem, "g")

    def init(self, problem: AbstractConstrained, t, h, y: Packed) -> Stages:
        """Stages of a motion with the acceleration, forces and multipliers of the start."""
        q, p = problem.split(y)
        nodes, outer = self.coefficients.nodes, len(self.coefficients.outer_nodes) - 1
        v = problem.velocity(t, q, p)
        acceleration, multipliers = problem.acceleration(t, q, v)
        forces = jnp.tile(-problem.dHdq(t, q, p)[None], (len(nodes), 1))
        scaled = jnp.tile(h * h * multipliers[None], (outer, 1))
        return Stages(v[None] + (h * nodes)[:, None] * acceleration[None], forces, scaled)

    def step(self, problem: AbstractConstrained, t, h, y: Packed, carry: Stages):
        """One step, see the class."""
        on, at = self.coefficients, _Step(problem, self.coefficients, t, h, y)
        solve, size = at.closing(carry), position_size(problem, at.q0, at.q0 + h * (on.weights @ carry.rates))

        def substitute(x: Stages) -> Stages:
            Q, P = at.inner(x)
            rates, forces = jax.vmap(problem.dHdp)(Q, P), -jax.vmap(problem.dHdq)(at.times, Q, P)
            return Stages(rates, forces, x.multipliers - solve(at.gaps(rates)))

        def changed(change: Stages) -> Array:
            pushed = jax.vmap(lambda one: problem.dHdp(at.q0, problem.normal(t, at.q0, one)))
            return jnp.maximum(size(h * change.rates), size(pushed(change.multipliers)))

        x, info = fixed_point(substitute, carry, changed, Stopping())
        q1 = at.q0 + h * (on.weights @ x.rates)
        pushed = on.outer_weights[:-1] @ at.normals(x)
        p1 = problem.tangent_momentum(t + h, q1, at.p0 + h * (on.weights @ x.forces) - pushed / h)
        step = StepInfo.implicit(info.converged, info.iterations)
        return jnp.concatenate([q1, p1]), self._continued(x), step

    def _continued(self, x: Stages) -> Stages:
        """A guess of the next step: the polynomials through the stages of this one, continued."""
        on = self.coefficients
        inner, outer = (jnp.asarray(_continuation(nodes)) for nodes in (on.nodes, on.outer_nodes[:-1]))
        return Stages(inner @ x.rates, inner @ x.forces, outer @ x.multipliers)


class _Step:
    """The equations of one step."""

    def __init__(self, problem: AbstractConstrained, on: SparkCoefficients, t, h, y: Packed):
        self.problem, self.on, self.t, self.h = problem, on, t, h
        self.q0, self.p0 = problem.split(y)
        self.times, self.outer_times = t + on.nodes * h, t + on.outer_nodes * h

    def normals(self, x: Stages) -> Float[Array, "k n"]:
        """Constraint forces at the outer nodes, without the last."""
        Q = self.q0[None] + self.h * (self.on.outer_positions[:-1] @ x.rates)
        return jax.vmap(self.problem.normal)(self.outer_times[:-1], Q, x.multipliers)

    def inner(self, x: Stages) -> tuple[Float[Array, "s n"], Float[Array, "s n"]]:
        """Positions and momenta at the inner nodes."""
        on, h = self.on, self.h
        pushes = on.outer_momenta[:, :-1] @ self.normals(x)
        Q = self.q0[None] + h * (on.positions @ x.rates)
        return Q, self.p0[None] + h * (on.momenta @ x.forces) - pushes / h

    def gaps(self, rates: Float[Array, "s n"]) -> Float[Array, "k m"]:
        """Constraints at the outer nodes, without the first."""
        Q = self.q0[None] + self.h * (self.on.outer_positions[1:] @ rates)
        return jax.vmap(self.problem.constraint)(self.outer_times[1:], Q)

    def closing(self, guess: Stages) -> Callable[[Float[Array, "k m"]], Float[Array, "k m"]]:
        """Return a function that finds the changes of the multipliers that open constraints by given gaps.

        Its matrix is that of a guess, eliminated once. It does not count in derivatives, since there is no
        gap in the solution. Without constraints there are neither gaps nor multipliers.
        """
        problem, on = self.problem, self.on
        count, rows = guess.multipliers.shape
        if rows == 0:
            return lambda gaps: gaps
        blocks = problem.blocks("g" * count, forces=False) or one_block(count * rows)
        slack = problem.slack(self.t, self.q0)

        def opened(change: Float[Array, " km"]) -> Float[Array, " km"]:
            more = change.reshape(count, rows)
            Q, P = self.inner(guess._replace(multipliers=guess.multipliers + more))
            gaps = self.gaps(jax.vmap(problem.dHdp)(Q, P))
            if slack is not None:
                gaps = gaps - PLACING * (on.mobility @ more) * slack[None]
            return gaps.reshape(-1)

        _, matrix = linearised(opened, jnp.zeros(count * rows), blocks)
        factors = Elimination(lax.stop_gradient(matrix.completed(blocks)))
        return lambda gaps: blocks.join(factors.solve(blocks.split(gaps.reshape(-1)))).reshape(gaps.shape)


def _continuation(nodes: Float[np.ndarray, " s"]) -> Float[np.ndarray, "s s"]:
    """The matrix that continues a polynomial from these nodes to the same nodes a step later."""
    powers = np.arange(len(nodes))[None]
    return (nodes[:, None] + 1.0) ** powers @ np.linalg.inv(nodes[:, None] ** powers)


def ConstrainedGauss(stages: int = 2) -> Spark:
    """Gauss on the surface of constraints, order twice the number of stages; see `Spark`."""
    return Spark("gauss", stages)


def ConstrainedLobatto(stages: int = 3) -> Spark:
    """The Lobatto IIIA-IIIB pair on the surface of constraints, order `2 stages - 2`; see `Spark`."""
    return Spark("lobatto", stages)
