"""The discrete-Lagrangian method of order 2 on the group."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Group, GroupParts, Packed, Rows, StepInfo, Wrench, along_joints, holding, reached
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators.lie._held import HeldStep, carried
from poinsot.integrators.lie._kick import (
    CONVERGED,
    MOMENTA,
    Momenta,
    first_half,
    in_turned_frame,
    second_half,
    with_load,
)
from poinsot.integrators.lie._rotation_equation import corrected
from poinsot.rotation import quat_exp
from poinsot.solvers import EPS, fixed_point


class Carried(NamedTuple):
    """What a step hands to the next one."""

    wrench: Wrench
    """Of the potential where the step ended."""
    forces: "JointForces | None"
    """Of the joints, from which those of the next step are guessed; None without joints."""


class JointForces(NamedTuple):
    """Forces of the joints, or their wrench, as a function of time, known at a time with a slope."""

    value: Rows
    slope: Rows
    time: Array

    def at(self, time) -> Rows:
        """What they are expected to be at another time."""
        ahead = time - self.time
        return [value + ahead * slope for value, slope in zip(self.value, self.slope, strict=True)]

    def then(self, value: Rows, time, h) -> "JointForces":
        """These with a new value.

        The slope between two values that are close in time is not trusted: steps may go back and forth.
        """
        apart = time - self.time
        known = jnp.abs(apart) > 0.25 * jnp.abs(h)
        rate = jnp.where(known, 1.0 / jnp.where(known, apart, 1.0), 0.0)
        slope = [rate * (new - old) for new, old in zip(value, self.value, strict=True)]
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
    the same iteration with the derivative of the gaps where the step is expected to end. It passes singular
    configurations of loops, also where forces of the joints grow beyond bounds. Spatial momenta are kept to
    round-off, and flat bodies are welcome. One evaluation of the forces per step; loads that depend on
    velocities make the first kick implicit in them, with joints the last one.
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
            reach = problem.joints.at(t, parts.x, problem.rotation(parts.g), 0.0)
            value = carried(problem.joints, reach, problem.joint_forces(t, y))
            forces = JointForces(value, [0.0 * one for one in value], jnp.asarray(t, dtype=float))
        return Carried(problem.wrench(t, parts.x, parts.g), forces)

    def step(self, problem: Group, t, h, y: Packed, carry: Carried):
        """One step, see the class."""
        x, p, g, m = problem.split(y)
        forces = carry.forces
        if problem.joints is None or forces is None:
            half, info = first_half(problem, t, h, y, carry.wrench)
            xi, solved = _rotation_vectors(problem, h, half.m)
        else:
            start, info = Momenta(p, m), StepInfo.explicit(())
            half = start.pushed(0.5 * h, with_load(problem, t, x, g, start, carry.wrench))
            # A force that does the same as one that changes evenly acts a third of the way along.
            when = t + h / 3.0
            guess = forces.at(when)
            held = HeldStep(problem, problem.joints, (t, h), x, g, half)
            half, xi, found, solved = held.solved(guess)
            forces = forces.then(found, when, h)

        def turned(g, m, xi):
            turn = quat_exp(xi)
            return problem.element.turn(g, turn), in_turned_frame(turn, m)

        x = x + h * problem.velocity(half.p)
        g, m = problem.each(turned)(g, half.m, xi)
        own, half, info = problem.wrench(t + h, x, g), half._replace(m=m), info.then(solved)
        if problem.joints is None:
            end = second_half(problem, t + h, h, x, g, half, own)
        else:
            end, solved = _along_joints(problem, t + h, h, x, g, half.pushed(0.5 * h, own))
            info = info.then(solved)
        return problem.join(GroupParts(x, end.p, g, end.m)), Carried(own, forces), info


def _along_joints(problem: Group, t, h, x: Array, g: Array, ahead: Momenta) -> tuple[Momenta, StepInfo]:
    r"""Momenta at the end of a step, along the joints, from those that lack joints and loads.

    Loads act there as the end of a kick that is implicit in them, with the projection $P_1$ along the joints:

    $$ p_1 = P_1\left(p + \tfrac h2 F(t, x, R, p_1)\right) $$

    So they see velocities that joints allow. Momenta in the middle of the step lack a part of the forces of
    joints, and the step would be of order one; near singular configurations these forces are large round-off.
    """
    joints, R = problem.joints, problem.rotation(g)
    assert joints is not None
    at = reached(joints, t, x, R, holding(joints))
    if problem.load is None:
        push = ahead.like(along_joints(joints, t, x, R, problem.twist(ahead.p, ahead.m), at))
        return Momenta(ahead.p + push.p, ahead.m + push.m), StepInfo.explicit(())

    def closer(now: Momenta) -> Momenta:
        load = problem.load_wrench(t, x, g, now.p, now.m)
        assert load is not None
        p, m = ahead.pushed(0.5 * h, load)
        return ahead.like(Momenta(p, m).flat() + along_joints(joints, t, x, R, problem.twist(p, m), at))

    def fastest(momenta: Momenta) -> Array:
        v, Omega = problem.velocity(momenta.p), problem.omega(momenta.m)
        return jnp.max(jnp.abs(v), initial=0.0) + length * jnp.max(jnp.abs(Omega), initial=0.0)

    length = problem.extent(x)
    unit = EPS * fastest(ahead) + 1e-300
    found, info = fixed_point(
        lambda flat: closer(ahead.like(flat)).flat(),
        ahead.flat(),
        lambda change: fastest(ahead.like(change)) / unit,
        CONVERGED,
    )
    return ahead.like(found), StepInfo.implicit(info.converged, info.iterations)


def _rotation_vectors(problem: Group, h, m: Array) -> tuple[Float[Array, "3 turning"], StepInfo]:
    r"""Solve $J \xi = h\,T_r(\xi)\,m$ for every rotating body."""
    if problem.turning == 0:
        return h * problem.omega(m), StepInfo.explicit(())
    correct = problem.each(lambda J, m, xi: corrected(J, m, xi, h))
    guess = correct(problem.inertia, m, jnp.zeros_like(m))
    unit = EPS * jnp.max(jnp.abs(guess)) + 1e-300
    xi, info = fixed_point(
        lambda xi: correct(problem.inertia, m, xi),
        guess,
        lambda change: jnp.max(jnp.abs(change)) / unit,
        CONVERGED,
    )
    return xi, StepInfo.implicit(info.converged, info.iterations)
