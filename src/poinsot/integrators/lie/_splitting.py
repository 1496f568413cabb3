"""Splitting on the group: kicks of the forces, free motion in between."""

from collections.abc import Sequence
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Group, GroupParts, Packed, Wrench, each_body, held, hold
from poinsot.integrators._base import Traits
from poinsot.integrators.lie._kick import MOMENTA, CarriesWrench, first_half, second_half
from poinsot.rotation import free_rotation, sincos

Turn = tuple[Float[Array, "4 *n"], Float[Array, "3 *n"]]


class LieSplitting(CarriesWrench):
    r"""Kick, free rotation and drift, kick: explicit, symplectic, symmetric, of order 2.

    $$ m_{1/2} = m_0 + \tfrac h2 \tau(R_0), \qquad (R_1, m^*) = \varphi_h(R_0, m_{1/2}), \qquad
       m_1 = m^* + \tfrac h2 \tau(R_1), $$

    and Störmer-Verlet for the translations, with the same forces. The free rotation $\varphi_h$ is either
    the exact motion, or turns about the principal axes, each the exact motion with one term of
    $T = \sum_k m_k^2 / 2 J_k$, in the symmetric order

    $$ \varphi_h = \varphi^{(1)}_{h/2}\,\varphi^{(2)}_{h/2}\,\varphi^{(3)}_h\,\varphi^{(2)}_{h/2}\,
       \varphi^{(1)}_{h/2}. $$

    Elementary turns are the cheaper ones; the exact motion has no error but that of the forces, and pays for
    fast rotation in weak fields. Spatial momenta are kept to round-off. One evaluation of the forces per
    step; loads that depend on velocities make the first kick implicit in them.

    Args:
        free: `"elementary"` or `"exact"`.
    """

    free: Literal["elementary", "exact"] = eqx.field(default="elementary", static=True)

    @property
    def traits(self) -> Traits:
        """Order 2, symmetric, symplectic, spatial momenta kept."""
        return Traits(
            name=f"Lie splitting, {self.free} rotations",
            order=2,
            symmetric=True,
            symplectic=True,
            conserves=MOMENTA,
            needs="group",
            reference="Hairer, Lubich, Wanner, Geometric Numerical Integration (2006), VII.5.3",
        )

    def step(self, problem: Group, t, h, y: Packed, carry: Wrench):
        """One step, see the class."""
        x, _, g, _ = problem.split(y)
        half, info = first_half(problem, t, h, y, carry)
        x, p, g, m = hold(self.free_motion(problem, h, GroupParts(x, half.p, g, half.m)))
        own = hold(problem.wrench(t + h, x, g))
        end = second_half(problem, t + h, h, x, g, half._replace(p=p, m=m), own)
        return problem.join(GroupParts(x, end.p, g, end.m)), own, info

    def free_motion(self, problem: Group, h, parts: GroupParts) -> GroupParts:
        """The bodies after a time in which no force acts."""
        x, p, g, m = parts
        turns, m = self._free_rotation(problem.inertia, m, h)
        return GroupParts(x + h * problem.velocity(p), p, problem.turn(g, turns), m)

    def _free_rotation(self, J: Float[Array, "3 n"], m: Float[Array, "3 n"], h) -> Turn:
        """Turns of the bodies and their new momenta."""
        if self.free == "exact":
            return each_body(lambda J, m: free_rotation(J, m, h))(J, m)
        if m.shape[-1] == 1:
            return each_body(lambda J, m: elementary_rotations(J, m, h))(J, m)
        return elementary_rotations(J, m, h)


def elementary_rotations(J: Float[Array, "3 *n"], m: Float[Array, "3 *n"], h) -> Turn:
    """Five turns about the principal axes: the turn of the body as a quaternion, and its new momentum.

    XLA would evaluate the early turns again for every later one. The barriers prevent that: of one body they
    hold the state after each turn; of many, whose rows are loops of their own, the sine and cosine of each
    turn, from which all rows are made at the end.
    """
    zero = jnp.zeros_like(m[0])
    state = (jnp.ones_like(zero), zero, zero, zero, m[0], m[1], m[2])
    for axis, part in ((0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5)):
        half_angle = 0.5 * part * h / J[axis] * state[4 + axis]
        if zero.ndim == 0:
            state = held(_elementary(axis, state, *sincos(half_angle)))
        else:
            state = _elementary(axis, state, *hold(sincos(half_angle)))
    return jnp.stack(state[:4]), jnp.stack(state[4:])


def _elementary(axis: int, state: Sequence[Array], sine: Array, cosine: Array) -> list[Array]:
    """Quaternion and momentum after a turn about one axis, by twice the angle of a sine and cosine.

    The momentum gets a small change, so that the rounding of sine and cosine, alike in steps that are alike,
    hardly changes its length.
    """
    i, j, k = axis, (axis + 1) % 3, (axis + 2) % 3
    q, m = [state[n] for n in range(4)], [state[4 + n] for n in range(3)]
    turned, momentum, twice = [q[0]] * 4, [m[i]] * 3, 2.0 * sine
    turned[0], turned[1 + i] = cosine * q[0] - sine * q[1 + i], cosine * q[1 + i] + sine * q[0]
    turned[1 + j], turned[1 + k] = cosine * q[1 + j] + sine * q[1 + k], cosine * q[1 + k] - sine * q[1 + j]
    momentum[j] = m[j] + twice * (cosine * m[k] - sine * m[j])
    momentum[k] = m[k] - twice * (cosine * m[j] + sine * m[k])
    return [*turned, *momentum]
