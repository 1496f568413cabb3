"""The Lie-group Störmer-Verlet scheme of Terze, Müller and Zlatar."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Group, GroupParts, Joints, Packed, Rows, StepInfo, Twist, Wrench, each_body, placing
from poinsot.integrators._base import AbstractIntegrator, Traits
from poinsot.integrators.lie._kick import CONVERGED, Momenta, with_load
from poinsot.rotation import conjugate, hat, quat_exp, to_matrix
from poinsot.solvers import EPS, fixed_point


class Carried(NamedTuple):
    """What a step hands to the next one."""

    wrench: Wrench
    """Of the potential where the step ended."""
    forces: Rows
    """Of the joints, a guess for those of the next step; none without joints."""


class TerzeRattle(AbstractIntegrator):
    r"""RATTLE with the rotation updated by the exponential, after Terze, Müller and Zlatar; order 2.

    With $P = R\,\hat\Omega D$, $D = \tfrac12 \operatorname{tr} J - J$, and the multiplier of the first kick
    eliminated,

    $$ R_0^T P_{1/2} = \Big(\hat\Omega_0 + \tfrac h2 (\hat\Omega_0^2 + \hat{\dot\Omega}_0)\Big) D, \qquad
       R_1 = R_0 \exp\Big(h \operatorname{skew}(R_0^T P_{1/2} D^{-1})\Big), \qquad
       m_1 = \operatorname{vee}(R_1^T P_{1/2} - P_{1/2}^T R_1) + \tfrac h2 \tau_1 . $$

    Printed, the exponent is $h R_0^T P_{1/2} D^{-1}$; its symmetric part would leave the group, so the skew
    part is taken here. What remains is explicit, of order 2 and keeps rotations orthogonal to round-off.
    It is neither symmetric nor symplectic, and the spatial momentum of a free body drifts: for those use
    `LieRattle`, which costs little more.

    Joints $g(t, x, R) = 0$ add $G_0^T\lambda$ to the forces of the first kick, with $\lambda$ such that they
    end up closed, found by the Newton iteration with the derivative $\tfrac{h^2}2 G_0 M^{-1} G_0^T$; and
    $G_1^T\mu$ to the momenta at the end, with $\mu$ such that their rates vanish.
    """

    @property
    def traits(self) -> Traits:
        """Order 2, linear momentum, joints held; nothing else."""
        return Traits(
            name="Terze RATTLE",
            order=2,
            symmetric=False,
            symplectic=False,
            conserves=frozenset({"linear"}),
            needs="group",
            holds_joints=True,
            reference="Terze, Müller, Zlatar, DETC2013-12308 (2013), (9)",
        )

    def init(self, problem: Group, t, h, y: Packed) -> Carried:
        """Wrench and joint forces at the start."""
        parts = problem.split(y)
        forces = [] if problem.joints is None else list(problem.joint_forces(t, y))
        return Carried(problem.wrench(t, parts.x, parts.g), forces)

    def step(self, problem: Group, t, h, y: Packed, carry: Carried):
        """One step, see the class."""
        x, p, g, m = problem.split(y)
        start = with_load(problem, t, x, g, Momenta(p, m), carry.wrench)

        def reached(start: Wrench) -> tuple[Array, Array, Momenta]:
            turns, m_half = each_body(lambda J, m, torque: _turn(J, m, torque, h))(
                problem.inertia, m, start.torque
            )
            half = Momenta(p + 0.5 * h * start.force, m_half)
            return x + h * problem.velocity(half.p), problem.turn(g, turns), half

        forces, info = carry.forces, StepInfo.explicit(())
        if problem.joints is not None:
            start, forces, info = _held(problem, problem.joints, (t, h, x, g), start, forces, reached)
        x, g, half = reached(start)
        own = problem.wrench(t + h, x, g)
        wrench = with_load(problem, t + h, x, g, half.pushed(0.5 * h, start), own)
        end = half.pushed(0.5 * h, wrench)
        if problem.joints is not None:
            end = Momenta(*problem.along_joints(t + h, x, g, end.p, end.m))
        return problem.join(GroupParts(x, end.p, g, end.m)), Carried(own, forces), info


def _held(problem: Group, joints: Joints, begin: tuple, start: Wrench, forces: Rows, reached):
    """Forces of the first kick with those of the joints, such that these end up closed."""
    t, h, x, g = begin
    reach, own = joints.at(t, x, problem.rotation(g), placing(joints)[0]), Momenta(*start)

    def pulled(forces: Rows) -> Wrench:
        return Wrench(*own.like(own.flat() + reach.pull(forces)))

    def improved(forces: Rows) -> Rows:
        end, element, _ = reached(pulled(forces))
        gaps = joints.gaps(t + h, end, problem.rotation(element))
        more = reach.solve([-2.0 / (h * h) * gap for gap in gaps], 1)
        return [force + one for force, one in zip(forces, more, strict=True)]

    def size(change: Rows) -> Array:
        moved: Twist = 0.5 * h * h * joints.weights * reach.pull(change)
        places = jnp.max(jnp.abs(moved[: x.size]), initial=0.0) / length
        return jnp.maximum(places, jnp.max(jnp.abs(moved[x.size :]), initial=0.0)) / EPS

    length = problem.extent(x) + jnp.max(jnp.abs(reached(start)[0] - x), initial=0.0)
    forces, info = fixed_point(improved, list(forces), size, CONVERGED)
    return pulled(forces), forces, StepInfo.implicit(info.converged, info.iterations)


def _turn(
    J: Float[Array, "3"], m: Float[Array, "3"], torque: Float[Array, "3"], h
) -> tuple[Float[Array, "4"], Float[Array, "3"]]:
    r"""The turn by $h\,\Omega_0 + \tfrac{h^2}2 \dot\Omega_0$ and the body momentum of $P_{1/2}$ after it."""
    Omega = m / J
    rate = (jnp.cross(m, Omega) + torque) / J
    skew = hat(Omega + 0.5 * h * rate)
    square = _product(hat(Omega), hat(Omega))
    half = (skew + 0.5 * h * square) * (0.5 * jnp.sum(J) - J)[None]
    turn = quat_exp(h * (Omega + 0.5 * h * rate))
    P = _product(to_matrix(conjugate(turn)), half)
    return turn, jnp.stack([P[2, 1] - P[1, 2], P[0, 2] - P[2, 0], P[1, 0] - P[0, 1]])


def _product(A: Array, B: Array) -> Array:
    """Matrix product as a sum, which fuses with its surroundings."""
    return jnp.sum(A[:, :, None] * B[None], axis=1)
