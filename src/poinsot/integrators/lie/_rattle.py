"""The discrete-Lagrangian method of order 2 on the group."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import (
    Group,
    GroupParts,
    Joints,
    Mobility,
    Packed,
    Rows,
    StepInfo,
    Wrench,
    placing,
)
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators.lie._kick import (
    CONVERGED,
    MOMENTA,
    Momenta,
    first_half,
    in_turned_frame,
    second_half,
)
from poinsot.rotation import hat, quat_exp, stumpff
from poinsot.solvers import EPS, fixed_point, measured_fixed_point


class Carried(NamedTuple):
    """What a step hands to the next one."""

    wrench: Wrench
    """Of the potential where the step ended."""
    forces: "JointForces | None"
    """Of the joints, from which those of the next step are guessed; None without joints."""


class JointForces(NamedTuple):
    """Forces of the joints as a function of time, known at a time with a slope."""

    value: Rows
    slope: Rows
    time: Array

    def at(self, time) -> Rows:
        """What they are expected to be at another time."""
        ahead = time - self.time
        return [value + ahead * slope for value, slope in zip(self.value, self.slope, strict=True)]

    def then(self, value: Rows, time, h, smooth: bool) -> "JointForces":
        """These with a new value.

        The slope between two values that are close in time is not trusted: steps may go back and forth.
        Nor is any where forces are not unique, since a part of them that does nothing would grow with it.
        """
        apart = time - self.time
        known = jnp.abs(apart) > 0.25 * jnp.abs(h)
        rate = jnp.where(known, 1.0 / jnp.where(known, apart, 1.0), 0.0)
        slope = [
            rate * (new - old) if smooth else jnp.zeros_like(new)
            for new, old in zip(value, self.value, strict=True)
        ]
        return JointForces(value, slope, jnp.asarray(time, dtype=float))


class LieRattle(AbstractIntegrator):
    r"""RATTLE on the group: the step that makes a discrete action stationary; symplectic, symmetric, order 2.

    From $L_d = \tfrac h2 \tfrac\xi h \cdot J \tfrac\xi h - \tfrac h2 (V_0 + V_1)$ with
    $R_1 = R_0 \exp\hat\xi$:

    $$ \tfrac1h J\,\xi = T_r(\xi)\,m_{1/2}, \qquad R_1 = R_0 \exp\hat\xi, \qquad
       m_1 = \exp(-\hat\xi)\,m_{1/2} + \tfrac h2 \tau_1, \qquad m_{1/2} = m_0 + \tfrac h2 \tau_0 . $$

    Translations go along by Störmer-Verlet with the same forces. Joints $g(t, x, R) = 0$ add
    $\tfrac h2 G_0^T \lambda$ to the momenta in the middle, with $\lambda$ such that they end up closed,
    and $G_1^T \mu$ to those at the end, with $\mu$ such that their rates vanish.

    The rotation vectors are found by a simplified Newton iteration with the derivative
    $J - \tfrac h2 \hat m$ at $\xi = 0$, which needs $h |\Omega|$ below about three; the forces of joints in
    the same iteration with the derivative of the gaps where the step is expected to end, or with
    $\tfrac{h^2}2 G_0 M^{-1} G_0^T$ where the joints are not independent. Spatial momenta are kept to
    round-off, and flat bodies are welcome. One evaluation of the forces per step; loads that depend on
    velocities make the first kick implicit in them.
    """

    @property
    def traits(self) -> Traits:
        """Order 2, symmetric, symplectic, spatial momenta kept, joints held."""
        return Traits(
            name="Lie RATTLE",
            order=2,
            symmetric=True,
            symplectic=True,
            conserves=MOMENTA,
            needs="group",
            holds_joints=True,
            reference="Marsden, West, Acta Numerica 10 (2001); discrete Lagrangian in the exponential map",
        )

    def init(self, problem: Group, t, h, y: Packed) -> Carried:
        """Wrench and joint forces at the start."""
        parts = problem.split(y)
        forces = None
        if problem.joints is not None:
            value = problem.joint_forces(t, y)
            forces = JointForces(value, [0.0 * one for one in value], jnp.asarray(t, dtype=float))
        return Carried(problem.wrench(t, parts.x, parts.g), forces)

    def step(self, problem: Group, t, h, y: Packed, carry: Carried):
        """One step, see the class."""
        x, _, g, _ = problem.split(y)
        half, info = first_half(problem, t, h, y, carry.wrench)
        forces = carry.forces
        if problem.joints is None or forces is None:
            xi, solved = _rotation_vectors(problem, h, half.m)
        else:
            # A force that does the same as one that changes evenly acts a third of the way along.
            when = t + h / 3.0
            guess = forces.at(when)
            half, xi, found, solved = _held(problem, problem.joints, (t, h), x, g, half, guess)
            forces = forces.then(found, when, h, problem.joints.independent)

        def turned(g, m, xi):
            turn = quat_exp(xi)
            return problem.element.turn(g, turn), in_turned_frame(turn, m)

        x = x + h * problem.velocity(half.p)
        g, m = problem.each(turned)(g, half.m, xi)
        own = problem.wrench(t + h, x, g)
        end = second_half(problem, t + h, h, x, g, half._replace(m=m), own)
        if problem.joints is not None:
            end = Momenta(*problem.along_joints(t + h, x, g, end.p, end.m))
        return problem.join(GroupParts(x, end.p, g, end.m)), Carried(own, forces), info.then(solved)


def _rotation_vectors(problem: Group, h, m: Array) -> tuple[Float[Array, "3 turning"], StepInfo]:
    r"""Solve $J \xi = h\,T_r(\xi)\,m$ for every rotating body."""
    if problem.turning == 0:
        return h * problem.omega(m), StepInfo.explicit(())
    correct = problem.each(lambda J, m, xi: _corrected(J, m, xi, h))
    guess = correct(problem.inertia, m, jnp.zeros_like(m))
    unit = EPS * jnp.max(jnp.abs(guess)) + 1e-300
    xi, info = fixed_point(
        lambda xi: correct(problem.inertia, m, xi),
        guess,
        lambda change: jnp.max(jnp.abs(change)) / unit,
        CONVERGED,
    )
    return xi, StepInfo.implicit(info.converged, info.iterations)


def _held(problem: Group, joints: Joints, grid: tuple, x: Array, g: Array, half: Momenta, forces: Rows):
    r"""Momenta in the middle of a step, rotation vectors and joint forces such that the joints end up closed.

    Newton's iteration for both together, with the derivatives where the guess of the forces leads to. A
    change is measured by what rotations and positions are known to: a unit of round-off of one, and of the
    largest position or the size of a body.
    """
    t, h = grid
    reach = joints.at(t, x, problem.rotation(g), placing(joints)[0])

    def pushed(forces: Rows) -> Momenta:
        return half.like(half.flat() + 0.5 * h * reach.pull(forces))

    def moved(now: Momenta) -> Array:
        return x + h * problem.velocity(now.p)

    def predicted(J, m, g):
        xi = _corrected(J, m, jnp.zeros(3), h)
        tangent, inverse = _tangent(xi), _linearised_inverse(J, -0.5 * h * m)
        slope = h * inverse @ tangent
        return xi, tangent, inverse, slope, tangent @ slope, turned(g, xi)

    def turned(g, xi):
        return problem.element.rotation(problem.element.turn(g, quat_exp(xi)))

    if not joints.independent:
        # A part of the forces that does nothing here would do something once the bodies have turned.
        forces = reach.solve(reach.push(joints.weights * reach.pull(forces)), 1)
    now = pushed(forces)
    xi, tangent, inverse, slope, turn, R = problem.each(predicted)(problem.inertia, now.m, g)
    closing = joints.closing(reach, t + h, moved(now), R, Mobility(h, turn))

    def owed(J, m, g, xi, tangent, inverse):
        own = inverse @ (h * _right_tangent(xi, m) - J * xi)
        return own, tangent @ own, turned(g, xi)

    def improved(unknowns):
        xi, forces = unknowns
        now = pushed(forces)
        own, turning, R = problem.each(owed)(problem.inertia, now.m, g, xi, tangent, inverse)
        ahead = closing.push(jnp.concatenate([jnp.zeros(x.size), turning.reshape(-1)]))
        gaps = zip(joints.gaps(t + h, moved(now), R), ahead, strict=True)
        impulses = closing.solve([-(gap + more) for gap, more in gaps])
        change = half.like(reach.pull(impulses))
        turn = problem.each(lambda own, slope, m: own + slope @ m)(own, slope, change.m)
        move = h * problem.velocity(change.p)
        forces = [force + 2.0 / h * one for force, one in zip(forces, impulses, strict=True)]
        return (xi + turn, forces), jnp.maximum(_largest(move) * position_unit, _largest(turn) / EPS)

    position_unit = 1.0 / (EPS * (problem.extent(x) + _largest(h * problem.velocity(half.p))))
    (xi, forces), info = measured_fixed_point(improved, (xi, list(forces)), CONVERGED)
    return pushed(forces), xi, forces, StepInfo.implicit(info.converged, info.iterations)


def _largest(values: Array) -> Array:
    return jnp.max(jnp.abs(values), initial=0.0)


def _corrected(J: Array, m: Array, xi: Array, h) -> Float[Array, "3"]:
    r"""A rotation vector after a correction towards $J \xi = h\,T_r(\xi)\,m$."""
    return xi - _solve_linearised(J, -0.5 * h * m, J * xi - h * _right_tangent(xi, m))


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


def _tangent(xi: Float[Array, "3"]) -> Float[Array, "3 3"]:
    r"""The matrix $T_r(\xi)$."""
    x = jnp.sum(xi * xi)
    across = hat(xi)
    return jnp.eye(3) - stumpff(2, x) * across + stumpff(3, x) * (across @ across)


def _linearised_inverse(J: Float[Array, "3"], a: Float[Array, "3"]) -> Float[Array, "3 3"]:
    r"""The inverse of $\operatorname{diag} J + \hat a$, see `_solve_linearised`."""
    minors = jnp.stack([J[1] * J[2], J[2] * J[0], J[0] * J[1]])
    determinant = J[0] * minors[0] + jnp.sum(J * a * a)
    return (jnp.diag(minors) + a[:, None] * a[None] - hat(J * a)) / determinant
