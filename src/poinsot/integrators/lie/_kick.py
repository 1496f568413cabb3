r"""Kicks: what forces and torques do to the momenta while positions and rotations stand still."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from poinsot.core import Group, GroupParts, Packed, StepInfo, Wrench
from poinsot.integrators._base import AbstractIntegrator
from poinsot.solvers import EPS, Stopping, fixed_point

CONVERGED = Stopping()

MOMENTA = frozenset({"linear", "momentum"})
"""What a step of kicks and turns keeps: linear momentum, and the spatial angular momenta of symmetries."""


class CarriesWrench(AbstractIntegrator):
    """A method that hands the wrench of the potential at the end of a step to the next one."""

    def init(self, problem: Group, t, h, y: Packed) -> Wrench:
        """Wrench of the potential at the start."""
        parts = problem.split(y)
        return problem.wrench(t, parts.x, parts.g)


class Momenta(NamedTuple):
    """Linear momenta and body angular momenta, body axis last."""

    p: Float[Array, "3 moving"]
    m: Float[Array, "3 turning"]

    def flat(self) -> Float[Array, " n"]:
        """One vector of both, the unknown of implicit equations."""
        return jnp.concatenate([self.p.reshape(-1), self.m.reshape(-1)])

    def like(self, flat: Float[Array, " n"]) -> "Momenta":
        """The momenta of a vector, in the shape of these."""
        return Momenta(flat[: self.p.size].reshape(self.p.shape), flat[self.p.size :].reshape(self.m.shape))

    def pushed(self, time, wrench: Wrench) -> "Momenta":
        """Momenta after the wrench has acted for a time."""
        return Momenta(self.p + time * wrench.force, self.m + time * wrench.torque)


def with_load(problem: Group, t, x: Array, g: Array, momenta: Momenta, own: Wrench) -> Wrench:
    """Wrench of potential and loads, from that of the potential alone."""
    load = problem.load_wrench(t, x, g, momenta.p, momenta.m)
    return own if load is None else Wrench(own.force + load.force, own.torque + load.torque)


def in_turned_frame(turn: Float[Array, "4"], m: Float[Array, "3"]) -> Float[Array, "3"]:
    r"""Components of a fixed vector in a frame after a turn, a unit quaternion.

    That is $R(p)^T m$ as $m$ and a change, $m + 2\,|p|^{-2}\,\mathbf p \times (\mathbf p \times m - p_0 m)$.

    Equal turns have equal rounding errors, and the length of $m$ would change in proportion to their number.
    So the excess of $|p|^2$ over one is found without cancellation, to the rounding of $|\mathbf p|^2$.
    """
    scalar, vector = jnp.abs(turn[0]), turn[1:]
    excess = (scalar - 1.0) * (scalar + 1.0) + jnp.sum(vector * vector)
    half = jnp.cross(vector, jnp.cross(vector, m) - turn[0] * m)
    return m + 2.0 * (half - excess * half)


def first_half(problem: Group, t, h, y: Packed, own: Wrench) -> tuple[Momenta, StepInfo]:
    r"""The half kick that begins a symmetric step: explicit in the potential, implicit in the loads.

    $$ p_{1/2} = p_0 + \tfrac h2 F(t, x, R, p_{1/2}) $$

    The half kick that ends the step is `second_half`, its adjoint: so loads that depend on velocities leave
    the step symmetric and of order 2. Without loads nothing is solved.
    """
    x, p, g, m = problem.split(y)
    start = Momenta(p, m)
    if problem.load is None:
        return start.pushed(0.5 * h, own), StepInfo.explicit(())
    return solve_momenta(
        problem,
        y,
        h,
        own,
        start,
        lambda half: start.pushed(0.5 * h, with_load(problem, t, x, g, half, own)),
    )


def second_half(problem: Group, t, h, x: Array, g: Array, half: Momenta, own: Wrench) -> Momenta:
    """The half kick that ends a symmetric step, explicit."""
    return half.pushed(0.5 * h, with_load(problem, t, x, g, half, own))


def solve_momenta(
    problem: Group, y: Packed, h, own: Wrench, guess: Momenta, update
) -> tuple[Momenta, StepInfo]:
    """Solve `momenta = update(momenta)` by repeated substitution, to the round-off of each kind."""
    unit = _roundoff(problem.split(problem.magnitude(y)), h, own)
    flat, info = fixed_point(
        lambda z: update(guess.like(z)).flat(),
        guess.flat(),
        lambda dz: jnp.max(jnp.abs(dz) / unit),
        CONVERGED,
    )
    return guess.like(flat), StepInfo.implicit(info.converged, info.iterations)


def _roundoff(magnitude: GroupParts, h, own: Wrench) -> Float[Array, " n"]:
    """One unit in the last place of each momentum, or of what the potential adds to it in a step."""

    def with_impulse(size: Array, push: Array) -> Array:
        return size + jnp.abs(h) * jnp.max(jnp.abs(push), initial=0.0)

    units = Momenta(with_impulse(magnitude.p, own.force), with_impulse(magnitude.m, own.torque))
    return EPS * units.flat() + 1e-300
