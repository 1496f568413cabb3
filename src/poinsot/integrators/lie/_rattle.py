"""The discrete-Lagrangian method of order 2 on the group."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Group, GroupParts, Packed, StepInfo, Wrench, each_body
from poinsot.integrators._base import Traits
from poinsot.integrators.lie._kick import (
    CONVERGED,
    MOMENTA,
    CarriesWrench,
    first_half,
    in_turned_frame,
    second_half,
)
from poinsot.rotation import quat_exp, stumpff
from poinsot.solvers import EPS, fixed_point


class LieRattle(CarriesWrench):
    r"""RATTLE on the group: the step that makes a discrete action stationary; symplectic, symmetric, order 2.

    From $L_d = \tfrac h2 \tfrac\xi h \cdot J \tfrac\xi h - \tfrac h2 (V_0 + V_1)$ with
    $R_1 = R_0 \exp\hat\xi$:

    $$ \tfrac1h J\,\xi = T_r(\xi)\,(m_0 + \tfrac h2 \tau_0), \qquad R_1 = R_0 \exp\hat\xi, \qquad
       m_1 = \exp(-\hat\xi)\,(m_0 + \tfrac h2 \tau_0) + \tfrac h2 \tau_1 . $$

    The rotation vector is found by a simplified Newton iteration with the derivative
    $J - \tfrac h2 \hat m$ at $\xi = 0$, which needs $h |\Omega|$ below about three.
    Translations go along by Störmer-Verlet with the same forces. Spatial momenta are kept to round-off, and
    flat bodies are welcome. One evaluation of the forces per step; loads that depend on velocities make the
    first kick implicit in them.
    """

    @property
    def traits(self) -> Traits:
        """Order 2, symmetric, symplectic, spatial momenta kept."""
        return Traits(
            name="Lie RATTLE",
            order=2,
            symmetric=True,
            symplectic=True,
            conserves=MOMENTA,
            needs="group",
            reference="Marsden, West, Acta Numerica 10 (2001); discrete Lagrangian in the exponential map",
        )

    def step(self, problem: Group, t, h, y: Packed, carry: Wrench):
        """One step, see the class."""
        x, _, g, _ = problem.split(y)
        half, info = first_half(problem, t, h, y, carry)
        xi, solved = _rotation_vectors(problem, h, half.m)
        turns = each_body(quat_exp)(xi)
        m = in_turned_frame(turns, half.m)
        x, g = x + h * problem.velocity(half.p), problem.turn(g, turns)
        own = problem.wrench(t + h, x, g)
        end = second_half(problem, t + h, h, x, g, half._replace(m=m), own)
        return problem.join(GroupParts(x, end.p, g, end.m)), own, info.then(solved)


def _rotation_vectors(problem: Group, h, m: Array) -> tuple[Float[Array, "3 turning"], StepInfo]:
    r"""Solve $J \xi = h\,T_r(\xi)\,m$ for every rotating body."""
    if problem.turning == 0:
        return h * problem.omega(m), StepInfo.explicit(())
    correct = each_body(lambda J, m, b: _solve_linearised(J, -0.5 * h * m, b))
    guess = correct(problem.inertia, m, h * m)
    unit = EPS * jnp.max(jnp.abs(guess)) + 1e-300

    def improved(xi):
        residual = problem.inertia * xi - h * each_body(_right_tangent)(xi, m)
        return xi - correct(problem.inertia, m, residual)

    xi, info = fixed_point(improved, guess, lambda change: jnp.max(jnp.abs(change)) / unit, CONVERGED)
    return xi, StepInfo.implicit(info.converged, info.iterations)


def _solve_linearised(J: Float[Array, "3"], a: Float[Array, "3"], b: Float[Array, "3"]) -> Float[Array, "3"]:
    r"""Solve $(\operatorname{diag} J + \hat a)\,x = b$.

    $$ x = \frac{\operatorname{adj}(J)\,b + (a \cdot b)\,a - (J a) \times b}{J_1 J_2 J_3 + a \cdot J a} $$
    """
    minors = jnp.stack([J[1] * J[2], J[2] * J[0], J[0] * J[1]])
    determinant = J[0] * minors[0] + jnp.sum(J * a * a)
    return (minors * b + jnp.sum(a * b) * a - jnp.cross(J * a, b)) / determinant


def _right_tangent(xi: Float[Array, "3"], m: Float[Array, "3"]) -> Float[Array, "3"]:
    r"""$T_r(\xi)\,m = m - c_2\,\xi \times m + c_3\,\xi \times (\xi \times m)$."""
    x = jnp.sum(xi * xi)
    across = jnp.cross(xi, m)
    return m - stumpff(2, x) * across + stumpff(3, x) * jnp.cross(xi, across)
