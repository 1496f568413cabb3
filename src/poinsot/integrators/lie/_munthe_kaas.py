"""Runge-Kutta-Munthe-Kaas methods."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Group, GroupParts, InputError, Packed, StepInfo, each_body, hold
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators._tableau import ButcherTableau
from poinsot.rotation import inverse_tangent_coefficient, quat_exp


class MuntheKaas(AbstractIntegrator):
    r"""An explicit Runge-Kutta method for the rotation vector from the start of the step (Munthe-Kaas).

    With $R = R_0 \exp\hat u$ the equation $\dot R = R\,\hat\Omega$ becomes $\dot u = T_r(u)^{-1}\,\Omega$
    on a vector space; stages and update are those of the tableau,

    $$ u_i = h \sum_{j<i} a_{ij}\,T_r(u_j)^{-1} \Omega_j, \qquad
       R_1 = R_0 \exp\Big(h \sum_i b_i\,T_r(u_i)^{-1} \Omega_i\Big)^{\wedge}, $$

    together with positions and momenta, whose part of the group is a vector space already. The inverse of the
    tangent map is used in closed form, not as a truncated series, so that every order of the tableau is kept.
    Rotations stay orthogonal; the rest is as for any explicit Runge-Kutta method. Turns of a step must stay
    below a full one.

    Args:
        tableau: coefficients of an explicit method, for instance `coefficients.rk4()`.
    """

    tableau: ButcherTableau = eqx.field(static=True)

    def __check_init__(self):
        if not self.tableau.explicit:
            raise InputError(f"tableau {self.tableau.name!r} is implicit; MuntheKaas takes an explicit one")

    def __repr__(self) -> str:
        return f"MuntheKaas({self.tableau.name})"

    @property
    def traits(self) -> Traits:
        """Order of the tableau."""
        return Traits(
            name=f"Munthe-Kaas {self.tableau.name}",
            order=self.tableau.order,
            symmetric=False,
            symplectic=False,
            conserves=frozenset({"linear"}),
            needs="group",
            reference="Munthe-Kaas, Appl. Numer. Math. 29 (1999)",
        )

    def init(self, problem: Group, t, h, y: Packed) -> None:
        """Nothing is carried from step to step."""

    def step(self, problem: Group, t, h, y: Packed, carry: None):
        """One step, see the class."""
        tableau, rates = self.tableau, []
        for row, node in zip(tableau.A_hi, tableau.c_hi, strict=True):
            stage, u = _moved(problem, h, y, row, rates)
            # Without the barrier XLA would evaluate the early stages again for every later one.
            rates.append(hold(_rates(problem, t + float(node) * h, stage, u)))
        parts, _ = _moved(problem, h, y, tableau.b_hi, rates)
        return problem.join(parts), None, StepInfo.explicit(())


def _moved(problem: Group, h, y: Packed, weights, rates: list[GroupParts]) -> tuple[GroupParts, Array]:
    """The state moved by a weighted sum of rates, and the rotation vector of the move."""
    x, p, g, m = problem.split(y)
    terms = [(float(w), rate) for w, rate in zip(weights, rates, strict=False) if w != 0.0]
    dx, dp, u, dm = (
        h * sum((w * rate[n] for w, rate in terms), jnp.zeros_like(like))
        for n, like in enumerate((x, p, m, m))
    )
    return GroupParts(x + dx, p + dp, problem.turn(g, each_body(quat_exp)(u)), m + dm), u


def _rates(problem: Group, t, stage: GroupParts, u: Array) -> GroupParts:
    """Rates of position, momentum, rotation vector and body angular momentum."""
    x, p, g, m = stage
    wrench = problem.total_wrench(t, x, g, p, m)
    Omega = problem.omega(m)
    torque = each_body(jnp.cross)(m, Omega) + wrench.torque
    return GroupParts(problem.velocity(p), wrench.force, each_body(_inverse_tangent)(u, Omega), torque)


def _inverse_tangent(u: Float[Array, "3"], Omega: Float[Array, "3"]) -> Float[Array, "3"]:
    r"""$T_r(u)^{-1}\,\Omega = \Omega + \tfrac12\,u \times \Omega + e\,u \times (u \times \Omega)$."""
    across = jnp.cross(u, Omega)
    return Omega + 0.5 * across + inverse_tangent_coefficient(jnp.sum(u * u)) * jnp.cross(u, across)
