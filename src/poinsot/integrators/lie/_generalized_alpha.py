"""The generalised-alpha method on the group, which engineering codes use."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from poinsot.core import Group, GroupParts, InputError, Packed, Rows, StepInfo, Twist, each_body, placing
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators.lie._kick import CONVERGED
from poinsot.rotation import quat_exp
from poinsot.solvers import EPS, fixed_point, safeguarded_fixed_point

FEW = 256
"""Accelerations and joint forces up to which Newton's method may take over from repeated substitution."""


class Carried(NamedTuple):
    """What a step hands to the next one."""

    rate: Twist
    r"""Accelerations $\dot u$ where the step ended."""
    mean: Twist
    """The auxiliary accelerations $a$."""
    forces: Rows
    """Of the joints; none without joints."""


class GeneralizedAlpha(AbstractIntegrator):
    r"""Generalised-alpha on $\mathbb R^3 \times SO(3)$ with joints at position level (index 3); order 2.

    For the twist $u = (\dot x, \Omega)$ of all bodies, with auxiliary accelerations $a$,

    $$ x_1 = x_0 + h\,\Delta_x, \qquad R_1 = R_0 \exp(h\,\hat\Delta_R), \qquad
       \Delta = u_0 + h\,\big((\tfrac12 - \beta)\,a_0 + \beta\,a_1\big), $$

    $$ u_1 = u_0 + h\,\big((1 - \gamma)\,a_0 + \gamma\,a_1\big), \qquad
       (1 - \alpha_m)\,a_1 + \alpha_m a_0 = (1 - \alpha_f)\,\dot u_1 + \alpha_f \dot u_0, $$

    $$ M \dot u_1 = f(t_1, x_1, R_1, u_1) + G_1^T\lambda_1, \qquad g(t_1, x_1, R_1) = 0, $$

    $$ \alpha_m = \frac{2\rho - 1}{\rho + 1}, \quad \alpha_f = \frac{\rho}{\rho + 1}, \quad
       \gamma = \tfrac12 - \alpha_m + \alpha_f, \quad \beta = \tfrac14\big(\gamma + \tfrac12\big)^2. $$

    Oscillations that the step does not resolve are damped: by the factor $\rho$ in each step in the limit of
    high frequencies, hardly at all where $h\omega$ is small. Of the accelerations $a$ the first is that at
    $t_0 + (\alpha_m - \alpha_f)\,h$: with $\dot u_0$ instead, the joint forces of the first steps would be of
    order 1 only. Joints are closed to round-off; their rates are not, but of order $h^2$.

    The equations are solved by repeated substitution in the metric of the masses, forces of the joints by the
    derivative $h^2\beta'\,G_1 M^{-1} G_1^T$, at a cost in proportion to the number of bodies. That needs
    $h\omega$ below about 1.4 for the highest frequency. Beyond it Newton's method takes over where joints
    form a tree and there are no more than 256 accelerations and joint forces, in some twenty times the time.

    Args:
        rho: spectral radius at infinite frequency, from 0 (damps most) to 1 (damps nothing).
    """

    rho: float = eqx.field(static=True)

    def __init__(self, rho: float = 0.8):
        if not isinstance(rho, (int, float)) or not 0.0 <= rho <= 1.0:
            raise InputError(f"rho = {rho!r}; the spectral radius at infinity must be between 0 and 1")
        self.rho = float(rho)

    @property
    def traits(self) -> Traits:
        """Order 2, linear momentum, joints closed; nothing else."""
        return Traits(
            name=f"generalised-alpha (rho = {self.rho:g})",
            order=2,
            conserves=frozenset({"linear"}),
            needs="group",
            holds_joints=True,
            reference="Arnold, Brüls, Cardona, Proc. ECCOMAS (2011); Brüls, Cardona, Arnold, MMT 48 (2012)",
        )

    @property
    def holds_velocity(self) -> bool:
        """No: rates of the joints are of the order of the error."""
        return False

    @property
    def shift(self) -> float:
        """Where the auxiliary accelerations are taken, in steps after a time of the grid."""
        alpha_m, alpha_f = self._weights
        return alpha_m - alpha_f

    @property
    def _weights(self) -> tuple[float, float]:
        r"""$\alpha_m$ and $\alpha_f$."""
        return (2.0 * self.rho - 1.0) / (self.rho + 1.0), self.rho / (self.rho + 1.0)

    def init(self, problem: Group, t, h, y: Packed) -> Carried:
        """Accelerations at the start, and those a little beside it."""
        rate = problem.vector_field(t, y)
        beside = problem.vector_field(t + self.shift * h, y + self.shift * h * rate)
        forces = [] if problem.joints is None else list(problem.joint_forces(t, y))
        return Carried(_acceleration(problem, rate), _acceleration(problem, beside), forces)

    def step(self, problem: Group, t, h, y: Packed, carry: Carried):
        """One step, see the class."""
        alpha_m, alpha_f = self._weights
        gamma = 0.5 - alpha_m + alpha_f
        beta = 0.25 * (gamma + 0.5) ** 2
        x, p, g, m = problem.split(y)
        start, share = problem.twist(p, m), (1.0 - alpha_f) / (1.0 - alpha_m)
        rest = (alpha_f * carry.rate - alpha_m * carry.mean) / (1.0 - alpha_m)

        def reached(rate: Twist) -> tuple[Array, Array, Twist, Twist]:
            mean = share * rate + rest
            move = h * (start + h * ((0.5 - beta) * carry.mean + beta * mean))
            speed = start + h * ((1.0 - gamma) * carry.mean + gamma * mean)
            turns = each_body(quat_exp)(_turning(problem, move))
            return x + _moving(problem, move), problem.turn(g, turns), speed, mean

        rate, forces, info = _solved(problem, t, h, h * h * beta * share, reached, carry, (x, start))
        x, g, speed, mean = reached(rate)
        end = GroupParts(
            x, problem.mass[None] * _moving(problem, speed), g, problem.inertia * _turning(problem, speed)
        )
        return problem.join(end), Carried(rate, mean, forces), info


def _solved(problem: Group, t, h, reach_of_rate, reached, carry: Carried, begin: tuple):
    r"""Accelerations and joint forces at the end of a step.

    Args:
        problem: the bodies.
        t: time at the start.
        h: size of the step.
        reach_of_rate: by how much positions change with the accelerations, $h^2\beta'$.
        reached: positions, elements, twist and auxiliary accelerations of accelerations.
        carry: of the step before, the guess.
        begin: positions and twist at the start.
    """
    joints, (x0, start) = problem.joints, begin

    def improved(unknowns):
        rate, forces = unknowns
        x, g, speed, _ = reached(rate)
        Omega = _turning(problem, speed)
        p, m = problem.mass[None] * _moving(problem, speed), problem.inertia * Omega
        wrench = problem.total_wrench(t + h, x, g, p, m)
        torque = wrench.torque + each_body(jnp.cross)(m, Omega)
        free = problem.twist(wrench.force, torque)
        if joints is None:
            return free, forces
        R = problem.rotation(g)
        # Forces that do nothing at this pose would do something at that of the start, where conditions are
        # redundant: both solve and pull are of one pose.
        reach = joints.at(t + h, x, R, placing(joints)[0])
        more = reach.solve([-gap / reach_of_rate for gap in joints.gaps(t + h, x, R)], 1)
        forces = [force + one for force, one in zip(forces, more, strict=True)]
        return free + joints.weights * reach.pull(forces), forces

    length = problem.extent(x0) + jnp.abs(h) * _largest(_moving(problem, start))

    def size(change):
        moved = reach_of_rate * change[0]
        places = _largest(_moving(problem, moved)) / (EPS * length)
        return jnp.maximum(places, _largest(_turning(problem, moved)) / EPS)

    guess = carry.rate, list(carry.forces)
    flat, parted = ravel_pytree(guess)
    if flat.size > FEW or not (joints is None or joints.independent):
        (rate, forces), info = fixed_point(improved, guess, size, CONVERGED)
    else:
        found, info = safeguarded_fixed_point(
            lambda x: ravel_pytree(improved(parted(x)))[0], flat, lambda dx: size(parted(dx)), CONVERGED
        )
        rate, forces = parted(found)
    return rate, forces, StepInfo.implicit(info.converged, info.iterations)


def _acceleration(problem: Group, rate: Packed) -> Twist:
    """Accelerations, from the rate of a packed state."""
    _, p, _, m = problem.split(rate)
    return problem.twist(p, m)


def _moving(problem: Group, twist: Twist) -> Float[Array, "3 moving"]:
    return twist[: 3 * problem.moving].reshape(3, problem.moving)


def _turning(problem: Group, twist: Twist) -> Float[Array, "3 turning"]:
    return twist[3 * problem.moving :].reshape(3, problem.turning)


def _largest(values: Array) -> Array:
    return jnp.max(jnp.abs(values), initial=0.0)
