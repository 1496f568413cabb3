"""The Lie-group Störmer-Verlet scheme of Terze, Müller and Zlatar."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Group, GroupParts, Packed, StepInfo, Wrench, each_body
from poinsot.integrators._base import Traits
from poinsot.integrators.lie._kick import CarriesWrench, Momenta, with_load
from poinsot.rotation import conjugate, hat, quat_exp, to_matrix


class TerzeRattle(CarriesWrench):
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
    """

    @property
    def traits(self) -> Traits:
        """Order 2 and linear momentum; nothing else."""
        return Traits(
            name="Terze RATTLE",
            order=2,
            symmetric=False,
            symplectic=False,
            conserves=frozenset({"linear"}),
            needs="group",
            reference="Terze, Müller, Zlatar, DETC2013-12308 (2013), (9)",
        )

    def step(self, problem: Group, t, h, y: Packed, carry: Wrench):
        """One step, see the class."""
        x, p, g, m = problem.split(y)
        start = with_load(problem, t, x, g, Momenta(p, m), carry)
        turns, m_half = each_body(lambda J, m, torque: _turn(J, m, torque, h))(
            problem.inertia, m, start.torque
        )
        half = Momenta(p + 0.5 * h * start.force, m_half)
        x, g = x + h * problem.velocity(half.p), problem.turn(g, turns)
        own = problem.wrench(t + h, x, g)
        wrench = with_load(problem, t + h, x, g, half.pushed(0.5 * h, start), own)
        end = half.pushed(0.5 * h, wrench)
        return problem.join(GroupParts(x, end.p, g, end.m)), own, StepInfo.explicit(())


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
