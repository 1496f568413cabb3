"""Rotation vectors and joint forces of a step at whose end the joints are closed."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from poinsot.core import Closing, Group, Joints, Mobility, Reach, Rows, StepInfo, holding
from poinsot.integrators.lie._kick import CONVERGED, Momenta
from poinsot.integrators.lie._rotation_equation import (
    corrected,
    linearised_inverse,
    right_tangent,
    tangent_of,
)
from poinsot.rotation import quat_exp
from poinsot.solvers import EPS, measured_fixed_point

CLOSED = 8.0
"""Units of round-off up to which gaps, and what is left of the equations of rotations, are nothing else."""
SHARE = 1e-4
"""What small singular values at the end of a step count for at first, see `least_pivots`."""
SHRINK = 1e-2
"""What that is multiplied by for each further correction."""
Unknowns = tuple[Float[Array, "3 turning"], list[Array]]
"""Rotation vectors, and forces of the joints."""


class Linearised(NamedTuple):
    """Derivatives near the end of a step."""

    tangent: Float[Array, "3 3 turning"]
    inverse: Float[Array, "3 3 turning"]
    slope: Float[Array, "3 3 turning"]
    r"""Of rotation vectors in momenta, $h\,(J - \tfrac h2 \hat m)^{-1} T_r$."""
    closing: Closing


class HeldStep:
    r"""A step of joined bodies, from momenta in its middle that lack the forces of the joints.

    Newton's iteration for rotation vectors and forces together, with the derivatives where the guess of the
    forces leads to. Where conditions may be redundant they are taken anew for each correction: they vary fast
    near singular configurations, which such joints pass.

    A change is measured by what rotations and positions are known to: a unit of round-off of one, and of the
    largest position or the size of a body. Near a singular configuration round-off of the gaps would move the
    bodies by many of these, along a motion that the joints hardly resist; in the next step such an error
    would turn the direction of a large force. So the guess is trusted there as far as the equations allow:
    the derivative takes singular values at the end for larger than they are, for each correction less so, and
    the iteration ends where nothing but round-off is left of the equations. That is the nonstationary
    iterated Tikhonov method of Hanke and Groetsch (1998) with Morozov's discrepancy principle, along the
    pivots of an elimination. The guess is good there, because it goes on from the wrench of the joints, which
    varies smoothly where their forces grow beyond bounds.

    Args:
        problem: the bodies.
        joints: what holds them.
        grid: time at the start, and step.
        x: positions.
        g: rotations.
        half: momenta in the middle without joints.
    """

    def __init__(self, problem: Group, joints: Joints, grid: tuple, x: Array, g: Array, half: Momenta):
        self.problem, self.joints, (self.t, self.h) = problem, joints, grid
        self.x, self.g, self.half = x, g, half
        self.reach = joints.at(self.t, x, problem.rotation(g), holding(joints)[0])
        self.length_unit = 1.0 / (EPS * (problem.extent(x) + _largest(self.h * problem.velocity(half.p))))

    def solved(self, guess: Rows) -> tuple[Momenta, Array, Rows, StepInfo]:
        """Find momenta in the middle, rotation vectors and what is `carried` on, from a guess of that."""
        guess = lax.stop_gradient(guess)
        if self.joints.independent:
            start = self._start(guess)
            near = self._linearised(start, 0.0)
            (xi, forces), info = measured_fixed_point(
                lambda now: self._improved(now, near)[:2], start, CONVERGED
            )
        else:
            pushed = self.reach.push(self.joints.weights * guess[0])
            forces = self.reach.solve(pushed, holding(self.joints)[1])
            start = self._start(lax.stop_gradient(forces)), jnp.asarray(SHARE)
            ((xi, forces), _), info = measured_fixed_point(self._carefully_improved, start, CONVERGED)
        solved = StepInfo.implicit(info.converged, info.iterations)
        return self._pushed(forces), xi, carried(self.joints, self.reach, forces), solved

    def _start(self, forces: Rows) -> Unknowns:
        """Predict the rotation vectors from a guess of the forces."""
        problem, m = self.problem, self._pushed(forces).m
        turn = problem.each(lambda J, m: corrected(J, m, jnp.zeros(3), self.h))
        return lax.stop_gradient(turn(problem.inertia, m)), list(forces)

    def _linearised(self, unknowns: Unknowns, share) -> Linearised:
        """Take the derivatives at some unknowns; the solution does not depend on where.

        Args:
            unknowns: there.
            share: of `Joints.closing`.
        """
        problem, h = self.problem, self.h

        def about(J, m, g, xi):
            tangent, inverse = tangent_of(xi), linearised_inverse(J, -0.5 * h * m)
            slope = h * inverse @ tangent
            return tangent, inverse, slope, tangent @ slope, self._turned(g, xi)

        xi, now = unknowns[0], self._pushed(unknowns[1])
        given = lax.stop_gradient((problem.inertia, now.m, self.g, xi))
        tangent, inverse, slope, turn, R = lax.stop_gradient(problem.each(about)(*given))
        x = lax.stop_gradient(self._moved(now))
        closing = self.joints.closing(self.reach, self.t + h, x, R, Mobility(h, turn), share)
        return Linearised(tangent, inverse, slope, closing)

    def _improved(self, unknowns: Unknowns, near: Linearised) -> tuple[Unknowns, Array, Array]:
        """Correct the unknowns; also the sizes of the correction and of the residual, in round-off."""
        problem, h, (xi, forces) = self.problem, self.h, unknowns

        def owed(J, m, g, xi, tangent, inverse):
            own = inverse @ (h * right_tangent(xi, m) - J * xi)
            return own, tangent @ own, self._turned(g, xi)

        now = self._pushed(forces)
        given = problem.inertia, now.m, self.g, xi, near.tangent, near.inverse
        own, turning, R = problem.each(owed)(*given)
        ahead = near.closing.push(jnp.concatenate([jnp.zeros(self.x.size), turning.reshape(-1)]))
        gaps = self.joints.gaps(self.t + h, self._moved(now), R)
        impulses = near.closing.solve([-(gap + more) for gap, more in zip(gaps, ahead, strict=True)])
        change = self.half.like(self.reach.pull(impulses))
        turn = problem.each(lambda own, slope, m: own + slope @ m)(own, near.slope, change.m)
        move = h * problem.velocity(change.p)
        later = [force + 2.0 / h * one for force, one in zip(forces, impulses, strict=True)]
        return (xi + turn, later), self._units(move, turn), self._units(jnp.concatenate(gaps), own)

    def _carefully_improved(self, now: tuple[Unknowns, Array]) -> tuple[tuple[Unknowns, Array], Array]:
        """Correct with derivatives at the unknowns; leave them where the residual is only round-off.

        With the unknowns goes the share of `Joints.closing`.
        """
        unknowns, share = now[0], lax.stop_gradient(now[1])
        improved, size, left = self._improved(unknowns, self._linearised(unknowns, share))
        done = (left <= CLOSED) & (size > CONVERGED.accept)
        following = jax.tree.map(lambda old, new: jnp.where(done, old, new), unknowns, improved)
        return (following, SHRINK * share), jnp.where(done, 0.0, size)

    def _units(self, lengths: Array, angles: Array) -> Array:
        """The largest of some lengths and angles, in units of round-off."""
        return jnp.maximum(_largest(lengths) * self.length_unit, _largest(angles) / EPS)

    def _pushed(self, forces: Rows) -> Momenta:
        """Momenta in the middle with forces of the joints."""
        return self.half.like(self.half.flat() + 0.5 * self.h * self.reach.pull(forces))

    def _moved(self, now: Momenta) -> Array:
        """Positions at the end."""
        return self.x + self.h * self.problem.velocity(now.p)

    def _turned(self, g: Array, xi: Array) -> Array:
        return self.problem.element.rotation(self.problem.element.turn(g, quat_exp(xi)))


def carried(joints: Joints, reach: Reach, forces: Rows) -> Rows:
    """What varies evenly along a motion: forces of joints, or their wrench where they are not unique."""
    return forces if joints.independent else [reach.pull(forces)]


def _largest(values: Array) -> Array:
    return jnp.max(jnp.abs(values), initial=0.0)
