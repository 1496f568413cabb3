"""The implicit midpoint rule on the group."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Group, GroupParts, Packed, Wrench, each_body
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators.lie._kick import MOMENTA, Momenta, in_turned_frame, solve_momenta, with_load
from poinsot.rotation import multiply


class LieMidpoint(AbstractIntegrator):
    r"""The implicit midpoint rule with Cayley's map: symmetric, keeps spatial momenta; order 2.

    $$ \bar\Omega = \tfrac12 J^{-1}(m_0 + m_1), \qquad R_1 = R_0\,C, \quad
       C = \operatorname{cay}(h\,\bar\Omega), \qquad
       m_1 = C^T m_0 + h\,C^{-1/2}\,\tau(R_0 C^{1/2}), $$

    and the midpoint rule for the translations. The spatial momentum changes by $h$ times the spatial torque
    at the midpoint of the turn, so that momenta of symmetries are kept to round-off. For a free body the
    equation for $m$ is the midpoint rule for Euler's equations, and the energy is kept to round-off as well.
    Not symplectic: it keeps the form up to an error of third order in a step. Loads act at the midpoint.
    """

    @property
    def traits(self) -> Traits:
        """Order 2, symmetric, spatial momenta kept; not symplectic."""
        return Traits(
            name="Lie midpoint",
            order=2,
            symmetric=True,
            symplectic=False,
            conserves=MOMENTA,
            needs="group",
            reference="Austin, Krishnaprasad, Wang, J. Comput. Phys. 107 (1993)",
        )

    def init(self, problem: Group, t, h, y: Packed) -> None:
        """Nothing is carried from step to step."""

    def step(self, problem: Group, t, h, y: Packed, carry: None):
        """One step, see the class."""
        x, p, g, m = problem.split(y)
        start = Momenta(p, m)

        def update(end: Momenta) -> Momenta:
            mean, middle, half_turns = _middle(problem, h, start, end)
            position, element = x + 0.5 * h * problem.velocity(mean.p), problem.turn(g, half_turns)
            own = problem.wrench(t + 0.5 * h, position, element)
            wrench = with_load(problem, t + 0.5 * h, position, element, mean, own)
            return Momenta(
                p + h * wrench.force, each_body(in_turned_frame)(half_turns, middle + h * wrench.torque)
            )

        own = problem.wrench(t, x, g)
        gyroscopic = each_body(jnp.cross)(m, problem.omega(m))
        guess = start.pushed(h, Wrench(own.force, own.torque + gyroscopic))
        end, info = solve_momenta(problem, y, h, own, guess, update)
        mean, _, half_turns = _middle(problem, h, start, end)
        x = x + h * problem.velocity(mean.p)
        g = problem.turn(g, each_body(multiply)(half_turns, half_turns))
        return problem.join(GroupParts(x, end.p, g, end.m)), None, info


def _middle(problem: Group, h, start: Momenta, end: Momenta) -> tuple[Momenta, Array, Array]:
    """Mean momenta, the first momentum in the middle frame, and the turns to there as quaternions."""
    mean = Momenta(0.5 * (start.p + end.p), 0.5 * (start.m + end.m))
    half_turns = each_body(lambda Omega: _half_cayley(0.5 * h * Omega))(problem.omega(mean.m))
    return mean, each_body(in_turned_frame)(half_turns, start.m), half_turns


def _half_cayley(a: Float[Array, "3"]) -> Float[Array, "4"]:
    r"""Unit quaternion of $\operatorname{cay}(2a)^{1/2}$.

    That of $\operatorname{cay}(2a)$ is $(1, a)/\rho$ with $\rho = \sqrt{1+a^2}$, and half the turn
    $(1 + \rho, a)/\sqrt{2\rho\,(1+\rho)}$.
    """
    rho = jnp.sqrt(1.0 + jnp.sum(a * a))
    return jnp.concatenate([(1.0 + rho)[None], a]) / jnp.sqrt(2.0 * rho * (1.0 + rho))
